package dispatch

import (
	"context"
	"sync"
	"testing"
	"time"
)

// broker is a share partition as Kafka has it: it hands out what lies first,
// counts deliveries, and archives a record that was released once too often.
type broker struct {
	limit int32

	mu       sync.Mutex
	counts   []int32 // of each record, by offset
	free     []int   // offsets that may be handed out, released ones in front
	wake     chan struct{}
	acquired int // deliveries so far
	accepted int
	rejected int
	archived int // by the limit
}

func newBroker(records int, limit int32) *broker {
	b := &broker{limit: limit, counts: make([]int32, records), free: make([]int, records), wake: make(chan struct{}, 1)}
	for i := range b.free {
		b.free[i] = i
	}
	return b
}

func (b *broker) Acquire(ctx context.Context, room int) ([]Record, error) {
	const fetch = 3 * time.Millisecond
	select {
	case <-time.After(fetch):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		if out := b.handOut(room); len(out) > 0 {
			return out, nil
		}
		select {
		case <-b.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (b *broker) handOut(room int) (out []Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(room, len(b.free))
	for _, offset := range b.free[:n] {
		b.counts[offset]++
		out = append(out, &brokerRecord{broker: b, offset: offset, count: b.counts[offset], acquired: time.Now()})
	}
	b.free = b.free[n:]
	b.acquired += n
	return out
}

func (b *broker) settle(r *brokerRecord, a Acknowledgement) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case a == Accept:
		b.accepted++
	case a == Reject:
		b.rejected++
	case r.count >= b.limit:
		b.archived++
	default:
		b.free = append([]int{r.offset}, b.free...)
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
}

// mostDeliveries is the greatest delivery count of all records.
func (b *broker) mostDeliveries() (most int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.counts {
		most = max(most, n)
	}
	return most
}

type brokerRecord struct {
	broker   *broker
	offset   int
	count    int32
	acquired time.Time
}

func (r *brokerRecord) DeliveryCount() int32 { return r.count }
func (r *brokerRecord) Acquired() time.Time  { return r.acquired }
func (r *brokerRecord) Lapsed() bool         { return false }

func (r *brokerRecord) Acknowledge(a Acknowledgement, done func(error)) {
	r.broker.settle(r, a)
	done(nil)
}

// phase is how an endpoint behaves from a moment on.
type phase struct {
	from   time.Duration
	answer Answer
	after  time.Duration
	flaky  int // one in so many fails; 0: none
}

// moody is an endpoint in phases. It notes when which verdict came.
type moody struct {
	phases []phase
	start  time.Time

	mu     sync.Mutex
	posts  []time.Duration // when attempts began
	accept []time.Duration // when they were accepted
}

func (m *moody) Attempt(ctx context.Context, _ Record, _ int) Answer {
	at := time.Since(m.start)
	var now phase
	for _, p := range m.phases {
		if p.from <= at {
			now = p
		}
	}
	m.mu.Lock()
	m.posts = append(m.posts, at)
	a := now.answer
	if now.flaky > 0 && len(m.posts)%now.flaky == 0 {
		a = failure
	}
	m.mu.Unlock()
	select {
	case <-time.After(now.after):
	case <-ctx.Done():
		return Answer{Verdict: VerdictRelease, Reason: "timeout"}
	}
	if a.Verdict == VerdictAccept {
		m.mu.Lock()
		m.accept = append(m.accept, time.Since(m.start))
		m.mu.Unlock()
	}
	return a
}

// within counts the moments from one time until before another.
func within(moments []time.Duration, from, to time.Duration) (n int) {
	for _, m := range moments {
		if from <= m && m < to {
			n++
		}
	}
	return n
}

// changes is an Observer of the breaker alone.
type changes struct {
	unobserved
	start time.Time

	mu   sync.Mutex
	seen []change
}

type change struct {
	at time.Duration
	BreakerChange
}

func (c *changes) BreakerChanged(b BreakerChange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, change{time.Since(c.start), b})
}

// first is when the breaker first came into a state at or after a moment; -1: never.
func (c *changes) first(to BreakerState, after time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.seen {
		if s.To == to && s.at >= after {
			return s.at
		}
	}
	return -1
}

// outage is an endpoint with a broker before it and all that is noted.
type outage struct {
	*Endpoint
	broker  *broker
	hook    *moody
	breaker *changes
}

// suffer runs an endpoint through phases in a bubble, until a time.
func suffer(t *testing.T, o Options, records int, until time.Duration, phases ...phase) *outage {
	t.Helper()
	start := time.Now()
	x := &outage{
		broker: newBroker(records, 10), hook: &moody{phases: phases, start: start}, breaker: &changes{start: start},
	}
	o.Source, o.Attempter, o.Observer = x.broker, x.hook, x.breaker
	o.MaxDeliveries = func() int32 { return x.broker.limit }
	var err error
	if x.Endpoint, err = New(o); err != nil {
		t.Fatal(err)
	}
	ran := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer close(ran)
		_ = x.Run(ctx)
	}()
	time.Sleep(until)
	stop()
	<-ran
	return x
}
