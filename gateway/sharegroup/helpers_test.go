package sharegroup

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// broker is what a promise is tried on: kfake or a real Kafka.
type broker struct {
	opts []kgo.Opt // how clients reach it
	// lock is the acquisition lock of every group on it.
	lock time.Duration
	// earliest makes a group start with the oldest record and have the lock.
	earliest func(t *testing.T, group string)
}

func (b broker) client(t *testing.T) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.RecordPartitioner(kgo.ManualPartitioner())}, b.opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// topic makes a topic with n records over its partitions, in turn.
func (b broker) topic(t *testing.T, name string, partitions int32, n int) {
	t.Helper()
	cl := b.client(t)
	resp, err := kadm.NewClient(cl).CreateTopic(t.Context(), partitions, -1, nil, name)
	if err != nil {
		t.Fatalf("create topic: %v (%s)", err, resp.ErrMessage)
	}
	b.produce(t, name, partitions, n)
}

func (b broker) produce(t *testing.T, name string, partitions int32, n int) {
	t.Helper()
	cl := b.client(t)
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: name, Partition: int32(i) % partitions, Value: fmt.Append(nil, i)}
	}
	if err := cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatalf("produce: %v", err)
	}
}

// lag is the number of records that the group has not settled, -1 if unknown.
func (b broker) lag(t *testing.T, group, topic string) int64 {
	t.Helper()
	all, err := kadm.NewClient(b.client(t)).DescribeShareGroupOffsets(t.Context(), group)
	if err != nil {
		return -1
	}
	var lag int64
	for _, o := range all[group].Offsets[topic] {
		if o.Err != nil || o.Lag < 0 {
			return -1
		}
		lag += o.Lag
	}
	return lag
}

// counts is an Observer that adds up.
type counts struct {
	mu                                sync.Mutex
	acquired, renewed, lapsed, errors int
	acknowledged                      map[Acknowledgement]int
	errorNames                        map[string]int
}

func (c *counts) Acquired(_ string, n int) { c.add(func() { c.acquired += n }) }
func (c *counts) Renewed(n int)            { c.add(func() { c.renewed += n }) }
func (c *counts) Lapsed(n int)             { c.add(func() { c.lapsed += n }) }
func (c *counts) Acknowledged(_ string, a Acknowledgement, n int) {
	c.add(func() {
		if c.acknowledged == nil {
			c.acknowledged = make(map[Acknowledgement]int)
		}
		c.acknowledged[a] += n
	})
}

func (c *counts) AcknowledgementError(name string, n int) {
	c.add(func() {
		if c.errorNames == nil {
			c.errorNames = make(map[string]int)
		}
		c.errorNames[name] += n
		c.errors += n
	})
}

func (c *counts) add(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *counts) get(f func(c *counts) int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return f(c)
}

// join joins a group, to be left at the end of the test.
func join(t *testing.T, b broker, opts Options) (*Group, *counts) {
	t.Helper()
	seen := &counts{}
	opts.Client = append(opts.Client, b.opts...)
	opts.Client = append(opts.Client, kgo.MetadataMinAge(100*time.Millisecond))
	opts.Observer = seen
	opts.Lock = b.lock
	if testing.Verbose() {
		opts.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	g, err := Join(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leave(t, g) })
	return g, seen
}

var left sync.Map

func leave(t *testing.T, g *Group) {
	t.Helper()
	if _, again := left.LoadOrStore(g, true); again {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := g.Leave(ctx); err != nil {
		t.Errorf("leave: %v", err)
	}
}

// acquire gets up to room records, or fails the test.
func acquire(t *testing.T, g *Group, room int) []*Record {
	t.Helper()
	records, err := tryAcquire(t, g, room, 30*time.Second)
	if err != nil {
		t.Fatalf("acquire: %v (health: %v)", err, g.Health())
	}
	return records
}

func tryAcquire(t *testing.T, g *Group, room int, wait time.Duration) ([]*Record, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	return g.Acquire(ctx, room)
}

// acquireN gets exactly n records.
func acquireN(t *testing.T, g *Group, n int) []*Record {
	t.Helper()
	var got []*Record
	for len(got) < n {
		got = append(got, acquire(t, g, n-len(got))...)
	}
	return got
}

// settle acknowledges records and waits until the broker has confirmed.
func settle(t *testing.T, a Acknowledgement, records ...*Record) {
	t.Helper()
	errs := make(chan error, len(records))
	for _, r := range records {
		r.Acknowledge(a, func(err error) { errs <- err })
	}
	for range records {
		select {
		case err := <-errs:
			if err != nil {
				t.Fatalf("%s: %v", a, err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: no answer within 30 s", a)
		}
	}
}

// waitFor waits until cond holds.
func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 60 s: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
