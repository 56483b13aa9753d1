package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// ledger holds each delivery against the invariants.
type ledger struct {
	mu      sync.Mutex
	started int
	ended   map[Record]Outcome
	faults  []string
}

func (l *ledger) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

func (l *ledger) Started(ctx context.Context, _ Record) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started++
	return ctx
}

func (l *ledger) Attempted(context.Context, Record, int, Answer) {}
func (l *ledger) Waiting(context.Context, Record, Wait)          {}
func (l *ledger) BreakerChanged(BreakerChange)                   {}

func (l *ledger) Finished(_ context.Context, r Record, o Outcome, _ error) {
	l.mu.Lock()
	_, twice := l.ended[r]
	l.ended[r] = o
	l.mu.Unlock()
	rec := r.(*ledgerRecord)
	switch {
	case twice:
		l.fault("ended twice: %+v", o)
	case o.Acknowledgement == Accept && rec.verdict != VerdictAccept:
		l.fault("accepted without its verdict: %+v", o)
	case o.Acknowledgement == Reject && !rec.written.Load():
		l.fault("rejected without a dead letter: %+v", o)
	case o.Acknowledgement == Release && rec.count == ledgerLimit:
		l.fault("released on the last delivery: %+v", o)
	}
}

const ledgerLimit = 4

type ledgerRecord struct {
	plain
	count   int32
	verdict Verdict // of its last attempt
	lapsed  atomic.Bool
	written atomic.Bool
}

func (r *ledgerRecord) DeliveryCount() int32 { return r.count }
func (r *ledgerRecord) Lapsed() bool         { return r.lapsed.Load() }

// Acknowledge confirms later, from another goroutine, as a broker would.
func (r *ledgerRecord) Acknowledge(_ Acknowledgement, done func(error)) {
	time.AfterFunc(time.Millisecond, func() { done(nil) })
}

// random is an endpoint's whole surroundings, bad luck included.
type random struct {
	*ledger
	inFlight atomic.Int64
	slots    int64
}

func (x *random) Acquire(ctx context.Context, room int) ([]Record, error) {
	select {
	case <-time.After(rand.N(20 * time.Millisecond)):
	case <-ctx.Done():
		if rand.N(2) == 0 {
			return nil, ctx.Err()
		}
	}
	out := make([]Record, 1+rand.N(room))
	for i := range out {
		r := &ledgerRecord{plain: plain{acquired: time.Now()}, count: 1 + rand.N[int32](ledgerLimit)}
		if rand.N(10) == 0 {
			time.AfterFunc(rand.N(10*time.Second), func() { r.lapsed.Store(true) })
		}
		out[i] = r
	}
	return out, ctx.Err()
}

func (x *random) Attempt(ctx context.Context, r Record, _ int) Answer {
	if n := x.inFlight.Add(1); n > x.slots {
		x.fault("%d attempts in flight", n)
	}
	defer x.inFlight.Add(-1)
	a := x.answer(ctx)
	r.(*ledgerRecord).verdict = a.Verdict
	return a
}

func (x *random) answer(ctx context.Context) Answer {
	select {
	case <-time.After(rand.N(300 * time.Millisecond)):
	case <-ctx.Done():
		return Answer{Verdict: VerdictRelease, Reason: "timeout"}
	}
	switch rand.N(40) {
	case 0:
		panic("bad luck")
	case 1:
		return Answer{Verdict: VerdictRelease, Status: 503, RetryAfter: rand.N(time.Second), HoldEndpoint: true}
	case 2:
		return Answer{Verdict: VerdictReject, Status: 410, Gone: true}
	case 3, 4, 5, 6, 7, 8, 9, 10:
		return failure
	case 11, 12, 13, 14:
		return refusal
	default:
		return ok
	}
}

func (x *random) WriteDeadLetter(ctx context.Context, r Record, _ Outcome) error {
	select {
	case <-time.After(rand.N(50 * time.Millisecond)):
	case <-ctx.Done():
		return ctx.Err()
	}
	switch rand.N(10) {
	case 0:
		panic("worse luck")
	case 1, 2, 3:
		return errors.New("bad luck")
	}
	r.(*ledgerRecord).written.Store(true)
	return nil
}

// Whatever happens, each record ends once, and as it may. The breaker is set
// to open and close all the time.
func TestInvariants(t *testing.T) {
	t.Parallel()
	nervous := Breaker{
		Enabled: true, Window: 500 * time.Millisecond, MinAttempts: 4, FailureRatio: 0.4, RejectRatio: 0.3,
		Cooldown: time.Second, MaxCooldown: 2 * time.Second,
	}
	for _, grace := range []time.Duration{0, 100 * time.Millisecond, time.Minute} {
		t.Run(grace.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const slots, maxHeld = 16, 100
				x := &random{ledger: &ledger{ended: map[Record]Outcome{}}, slots: slots}
				retry := DefaultRetry
				retry.MaxElapsedTime = 5 * time.Second
				e, err := New(Options{
					Concurrency: slots, MaxHeld: maxHeld, ReadAheadAuto: true, Retry: retry,
					Breaker: nervous, RateLimit: 200,
					MaxDeliveries: func() int32 { return ledgerLimit },
					Source:        x, Attempter: x, DeadLetters: x, Observer: x,
				})
				if err != nil {
					t.Fatal(err)
				}
				ran := make(chan error, 1)
				go func() { ran <- e.Run(t.Context()) }()
				for range 30 {
					time.Sleep(rand.N(2 * time.Second))
					if s := e.Stats(); s.Held > maxHeld || s.InFlight > slots {
						t.Errorf("stats %+v, want at most %d held and %d in flight", s, maxHeld, slots)
					}
					e.Resume()
				}
				ctx, cancel := context.WithTimeout(t.Context(), grace)
				defer cancel()
				_ = e.Drain(ctx)
				if err := <-ran; err != nil {
					t.Errorf("Run: %v", err)
				}
				time.Sleep(time.Second) // confirmations under way
				synctest.Wait()
				x.mu.Lock()
				defer x.mu.Unlock()
				if x.started == 0 || len(x.ended) != x.started {
					t.Errorf("%d deliveries started, %d ended", x.started, len(x.ended))
				}
				for r, o := range x.ended {
					if grace == time.Minute && o.Interrupted && r.DeliveryCount() == ledgerLimit {
						t.Errorf("given back on the last delivery, with time for a dead letter: %+v", o)
					}
				}
				for _, f := range x.faults {
					t.Error(f)
				}
			})
		})
	}
}
