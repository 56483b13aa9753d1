package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/gateway/admin"
)

// scope names the instrumentation in spans.
const scope = "github.com/sharehook/sharehook/gateway"

// backgroundContext is for log lines that belong to no request.
var backgroundContext = context.Background()

// Options are what a gateway is made of. Config is required.
type Options struct {
	Config *config.Config
	// Version is the program's, for user-agent, spans and metrics.
	Version string
	// InstanceID tells replicas apart, the same when one starts again; empty:
	// the host name.
	InstanceID string
	// Logger may be nil: nothing is logged.
	Logger *slog.Logger
	// OnDelivery is told of each finished delivery. It must be quick. It may
	// be nil.
	OnDelivery func(Delivery)

	// Load reads the configuration again. If it is set, Run reloads when a
	// file of the configuration changes, and on each value from ReloadNow.
	Load      func() (*config.Config, error)
	ReloadNow <-chan struct{}

	// KafkaOptions come after those of the configuration: a dialler for a
	// broker that lives in the process.
	KafkaOptions []kgo.Opt
	// Dial replaces the network on the way to endpoints, for those that live
	// in the process.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Gateway runs the endpoints of a configuration.
type Gateway struct {
	parts *parts
	admin *admin.Server

	load      func() (*config.Config, error)
	reloadNow <-chan struct{}

	wg      sync.WaitGroup
	kill    context.CancelFunc // ends the endpoints at once; set by Start
	address net.Addr           // of the admin server; set by Start

	reloading sync.Mutex // held by a reload from its first look to its end; before mu

	mu        sync.Mutex // guards what follows
	cfg       *config.Config
	endpoints []*endpoint          // of cfg
	draining  map[string]*endpoint // by name: that were changed or removed, until they have ended
	work      context.Context      //nolint:containedctx // that of the endpoints' goroutines; set by Start
	state     string               // why the gateway as a whole is not ready; empty: it is
	stopped   bool                 // a drain has begun
}

// New builds a gateway. It connects to nothing; everything that can be wrong
// with the configuration beyond its text is an error here.
func New(o Options) (*Gateway, error) {
	p, err := newParts(o)
	if err != nil {
		return nil, err
	}
	g := &Gateway{parts: p, load: o.Load, reloadNow: o.ReloadNow, cfg: o.Config, draining: make(map[string]*endpoint), state: "starting"}
	for _, cfg := range o.Config.Endpoints {
		if !cfg.Enabled {
			continue
		}
		e, err := newEndpoint(cfg, p)
		if err != nil {
			g.discard()
			return nil, err
		}
		g.endpoints = append(g.endpoints, e)
	}
	g.admin, err = admin.New(admin.Options{
		Listen:  o.Config.Admin.Listen,
		Ready:   g.ready,
		Metrics: p.telemetry.Handler(),
		Logger:  p.log,
	})
	if err != nil {
		g.discard()
		return nil, err
	}
	return g, nil
}

// discard lets go of what New made, none of which has begun.
func (g *Gateway) discard() {
	for _, e := range g.endpoints {
		e.close()
	}
	g.parts.close()
}

// Start serves the admin server and runs the endpoints. It does not wait for
// them to join.
func (g *Gateway) Start(ctx context.Context) error {
	var err error
	if g.address, err = g.admin.Start(ctx); err != nil {
		g.discard()
		return err
	}
	if g.address != nil {
		g.parts.log.Info("admin server listens", "address", g.address.String())
	}
	g.parts.telemetry.Reloaded(true)
	// The end of ctx asks for a drain and is not the end of the work.
	work, kill := context.WithCancel(context.WithoutCancel(ctx))
	g.kill = kill
	g.mu.Lock()
	defer g.mu.Unlock()
	g.work = work
	for _, e := range g.endpoints {
		g.startLocked(e, nil)
	}
	g.state = ""
	return nil
}

// startLocked runs an endpoint, once the one whose place it takes has drained:
// two generations of it at a time would be twice its limits. g.mu is held.
func (g *Gateway) startLocked(e, before *endpoint) {
	work := g.work
	g.wg.Go(func() {
		if before != nil {
			<-before.ended
		}
		e.run(work)
		e.close()
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.draining[e.cfg.Name] == e {
			delete(g.draining, e.cfg.Name)
		}
	})
}

// current are the endpoints, and whether a drain has begun.
func (g *Gateway) current() ([]*endpoint, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.endpoints, g.stopped
}

// ErrKilled is what Run ends with when it was stopped at once.
var ErrKilled = errors.New("stopped at once: attempts under way were cut short, their records are delivered again")

// Run starts the gateway, runs it until ctx ends, and drains it. When kill is
// closed the drain is cut short and Run returns ErrKilled.
func (g *Gateway) Run(ctx context.Context, kill <-chan struct{}) error {
	if err := g.Start(ctx); err != nil {
		return err
	}
	g.reloadUntil(ctx)
	stop, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-kill:
			cancel()
		case <-done:
		}
	}()
	return g.Stop(stop)
}

// ready is what /readyz answers: every endpoint has joined its share group.
func (g *Gateway) ready() (bool, []admin.Condition) {
	g.mu.Lock()
	state, endpoints := g.state, g.endpoints
	g.mu.Unlock()
	ready := state == ""
	var conditions []admin.Condition
	if !ready {
		conditions = append(conditions, admin.Condition{Reason: state})
	}
	for _, e := range endpoints {
		c := e.condition()
		ready = ready && c.Ready
		conditions = append(conditions, c)
	}
	return ready, conditions
}

// AdminAddress is where the admin server listens once the gateway has started;
// nil if it does not.
func (g *Gateway) AdminAddress() net.Addr { return g.address }

// AdminHandler answers what the admin server answers, for those who serve it
// themselves: a program around the gateway, a test without sockets.
func (g *Gateway) AdminHandler() http.Handler { return g.admin.Handler() }
