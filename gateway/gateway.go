package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/gateway/admin"
	"github.com/sharehook/sharehook/gateway/cluster"
	"github.com/sharehook/sharehook/gateway/deadletter"
	"github.com/sharehook/sharehook/gateway/telemetry"
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
	// InstanceID tells replicas apart; empty: a random one.
	InstanceID string
	// Logger may be nil: nothing is logged.
	Logger *slog.Logger
	// OnDelivery is told of each finished delivery. It must be quick. It may
	// be nil.
	OnDelivery func(Delivery)

	// KafkaOptions come after those of the configuration: a dialler for a
	// broker that lives in the process.
	KafkaOptions []kgo.Opt
	// Dial replaces the network on the way to endpoints, for those that live
	// in the process.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Gateway runs the endpoints of a configuration.
type Gateway struct {
	parts     *parts
	cfg       *config.Config
	admin     *admin.Server
	endpoints []*endpoint

	wg      sync.WaitGroup
	kill    context.CancelFunc // ends the endpoints at once; set by Start
	address net.Addr           // of the admin server; set by Start

	mu    sync.Mutex
	state string // why the gateway as a whole is not ready; empty: it is
}

// parts are what the endpoints share. None of it can be held up by one of
// them.
type parts struct {
	version    string
	log        *slog.Logger
	telemetry  *telemetry.Telemetry
	kafka      []kgo.Opt
	client     *kgo.Client // for cluster
	cluster    *cluster.Cluster
	producer   *kgo.Client // for letters; nil: no endpoint needs it
	letters    *deadletter.Writer
	dial       dialer
	onDelivery func(Delivery)
	once       said
}

// said remembers what was said, so that it is not said again every minute.
type said struct{ what sync.Map }

func (s *said) first(what string) bool {
	_, again := s.what.LoadOrStore(what, true)
	return !again
}

// New builds a gateway. It connects to nothing; everything that can be wrong
// with the configuration beyond its text is an error here.
func New(o Options) (*Gateway, error) {
	p, err := newParts(o)
	if err != nil {
		return nil, err
	}
	g := &Gateway{parts: p, cfg: o.Config, state: "starting"}
	for _, cfg := range o.Config.Endpoints {
		if !cfg.Enabled {
			continue
		}
		e, err := newEndpoint(cfg, p)
		if err != nil {
			g.close()
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
		g.close()
		return nil, err
	}
	return g, nil
}

func newParts(o Options) (*parts, error) {
	log := orDiscard(o.Logger)
	p := &parts{version: o.Version, log: log, dial: o.Dial, onDelivery: o.OnDelivery}
	var err error
	if p.kafka, err = kafkaOptions(o.Config.Kafka, o.Version, log); err != nil {
		return nil, err
	}
	p.kafka = append(p.kafka, o.KafkaOptions...)
	if p.client, err = kgo.NewClient(p.kafka...); err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	p.cluster = cluster.New(p.client, log)
	for _, e := range o.Config.Endpoints {
		if e.Enabled && e.DeadLetter.By == config.DeadLetterByGateway {
			opts := append(append([]kgo.Opt{}, p.kafka...), deadletter.ProducerOpts()...)
			if p.producer, err = kgo.NewClient(opts...); err != nil {
				p.client.Close()
				return nil, fmt.Errorf("kafka: %w", err)
			}
			p.letters = deadletter.New(p.producer)
			break
		}
	}
	p.telemetry, err = telemetry.New(backgroundContext, telemetry.Options{Version: o.Version, InstanceID: o.InstanceID, Logger: log})
	if err != nil {
		p.close()
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	return p, nil
}

func orDiscard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}

// close closes the clients.
func (p *parts) close() {
	if p.producer != nil {
		p.producer.Close()
	}
	p.client.Close()
}

// close lets go of what New made.
func (g *Gateway) close() {
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
		g.close()
		return err
	}
	if g.address != nil {
		g.parts.log.Info("admin server listens", "address", g.address.String())
	}
	g.parts.telemetry.Reloaded(true)
	// The end of ctx asks for a drain and is not the end of the work.
	work, kill := context.WithCancel(context.WithoutCancel(ctx))
	g.kill = kill
	for _, e := range g.endpoints {
		g.wg.Go(func() { e.run(work) })
	}
	g.setState("")
	return nil
}

// ErrKilled is what Run ends with when it was stopped at once.
var ErrKilled = errors.New("stopped at once: attempts under way were cut short, their records are delivered again")

// Run starts the gateway, runs it until ctx ends, and drains it. When kill is
// closed the drain is cut short and Run returns ErrKilled.
func (g *Gateway) Run(ctx context.Context, kill <-chan struct{}) error {
	if err := g.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
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

func (g *Gateway) setState(state string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = state
}

// ready is what /readyz answers: every endpoint has joined its share group.
func (g *Gateway) ready() (bool, []admin.Condition) {
	g.mu.Lock()
	state := g.state
	g.mu.Unlock()
	ready := state == ""
	var conditions []admin.Condition
	if !ready {
		conditions = append(conditions, admin.Condition{Reason: state})
	}
	for _, e := range g.endpoints {
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
