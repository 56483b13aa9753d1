package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ErrStopped is the cause with which attempts are cancelled when a drain has
// run out of time.
var ErrStopped = errors.New("endpoint is stopped")

// Endpoint delivers the records of one source, many at a time.
type Endpoint struct {
	o       Options
	policy  policy
	watched watched

	refill  chan struct{} // wakes the acquiring goroutine; holds one call
	drained chan struct{} // closed when a drain has nothing left to wait for

	// draining and cut are written under mu. They are read without it to
	// decide, and under it before a delivery is queued: so none is queued
	// behind the back of a drain.
	draining atomic.Bool // acquire nothing, start nothing
	cut      atomic.Bool // nor wait for anything that runs

	mu sync.Mutex // guards all below

	ran       bool                    // Run was called
	acquiring bool                    // the acquiring goroutine may still bring records
	parched   bool                    // it sleeps until refill
	stopWork  context.CancelCauseFunc // ends attempts and dead letters; nil before Run
	stopAsk   context.CancelFunc      // ends the Acquire under way; harmless after it

	held     int // acquired and not ended
	inFlight int // attempts under way
	writing  int // dead letters under way

	// Those that could go on now. Attempts are taken from the first of the
	// three that has one: who is on the last permitted delivery must not be
	// the one that a drain catches, and who has been tried holds the span of
	// its partition longest.
	last    fifo
	retries fifo
	untried fifo
	letters fifo // dead letters to write
	waiting waitlist

	pace     pace
	breaker  breaker
	throttle throttle
	paused   bool
	rests    bool
	heldTo   time.Time // the endpoint asked for no attempt until then; zero: no

	crew  crew
	alarm alarm

	announcing sync.Mutex // keeps the breaker's changes in order; taken before mu
}

// Stats are an endpoint's numbers of this moment.
type Stats struct {
	Held     int // records acquired and not yet acknowledged
	Queued   int // of these, those that could be attempted now
	Waiting  int // of these, those that wait for their back-off
	InFlight int // of these, those whose attempt is under way
	Letters  int // of these, those whose dead letter is queued or being written
	Paused   bool
	HeldTo   time.Time // no attempt starts before then, as the endpoint asked; zero: it did not
	Breaker  BreakerStats
}

// New makes an endpoint. It does nothing before Run.
func New(o Options) (*Endpoint, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("make endpoint: %w", err)
	}
	return &Endpoint{
		o:        o,
		policy:   policy{retry: o.Retry, byGateway: o.DeadLetters != nil},
		watched:  watched{observer: o.Observer, log: o.Logger},
		refill:   make(chan struct{}, 1),
		drained:  make(chan struct{}),
		breaker:  newBreaker(o.Breaker, o.Concurrency),
		throttle: newThrottle(o.RateLimit, o.Concurrency),
	}, nil
}

// Run acquires and delivers until Drain has ended, ctx ends (then it stops at
// once, cutting attempts short), or the source is closed for good, which is
// its only error: attempts under way are finished then. It may be called once.
func (e *Endpoint) Run(ctx context.Context) error {
	// The work outlives ctx by the moment that it takes to say ErrStopped.
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(ErrStopped)
	if err := e.start(stop); err != nil {
		return err
	}
	err := e.acquire(ctx, work)

	e.mu.Lock()
	e.acquiring = false
	e.mu.Unlock()

	// Draining is reached in one way or another; whether it was cut short is
	// for those to know who called Drain.
	_ = e.Drain(ctx)
	e.disband()
	return err
}

func (e *Endpoint) start(stop context.CancelCauseFunc) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ran {
		return errors.New("run endpoint: it was run before; make a new one")
	}
	e.ran, e.acquiring, e.stopWork = true, true, stop
	e.alarm.init(e.tick)
	return nil
}

// disband ends the workers and the alarm and waits for both.
func (e *Endpoint) disband() {
	e.mu.Lock()
	e.crew.close()
	e.alarm.stop()
	e.mu.Unlock()
	e.crew.running.Wait()
}

// Stats are the numbers of this moment.
func (e *Endpoint) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Stats{
		Held:     e.held,
		Queued:   e.queuedLocked(),
		Waiting:  e.waiting.len(),
		InFlight: e.inFlight,
		Letters:  e.writing + e.letters.len(),
		Paused:   e.paused || e.rests,
		HeldTo:   e.heldTo,
		Breaker:  e.breaker.stats(time.Now()),
	}
}
