package dispatch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestAttemptPanics(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		letters DeadLetterer
		want    string
	}{
		{"released", nil, "0s odd ends release internal"},
		{
			"a dead letter on the last delivery",
			letters(func(context.Context, *fakeRecord, Outcome) error { return nil }),
			"0s odd ends reject internal dead-letter=delivery_limit",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, Options{Concurrency: 1, MaxHeld: 1, DeadLetters: tc.letters, MaxDeliveries: func() int32 { return 1 }},
					func(_ context.Context, r *fakeRecord, _ int) Answer {
						if r.name == "odd" {
							panic("an odd record")
						}
						return ok
					})
				// One slot and one hold: the second record needs both back.
				b.source.feed(newRecord("odd", 1), newRecord("even", 1))
				b.after(time.Minute)
				b.want("0s odd posts 1", tc.want, "0s even posts 1", "0s even ends accept ok")
			})
		})
	}
}

// Rejected or released because writing panicked, the record would be lost.
func TestDeadLetterPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		b := setup(t, Options{DeadLetters: letters(func(context.Context, *fakeRecord, Outcome) error {
			if calls++; calls == 1 {
				panic("an odd dead letter")
			}
			return nil
		})}, always(refusal, 0))
		b.source.feed(newRecord("a", 1))
		b.after(time.Minute)
		b.want("0s a posts 1", "0s a waits 1s dead_letter", "1s a ends reject status_4xx dead-letter=rejected")
	})
}

// panicky panics at every call.
type panicky struct{}

func (panicky) Started(context.Context, Record) context.Context  { panic("started") }
func (panicky) Attempted(context.Context, Record, int, Answer)   { panic("attempted") }
func (panicky) Waiting(context.Context, Record, Wait)            { panic("waiting") }
func (panicky) Finished(context.Context, Record, Outcome, error) { panic("finished") }
func (panicky) BreakerChanged(BreakerChange)                     { panic("changed") }

// An observer's panic changes nothing.
func TestObserverPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &fakeSource{fed: make(chan struct{}, 1)}
		posts := 0
		e, err := New(Options{
			Source: source, Observer: panicky{}, Retry: exactly,
			Attempter: post(func(context.Context, *fakeRecord, int) Answer {
				if posts++; posts == 1 {
					return failure
				}
				return ok
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		ran := make(chan error, 1)
		go func() { ran <- e.Run(t.Context()) }()
		source.feed(newRecord("a", 1))
		time.Sleep(time.Minute)
		if err := e.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-ran; err != nil || posts != 2 {
			t.Errorf("Run: %v after %d posts, want nil after 2", err, posts)
		}
	})
}
