package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Times and sizes that a client of ours may use up. A probe or a scrape takes
// milliseconds; whoever needs longer is stuck, or means no good.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 32 << 10
)

// Options are the server's parts. The zero value serves nothing.
type Options struct {
	// Listen is host:port; port 0 takes a free one. Empty means no server.
	Listen string
	// Ready says whether the gateway can do all of its work, and what it knows
	// of each endpoint. It is called for each request to /readyz and must
	// return at once. Nil means always ready.
	Ready func() (bool, []Condition)
	// Metrics answers /metrics; nil means that there is no such path.
	Metrics http.Handler
	// Logger gets what goes wrong in the server; nil means none.
	Logger *slog.Logger
}

// Server is the admin server. Its methods may be called from any goroutine.
type Server struct {
	opts   Options
	logger *slog.Logger
	server *http.Server

	mu      sync.Mutex // guards what follows
	started bool
	closed  bool
	served  chan struct{} // closed when the server's goroutine has ended; nil before it runs
}

// New makes a server that does not listen yet. The error says that Listen is
// no host:port.
func New(opts Options) (*Server, error) {
	if opts.Listen != "" {
		if _, _, err := net.SplitHostPort(opts.Listen); err != nil {
			return nil, fmt.Errorf("admin address %q: %w; write it as host:port", opts.Listen, err)
		}
	}
	logger := opts.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{opts: opts, logger: logger.With("component", "admin")}
	s.server = &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Start listens, serves on a goroutine of its own and returns the address it
// is bound to; nil if Listen is empty. It may be called once. ctx bounds the
// listening alone; the serving ends with [Server.Shutdown].
func (s *Server) Start(ctx context.Context) (net.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.closed {
		return nil, errors.New("start the admin server: it was started or shut down before")
	}
	s.started = true
	if s.opts.Listen == "" {
		return nil, nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", s.opts.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on admin address: %w; set admin.listen to a free one, or to \"\" for none", err)
	}
	s.served = make(chan struct{})
	go s.serve(listener, s.served)
	return listener.Addr(), nil
}

func (s *Server) serve(listener net.Listener, served chan<- struct{}) {
	defer close(served)
	if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		// Records are delivered all the same; the probes will tell.
		s.logger.Error("admin server ended", "error", err)
	}
}

// Shutdown lets running requests finish until ctx ends, then cuts them off,
// and returns when the server's goroutine has ended. The error is ctx's if
// requests were cut off. A second call, or one without a start, does nothing.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	closed, served := s.closed, s.served
	s.closed = true
	s.mu.Unlock()
	if closed || served == nil {
		return nil
	}
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("shut down the admin server: %w", err), s.server.Close())
	}
	<-served
	return err
}
