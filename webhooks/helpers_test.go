package webhooks

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// newEndpoint is an endpoint for url that ends with the test.
func newEndpoint(t testing.TB, url string, change func(*Options)) *Endpoint {
	t.Helper()
	o := Options{Name: "orders", URL: url}
	if change != nil {
		change(&o)
	}
	e, err := New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(e.Close)
	return e
}

// message is an ordinary record.
func message() *Message {
	return &Message{
		ID: "m-1", Topic: "orders", Partition: 3, Offset: 42, Timestamp: time.Date(2026, 5, 4, 3, 2, 1, 7e6, time.UTC),
		Key: []byte("k"), Value: []byte("value"), DeliveryCount: 1,
	}
}

// post makes a first attempt with the message.
func post(t testing.TB, e *Endpoint, m *Message) Result {
	t.Helper()
	return e.Attempt(t.Context(), m, Attempt{Number: 1})
}

// received is a request as the receiver saw it.
type received struct {
	method string
	path   string
	header http.Header
	body   []byte
	err    error
	remote string
}

// receiver records requests and answers with 200.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []received
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, received{request.Method, request.URL.RequestURI(), request.Header.Clone(), body, err, request.RemoteAddr})
}

func (r *receiver) requests() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// last is the request that came last.
func (r *receiver) last(t testing.TB) received {
	t.Helper()
	got := r.requests()
	if len(got) == 0 {
		t.Fatal("no request arrived")
	}
	return got[len(got)-1]
}

// serve starts an http.Server with this handler and returns its URL.
func serve(t testing.TB, handler http.HandlerFunc) string {
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

// serveTCP starts a server that speaks no HTTP but what serve says. Serve is
// called for each connection with its number, from 0, and the connection is closed
// when it returns.
func serveTCP(t testing.TB, serve func(c net.Conn, n int)) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, listener, serve)
	return "http://" + listener.Addr().String()
}

func serveOn(t testing.TB, listener net.Listener, serve func(c net.Conn, n int)) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	wg.Go(func() {
		for n := 0; ; n++ {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			wg.Go(func() {
				defer func() {
					_ = c.Close()
					mu.Lock()
					delete(open, c)
					mu.Unlock()
				}()
				serve(c, n)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
}

// reset closes a connection so that the other side sees ECONNRESET.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// pipeNet is a network inside of the process, for tests in fake time.
type pipeNet struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeNet() *pipeNet {
	return &pipeNet{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (p *pipeNet) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, errors.New("nobody listens")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipeNet) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipeNet) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipeNet) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// servePipe starts an http.Server in the bubble of the test.
func servePipe(t testing.TB, handler http.HandlerFunc) *pipeNet {
	network := newPipeNet()
	var wg sync.WaitGroup
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wg.Add(1)
		defer wg.Done()
		handler(w, r)
	})}
	wg.Go(func() { _ = server.Serve(network) })
	t.Cleanup(func() {
		_ = server.Close()
		wg.Wait() // a handler that waits goes on: the bubble's clock runs meanwhile
	})
	return network
}

// viaPipe makes an endpoint dial into the network.
func viaPipe(network *pipeNet, change func(*Options)) func(*Options) {
	return func(o *Options) {
		o.Dial = network.dial
		if change != nil {
			change(o)
		}
	}
}

// pass lets time go by in a bubble.
func pass(d time.Duration) { <-time.After(d) }

// eventually says whether something becomes true within a time that is long for
// a loaded machine.
func eventually(holds func() bool) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-tick.C {
		if holds() {
			return true
		}
	}
	return false
}

// want fails the test if the verdict, reason or status is another one.
func want(t testing.TB, got Result, verdict Verdict, reason Reason, status int) {
	t.Helper()
	if got.Verdict != verdict || got.Reason != reason || got.Status != status {
		t.Errorf("got %s, %s, %d (cause: %v); want %s, %s, %d", got.Verdict, got.Reason, got.Status, got.Cause, verdict, reason, status)
	}
}

// forget drops what was recorded.
func (r *receiver) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = nil
}

// trustOf are the roots that make a test server trusted.
func trustOf(s *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}
