package dispatch

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errDown = errors.New("topic is not there")

// downFor writes dead letters once d has passed since the record was acquired,
// and says so in the timeline.
func (b *bed) downFor(d time.Duration) letters {
	return func(_ context.Context, r *fakeRecord, o Outcome) error {
		if time.Since(r.acquired) < d {
			return errDown
		}
		b.note(r, "letter %s %s", o.DeadLetter, o.Reason)
		return nil
	}
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	limit := func() int32 { return 2 }
	once := exactly
	once.Attempts = 1
	once.MaxElapsedTime = 10 * time.Second
	for _, tc := range []struct {
		name   string
		count  int32
		down   time.Duration
		answer Answer
		want   []string
	}{
		{"rejected", 1, 0, refusal, []string{
			"0s a posts 1", "0s a letter rejected status_4xx",
			"0s a ends reject status_4xx dead-letter=rejected",
		}},
		{"released on the last delivery", 2, 0, failure, []string{
			"0s a waits 1s redelivery",
			"1s a posts 1", "1s a letter delivery_limit status_5xx",
			"1s a ends reject status_5xx dead-letter=delivery_limit",
		}},
		{"released before", 1, 0, failure, []string{
			"0s a posts 1", "0s a ends release status_5xx",
		}},
		{"held as long as writing fails", 1, time.Minute, refusal, []string{
			"0s a posts 1",
			"0s a waits 1s dead_letter",
			"1s a waits 2s dead_letter",
			"3s a waits 4s dead_letter",
			"7s a waits 8s dead_letter",
			"15s a waits 16s dead_letter",
			"31s a waits 30s dead_letter",
			"1m1s a letter rejected status_4xx",
			"1m1s a ends reject status_4xx dead-letter=rejected",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var b *bed
				b = setup(t, Options{Retry: once, MaxDeliveries: limit, DeadLetters: letters(
					func(ctx context.Context, r *fakeRecord, o Outcome) error { return b.downFor(tc.down)(ctx, r, o) },
				)}, always(tc.answer, 0))
				b.source.feed(newRecord("a", tc.count))
				b.after(5 * time.Minute)
				b.want(tc.want...)
			})
		})
	}
}

// A topic that hangs holds those that are to go there, and no attempt.
func TestDeadLettersTakeNoSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var writing atomic.Int32
		hang := letters(func(ctx context.Context, _ *fakeRecord, _ Outcome) error {
			writing.Add(1)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		b := setup(t, Options{Concurrency: 1, DeadLetters: hang}, func(_ context.Context, r *fakeRecord, _ int) Answer {
			if r.name == "good" {
				return ok
			}
			return refusal
		})
		b.source.feed(newRecord("bad", 1), newRecord("bad-too", 1), newRecord("good", 1))
		b.after(time.Second)
		b.wantStats(Stats{Held: 2, Letters: 2})
		if got := writing.Load(); got != 1 {
			t.Errorf("%d dead letters being written, want 1: no more than attempts", got)
		}
		b.stop()
		<-b.ended
		b.want(
			"0s bad posts 1", "0s bad-too posts 1",
			"0s good posts 1", "0s good ends accept ok",
			"1s bad ends none status_4xx interrupted", "1s bad-too ends none status_4xx interrupted",
		)
	})
}

// A record that lapsed gets no dead letter from us, as it comes again; on its
// last delivery it does, as it does not.
func TestLapsedBeforeItsDeadLetter(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		limit int32
		want  []string
	}{
		{"deliveries left", 9, []string{
			"0s a posts 1", "0s a waits 1s dead_letter", "1s a ends none status_4xx lapsed",
		}},
		{"the last", 1, []string{
			"0s a posts 1", "0s a waits 1s dead_letter", "1s a letter rejected status_4xx",
			"1s a ends reject status_4xx dead-letter=rejected",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var b *bed
				b = setup(t, Options{
					MaxDeliveries: func() int32 { return tc.limit },
					DeadLetters: letters(func(ctx context.Context, r *fakeRecord, o Outcome) error {
						return b.downFor(time.Second)(ctx, r, o)
					}),
				}, always(refusal, 0))
				r := newRecord("a", 1)
				b.source.feed(r)
				b.after(500 * time.Millisecond)
				r.lapsed.Store(true)
				b.after(time.Minute)
				b.want(tc.want...)
			})
		})
	}
}
