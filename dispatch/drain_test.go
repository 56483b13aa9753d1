package dispatch

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// A drain lets attempts finish and gives all else back, without a word to the
// broker.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{Concurrency: 3, ReadAhead: 3}, func(_ context.Context, r *fakeRecord, _ int) Answer {
			switch r.name {
			case "waits":
				return failure
			case "fails":
				time.Sleep(5 * time.Second)
				return failure
			case "bad":
				time.Sleep(4 * time.Second)
				return refusal
			default:
				time.Sleep(3 * time.Second)
				return ok
			}
		})
		b.source.feed(newRecord("waits", 1))
		b.after(100 * time.Millisecond)
		b.source.feed(newRecord("good", 1), newRecord("fails", 1), newRecord("bad", 1), newRecord("untried", 1))
		b.source.late = []Record{newRecord("late", 1)}
		b.after(200 * time.Millisecond)
		drained := b.drain(time.Minute)
		synctest.Wait()
		b.source.feed(newRecord("too-late", 1))
		if err := <-drained; err != nil {
			t.Errorf("Drain: %v", err)
		}
		<-b.ended
		if b.err != nil {
			t.Errorf("Run: %v", b.err)
		}
		if err := b.Drain(t.Context()); err != nil {
			t.Errorf("second Drain: %v", err)
		}
		b.want(
			"0s waits posts 1", "0s waits waits 1s back_off",
			"100ms good posts 1", "100ms fails posts 1", "100ms bad posts 1",
			"200ms waits ends none status_5xx interrupted",
			"200ms untried ends none interrupted",
			"200ms late ends none interrupted",
			"3.1s good ends accept ok",
			"4.1s bad ends reject status_4xx",
			"5.1s fails ends none status_5xx interrupted",
		)
	})
}

// When a drain runs out of time, attempts are cut short, which is no failure.
func TestDrainCutsShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var cause error
		b := setup(t, Options{}, func(ctx context.Context, r *fakeRecord, n int) Answer {
			if r.name == "just-in-time" {
				<-ctx.Done()
				return ok
			}
			a := always(ok, time.Hour)(ctx, r, n)
			cause = a.Cause
			return a
		})
		b.source.feed(newRecord("hangs", 1), newRecord("just-in-time", 1))
		b.after(time.Second)
		err := <-b.drain(10 * time.Second)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Drain: %v, want its deadline", err)
		}
		if !errors.Is(cause, ErrStopped) {
			t.Errorf("cause of the attempt's end: %v, want ErrStopped", cause)
		}
		b.want(
			"0s hangs posts 1", "0s just-in-time posts 1",
			"11s hangs ends none stopped interrupted",
			"11s just-in-time ends accept ok",
		)
	})
}

// With dead letters of our own, the last delivery must not be given back: the
// broker would archive it without a trace.
func TestDrainOnTheLastDelivery(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		down time.Duration
		want []string
	}{
		{"written", 0, []string{
			"0s a waits 30s redelivery", "0s b waits 30s redelivery",
			"1s a letter delivery_limit ", "1s a ends reject dead-letter=delivery_limit",
			"1s b letter delivery_limit ", "1s b ends reject dead-letter=delivery_limit",
		}},
		{"not written in time", time.Hour, []string{
			"0s a waits 30s redelivery", "0s b waits 30s redelivery",
			"1s a waits 1s dead_letter", "1s b waits 1s dead_letter",
			"2s a waits 1s dead_letter", "2s b waits 1s dead_letter",
			"3s a waits 1s dead_letter", "3s b waits 1s dead_letter",
			"4s a waits 1s dead_letter", "4s b waits 1s dead_letter",
			"5s a waits 1s dead_letter", "5s b waits 1s dead_letter",
			"5.5s a ends none interrupted", "5.5s b ends none interrupted",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var b *bed
				b = setup(t, Options{
					MaxDeliveries: func() int32 { return 5 },
					DeadLetters: letters(func(ctx context.Context, r *fakeRecord, o Outcome) error {
						return b.downFor(tc.down)(ctx, r, o)
					}),
				}, always(ok, 0))
				b.source.feed(newRecord("a", 5), newRecord("b", 5))
				b.after(time.Second)
				err := <-b.drain(4500 * time.Millisecond)
				if (err != nil) != (tc.down > 0) {
					t.Errorf("Drain: %v", err)
				}
				b.want(tc.want...)
			})
		})
	}
}

// A dead letter that waits for its back-off is tried at once: there is little
// time.
func TestDrainHurriesDeadLetters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b *bed
		b = setup(t, Options{DeadLetters: letters(func(ctx context.Context, r *fakeRecord, o Outcome) error {
			return b.downFor(1500*time.Millisecond)(ctx, r, o)
		})}, always(refusal, 0))
		b.source.feed(newRecord("a", 1))
		b.after(2 * time.Second)
		if err := <-b.drain(time.Minute); err != nil {
			t.Errorf("Drain: %v", err)
		}
		b.want(
			"0s a posts 1", "0s a waits 1s dead_letter", "1s a waits 2s dead_letter",
			"2s a letter rejected status_4xx", "2s a ends reject status_4xx dead-letter=rejected",
		)
	})
}

// A drain that begins, or runs out of time, after it was decided to wait and
// before the record waits, does not overlook it.
func TestDrainMeetsAWait(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		meet   func(*Endpoint)
		answer Answer
		want   []string
	}{
		{"begins, back-off", func(e *Endpoint) { e.beginDrain() }, failure, []string{
			"0s a posts 1", "0s a waits 1s back_off", "0s a ends none status_5xx interrupted",
		}},
		{"begins, dead letter", func(e *Endpoint) { e.beginDrain() }, refusal, []string{
			"0s a posts 1", "0s a waits 1s dead_letter", "1s a letter rejected status_4xx",
			"1s a ends reject status_4xx dead-letter=rejected",
		}},
		{"out of time, dead letter", func(e *Endpoint) { e.beginDrain(); e.cutShort() }, refusal, []string{
			"0s a posts 1", "0s a waits 1s dead_letter", "0s a ends none status_4xx interrupted",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var b *bed
				b = setup(t, Options{DeadLetters: letters(func(ctx context.Context, r *fakeRecord, o Outcome) error {
					return b.downFor(time.Second)(ctx, r, o)
				})}, always(tc.answer, 0))
				b.onWaiting = func() { tc.meet(b.Endpoint) }
				b.source.feed(newRecord("a", 1))
				<-b.ended
				b.want(tc.want...)
			})
		})
	}
}

// The end of Run's context is a drain without time.
func TestRunContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{Concurrency: 1, ReadAhead: 1}, always(ok, time.Hour))
		b.source.feed(newRecord("runs", 1), newRecord("untried", 1))
		b.after(time.Second)
		b.stop()
		<-b.ended
		if b.err != nil {
			t.Errorf("Run: %v, want nil: a stop is no failure", b.err)
		}
		b.want(
			"0s runs posts 1",
			"1s runs ends none stopped interrupted", "1s untried ends none interrupted",
		)
	})
}

// A later call with less time cuts an earlier one short.
func TestDrainTwiceAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{}, always(ok, time.Hour))
		b.source.feed(newRecord("a", 1))
		b.after(time.Second)
		patient := b.drain(time.Minute)
		b.after(2 * time.Second)
		if err := <-b.drain(time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("hasty Drain: %v, want its deadline", err)
		}
		if err := <-patient; err != nil {
			t.Errorf("patient Drain: %v", err)
		}
		b.want("0s a posts 1", "3s a ends none stopped interrupted")
	})
}

func TestDrainWhilePaused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{}, script(Answer{Verdict: VerdictReject, Reason: "status_4xx", Status: 410, Gone: true}))
		b.source.feed(newRecord("a", 1))
		b.after(time.Second)
		if err := <-b.drain(time.Second); err != nil {
			t.Errorf("Drain: %v", err)
		}
		b.want("0s a posts 1", "0s a waits 0s paused", "1s a ends none status_4xx interrupted")
	})
}

func TestDrainBeforeRun(t *testing.T) {
	t.Parallel()
	source := &fakeSource{fed: make(chan struct{}, 1)}
	e, err := New(Options{Source: source, Attempter: always(ok, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Drain(t.Context()); err != nil {
		t.Errorf("Drain: %v", err)
	}
	if err := e.Run(t.Context()); err != nil {
		t.Errorf("Run: %v", err)
	}
	if got := source.asked(); len(got) != 0 {
		t.Errorf("asked for %v, want nothing", got)
	}
	if err := e.Run(t.Context()); err == nil {
		t.Error("second Run: no error")
	}
}

// A drain that meets the acquiring goroutine at any point of its loop ends it.
func TestDrainAtAnyMoment(t *testing.T) {
	t.Parallel()
	for range 100 {
		e, err := New(Options{Concurrency: 1, Source: endless{}, Attempter: &instant{}})
		if err != nil {
			t.Fatal(err)
		}
		ran := make(chan error, 1)
		go func() { ran <- e.Run(context.Background()) }()
		for range rand.N(100) {
			runtime.Gosched()
		}
		if err := e.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := <-ran; err != nil {
			t.Fatal(err)
		}
	}
}
