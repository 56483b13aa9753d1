package dispatch

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// plain is a record that costs nothing.
type plain struct{ acquired time.Time }

func (*plain) DeliveryCount() int32                            { return 1 }
func (p *plain) Acquired() time.Time                           { return p.acquired }
func (*plain) Lapsed() bool                                    { return false }
func (*plain) Acknowledge(_ Acknowledgement, done func(error)) { done(nil) }

// counted hands out a number of records, then drains.
type counted struct {
	left  int
	batch []Record
	ended func()
}

func (c *counted) Acquire(ctx context.Context, room int) ([]Record, error) {
	if c.left == 0 {
		c.ended()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	n := min(room, c.left)
	c.left -= n
	now := time.Now()
	for i := range c.batch[:n] {
		c.batch[i] = &plain{acquired: now}
	}
	return c.batch[:n], nil
}

type instant struct{ posts atomic.Int64 }

func (a *instant) Attempt(context.Context, Record, int) Answer {
	a.posts.Add(1)
	return ok
}

// BenchmarkAccept is what dispatch itself costs per record, the fakes included.
func BenchmarkAccept(b *testing.B) {
	b.Run("plain", func(b *testing.B) { accept(b, Options{}) })
	b.Run("breaker", func(b *testing.B) { accept(b, Options{Breaker: DefaultBreaker}) })
	b.Run("rate limit", func(b *testing.B) { accept(b, Options{Breaker: DefaultBreaker, RateLimit: 1e9}) })
}

func accept(b *testing.B, o Options) {
	source := &counted{left: b.N, batch: make([]Record, 1000)}
	attempter := &instant{}
	o.Concurrency, o.ReadAheadAuto, o.Source, o.Attempter = 64, true, source, attempter
	e, err := New(o)
	if err != nil {
		b.Fatal(err)
	}
	source.ended = func() {
		go func() { _ = e.Drain(context.Background()) }()
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := e.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
}
