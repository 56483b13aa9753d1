package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/gateway"
)

// Options are what to run. The zero Options run the sample without an end and
// print nothing.
type Options struct {
	// Config is a user's, which Run changes; nil: the sample's.
	Config *config.Config
	// Records is how many records are to be settled; 0: no end.
	Records int
	// Out is where a person reads what runs and each delivery; nil: nowhere.
	Out io.Writer
	// Colour paints the deliveries.
	Colour bool
	// Version is the program's; empty: devel.
	Version string
	// Logger is the gateway's; nil: nothing is logged.
	Logger *slog.Logger
	// Kill, when closed, cuts short the drain at the end; nil: nobody does.
	Kill <-chan struct{}

	rate float64 // records in a second; 0: the usual
}

// Run runs everything until Records are settled or ctx ends, and says what
// became of the records. It also does so together with an error.
func Run(ctx context.Context, o Options) (Summary, error) {
	if o.Out == nil {
		o.Out = io.Discard
	}
	o.Version = cmp.Or(o.Version, "devel") // brokers refuse clients without one
	broker, err := startBroker()
	if err != nil {
		return Summary{}, err
	}
	defer broker.close()
	s, err := o.set(ctx, broker)
	if err != nil {
		return Summary{}, err
	}
	defer s.close()
	if err := broker.prepare(ctx, s.plan.endpoints, s.plan.topics, s.plan.letters); err != nil {
		return Summary{}, err
	}
	err = s.play(ctx)

	// Also after a stop, which has ended ctx.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWait)
	defer cancel()
	result := s.tally.result()
	result.LetterTopics = s.plan.letters
	lying, lerr := broker.count(last, s.plan.letters)
	if err == nil {
		err = lerr
	}
	result.OnTopics = lying
	return result, err
}

// askWait bounds a question to the embedded broker.
const askWait = 5 * time.Second

// stage is what Run has set up.
type stage struct {
	Options

	cfg       *config.Config
	plan      plan
	byGateway []string // endpoints whose dead letters the file wants by the broker
	broker    *broker
	receiver  *receiver // nil: with a user's configuration
	tally     *tally
}

// set sets up configuration and receiver.
func (o Options) set(ctx context.Context, b *broker) (s *stage, err error) {
	s = &stage{Options: o, cfg: o.Config, broker: b}
	if s.cfg != nil {
		s.byGateway = adapt(s.cfg, b.addr)
	} else {
		if s.receiver, err = startReceiver(ctx); err != nil {
			return nil, err
		}
		if s.cfg, err = sampleConfig(b.addr, defaultAdmin, s.receiver.addr); err != nil {
			s.close()
			return nil, err
		}
	}
	if s.plan, err = newPlan(s.cfg); err != nil {
		s.close()
		return nil, err
	}
	s.tally = newTally(o.Records, s.plan.endpoints)
	return s, nil
}

func (s *stage) close() {
	if s.receiver != nil {
		s.receiver.close()
	}
}

// play runs gateway and producer to their end.
func (s *stage) play(ctx context.Context) error {
	lines := newLines(s.Out, s.Colour, s.plan.endpoints, s.plan.topics)
	defer lines.close()
	watch := func(d gateway.Delivery) {
		lines.delivered(d)
		s.tally.delivered(d)
	}
	g, err := s.start(ctx, watch)
	if errors.Is(err, syscall.EADDRINUSE) { // by another one, perhaps
		s.cfg.Admin.Listen = anyPort(s.cfg.Admin.Listen)
		g, err = s.start(ctx, watch)
	}
	if err != nil {
		return err
	}
	s.introduce(g)
	err = s.produce(ctx)
	if stopped := s.stop(ctx, g); err == nil {
		err = stopped
	}
	return err
}

// start makes a gateway and starts it.
func (s *stage) start(ctx context.Context, watch func(gateway.Delivery)) (*gateway.Gateway, error) {
	g, err := gateway.New(gateway.Options{Config: s.cfg, Version: s.Version, Logger: s.Logger, OnDelivery: watch})
	if err != nil {
		return nil, err
	}
	return g, g.Start(ctx)
}

// produce returns when enough records are settled, or ctx has ended.
func (s *stage) produce(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := producer{client: s.broker.client, plan: s.plan, tally: s.tally, rate: s.rate}
	if p.rate == 0 {
		p.rate = pace(s.Records)
	}
	produced := make(chan error, 1)
	go func() { produced <- p.run(ctx) }()
	select {
	case <-ctx.Done():
	case <-s.tally.done:
	case err := <-produced:
		if err != nil {
			return err
		}
		select { // all are on their way
		case <-ctx.Done():
		case <-s.tally.done:
		}
		return nil
	}
	cancel()
	return <-produced
}

// stop drains the gateway, or stops it at once when told so.
func (s *stage) stop(ctx context.Context, g *gateway.Gateway) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- g.Stop(ctx) }()
	select {
	case err := <-stopped:
		return err
	case <-s.Kill:
		cancel()
		return <-stopped
	}
}

// introduce says what runs where.
func (s *stage) introduce(g *gateway.Gateway) {
	line := func(what, format string, args ...any) {
		_, _ = fmt.Fprintf(s.Out, "  %-13s %s\n", what, fmt.Sprintf(format, args...))
	}
	_, _ = fmt.Fprintln(s.Out, "Everything on this machine, gone when it ends:")
	topics := strings.Join(s.plan.topics, ", ")
	line("broker", "%s, embedded; sample records on %s", s.broker.addr, topics)
	if s.receiver != nil {
		line("receiver", "http://%s answers most records 200, some 503 at first, some 400", s.receiver.addr)
		line("file", "`sharehook dev --print` shows the configuration")
	} else {
		line("endpoints", "of the file; sample records are posted to %s", s.origins())
		line("file", "its kafka section is not used, its groups start at the beginning of new topics")
	}
	for _, entry := range s.plan.unfed {
		line("no records", "for topics %s: no name was found that it matches", entry)
	}
	s.introduceLetters(line)
	if a := g.AdminAddress(); a != nil {
		line("gateway", "http://%s/readyz, /healthz, /metrics", a)
	}
	if s.Records > 0 {
		line("end", "after %d records are settled, or Ctrl-C; then a table", s.Records)
	} else {
		line("end", "Ctrl-C; then a table")
	}
	_, _ = fmt.Fprintln(s.Out)
}

func (s *stage) introduceLetters(line func(what, format string, args ...any)) {
	if len(s.plan.letters) == 0 {
		line("dead letters", "none: the file says dead_letter.by: none")
		return
	}
	line("dead letters", "on %s, written by the gateway: the embedded broker has none (KIP-1191), Kafka 4.4 has",
		strings.Join(s.plan.letters, ", "))
	if len(s.byGateway) > 0 {
		line("", "the file leaves them to the broker for: %s", strings.Join(s.byGateway, ", "))
	}
}

// origins are where the endpoints are, without their paths.
func (s *stage) origins() string {
	var all []string
	for _, e := range s.plan.endpoints {
		all = append(all, e.Origin())
	}
	return strings.Join(all, ", ")
}
