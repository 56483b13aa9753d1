package sharegroup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Observer is told what happens to records. Its methods are called without a
// lock held, on the group's goroutines, and must return soon.
type Observer interface {
	// Acquired: n records of topics that match expression came under our lock.
	Acquired(expression string, n int)
	// Acknowledged: the broker confirmed n acknowledgements.
	Acknowledged(expression string, a Acknowledgement, n int)
	// Renewed: the broker confirmed n renewals.
	Renewed(n int)
	// Lapsed: n locks ended before their record was acknowledged.
	Lapsed(n int)
	// AcknowledgementError: n acknowledgements or renewals came to nothing.
	// name is Kafka's name of the error, or "connection", or "unanswered".
	AcknowledgementError(name string, n int)
}

// Options say what to join and how.
type Options struct {
	// Group is the share group's name.
	Group string
	// Topics are names, or regular expressions where they start with ^.
	Topics []string
	// Client are the options of the connection: seeds, client ID, TLS, SASL.
	Client []kgo.Opt
	// Members is the number of members to join with; 0 means 1.
	Members int
	// FetchRecords is the most records that one fetch brings; 0 means 32.
	FetchRecords int
	// ConcurrentFetches is the number of fetches at a time of one member. It
	// should be the number of brokers that lead partitions of the topics:
	// with less, the parked fetch of an idle broker holds back a busy one.
	// 0 means 1.
	ConcurrentFetches int
	// Lock is the group's acquisition lock, as far as it is known before the
	// first fetch shows it; 0 means Kafka's default of 30 s.
	Lock time.Duration
	// Observer may be nil.
	Observer Observer
	// Logger may be nil.
	Logger *slog.Logger
}

// defaultLock is Kafka's group.share.record.lock.duration.ms.
const defaultLock = 30 * time.Second

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Group == "":
		return o, errors.New("share group: no name")
	case len(o.Topics) == 0:
		return o, fmt.Errorf("share group %q: no topics", o.Group)
	case o.Members < 0 || o.FetchRecords < 0 || o.ConcurrentFetches < 0 || o.Lock < 0:
		return o, fmt.Errorf("share group %q: a negative number", o.Group)
	}
	o.Members = max(o.Members, 1)
	o.ConcurrentFetches = max(o.ConcurrentFetches, 1)
	if o.FetchRecords == 0 {
		o.FetchRecords = 32
	}
	if o.Lock == 0 {
		o.Lock = defaultLock
	}
	if o.Observer == nil {
		o.Observer = silent{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// Group is our part in a share group. Its methods are safe for concurrent use.
type Group struct {
	opts     Options
	log      *slog.Logger
	observer Observer
	topics   matcher
	members  []*member

	ready chan struct{} // one slot: arrived has records, or the group was left
	stop  chan struct{} // closed when acquiring ends for good
	quit  chan struct{} // closed when the goroutines must end
	wg    sync.WaitGroup

	mu      sync.Mutex
	held    map[recordKey]*Record // all under our lock, those in arrived included
	arrived []*Record             // acquired and not handed out yet, oldest first
	want    int                   // records that callers of Acquire wait for
	lock    time.Duration         // the length of the acquisition lock
	memory  map[recordKey]memo    // acknowledgements that were lost on the way
	lapses  int                   // locks lost and not reported yet
	leaving bool
	closing bool // no lock is renewed any more
}

// Join makes the members and starts them. It does not wait for the broker: a
// group whose topics or authorization are missing joins when they are there,
// and Health says why it has not.
func Join(opts Options) (*Group, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	topics, err := newMatcher(opts.Topics)
	if err != nil {
		return nil, fmt.Errorf("join share group %q: %w", opts.Group, err)
	}
	g := &Group{
		opts:     opts,
		log:      opts.Logger.With("share_group", opts.Group),
		observer: opts.Observer,
		topics:   topics,
		ready:    make(chan struct{}, 1),
		stop:     make(chan struct{}),
		quit:     make(chan struct{}),
		held:     make(map[recordKey]*Record),
		memory:   make(map[recordKey]memo),
		lock:     opts.Lock,
	}
	for range opts.Members {
		m, err := newMember(g)
		if err != nil {
			for _, m := range g.members {
				m.client.Close()
			}
			return nil, fmt.Errorf("join share group %q: %w", opts.Group, err)
		}
		g.members = append(g.members, m)
	}
	for _, m := range g.members {
		g.wg.Go(m.poll)
		g.wg.Go(m.send)
	}
	g.wg.Go(g.keep)
	g.wg.Go(g.watch)
	return g, nil
}

// Acquire waits for records and returns between 1 and room of them. An error
// means that ctx ended or that the group was left: ErrLeft.
func (g *Group) Acquire(ctx context.Context, room int) ([]*Record, error) {
	if room < 1 {
		return nil, fmt.Errorf("acquire from share group %q: no room", g.opts.Group)
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		records, err := g.take(room)
		if err != nil || len(records) > 0 {
			return records, err
		}
		select {
		case <-g.ready:
		case <-ctx.Done():
			g.wantNothing()
			return nil, ctx.Err()
		}
	}
}

// take hands out what has arrived, or else lets the members fetch.
func (g *Group) take(room int) ([]*Record, error) {
	now := time.Now()
	g.mu.Lock()
	if g.leaving {
		g.mu.Unlock()
		g.wake() // for the next caller
		return nil, ErrLeft
	}
	var out []*Record
	for len(g.arrived) > 0 && len(out) < room {
		r := g.arrived[0]
		g.arrived[0] = nil
		g.arrived = g.arrived[1:]
		switch {
		case r.gone:
		case now.Before(r.deadline):
			out = append(out, r)
		default:
			// Its lock ended while it waited. It must not stay in held, where
			// the next acquisition would take it for one that is delivered.
			g.lapse(r)
			g.remove(r)
		}
	}
	// In the same critical section as the look at arrived, so that what
	// arrives from here on finds the right number.
	g.want = room
	if len(out) > 0 {
		g.want = 0
	}
	g.mu.Unlock()
	if len(out) == 0 {
		for _, m := range g.members {
			signal(m.wake)
		}
	}
	return out, nil
}

// wantNothing lets the members rest. One that waits for records is called back:
// it would acquire the next that come.
func (g *Group) wantNothing() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.want = 0
	for _, m := range g.members {
		if m.interrupt != nil {
			m.interrupt()
		}
	}
}

// wake tells one caller of Acquire to look again.
func (g *Group) wake() { signal(g.ready) }

// signal fills a channel of one slot.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Held is the number of records under our lock whose delivery has not ended,
// those that no caller has got yet included.
func (g *Group) Held() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, r := range g.held {
		if r.decided == 0 {
			n++
		}
	}
	return n
}

// Lock is the length of the group's acquisition lock.
func (g *Group) Lock() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lock
}

// Health is nil when every member has joined and can fetch, and else says what
// keeps it from that.
func (g *Group) Health() error {
	for _, m := range g.members {
		if err := m.health.err(); err != nil {
			return err
		}
	}
	return nil
}

// silent is the observer of nobody.
type silent struct{}

func (silent) Acquired(string, int)                      {}
func (silent) Acknowledged(string, Acknowledgement, int) {}
func (silent) Renewed(int)                               {}
func (silent) Lapsed(int)                                {}
func (silent) AcknowledgementError(string, int)          {}
