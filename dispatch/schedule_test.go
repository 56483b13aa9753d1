package dispatch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestTimelines(t *testing.T) {
	t.Parallel()
	asked := failure
	asked.RetryAfter = 20 * time.Second
	short := exactly
	short.MaxElapsedTime = 2500 * time.Millisecond
	for _, tc := range []struct {
		name    string
		count   int32
		retry   Retry
		answers []Answer
		want    []string
	}{
		{
			name: "accepted", count: 1, answers: []Answer{ok},
			want: []string{"0s a posts 1", "0s a ends accept ok"},
		},
		{
			name: "rejected", count: 1, answers: []Answer{refusal},
			want: []string{"0s a posts 1", "0s a ends reject status_4xx"},
		},
		{
			name: "accepted at the third attempt", count: 1, answers: []Answer{failure, failure, ok},
			want: []string{
				"0s a posts 1", "0s a waits 1s back_off",
				"1s a posts 2", "1s a waits 2s back_off",
				"3s a posts 3", "3s a ends accept ok",
			},
		},
		{
			name: "released", count: 1, answers: []Answer{failure, failure, failure},
			want: []string{
				"0s a posts 1", "0s a waits 1s back_off",
				"1s a posts 2", "1s a waits 2s back_off",
				"3s a posts 3", "3s a ends release status_5xx",
			},
		},
		{
			name: "back-off goes on in the next delivery", count: 2, answers: []Answer{failure, failure, ok},
			want: []string{
				"0s a waits 4s redelivery",
				"4s a posts 1", "4s a waits 8s back_off",
				"12s a posts 2", "12s a waits 16s back_off",
				"28s a posts 3", "28s a ends accept ok",
			},
		},
		{
			name: "retry-after", count: 1, answers: []Answer{asked, ok},
			want: []string{
				"0s a posts 1", "0s a waits 20s retry_after",
				"20s a posts 2", "20s a ends accept ok",
			},
		},
		{
			name: "time runs out", count: 1, retry: short, answers: []Answer{failure, failure},
			want: []string{
				"0s a posts 1", "0s a waits 1s back_off",
				"1s a posts 2", "1s a ends release status_5xx",
			},
		},
		{
			name: "each delivery comes to an attempt", count: 5, retry: short, answers: []Answer{failure},
			want: []string{
				"0s a waits 1.25s redelivery",
				"1.25s a posts 1", "1.25s a ends release status_5xx",
			},
		},
		{
			name: "no verdict", count: 1, retry: Retry{
				Attempts: 1, InitialInterval: 1, Multiplier: 1, MaxInterval: 1, MaxElapsedTime: 1,
			}, answers: []Answer{{}},
			want: []string{"0s a posts 1", "0s a ends release internal"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, Options{Retry: tc.retry}, script(tc.answers...))
				b.source.feed(newRecord("a", tc.count))
				b.after(time.Minute)
				b.want(tc.want...)
				b.wantStats(Stats{})
			})
		})
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("an answer of 500")
		b := setup(t, Options{}, func(context.Context, *fakeRecord, int) Answer {
			time.Sleep(100 * time.Millisecond)
			a := failure
			a.Excerpt, a.Cause = []byte("sorry"), cause
			return a
		})
		r := newRecord("a", 1)
		r.confirm = errors.New("lapsed at the broker")
		b.source.feed(r)
		b.after(time.Minute)
		b.want(
			"0s a posts 1", "100ms a waits 1s back_off",
			"1.1s a posts 2", "1.2s a waits 2s back_off",
			"3.2s a posts 3", "3.3s a ends release status_5xx unconfirmed",
		)
		o := b.outcomes["a"]
		if o.Verdict != VerdictRelease || o.Status != 500 || o.Attempts != 3 ||
			string(o.Excerpt) != "sorry" || !errors.Is(o.Cause, cause) || o.Elapsed != 3300*time.Millisecond {
			t.Errorf("outcome %+v", o)
		}
	})
}

// A record that waits takes no slot: with one slot others pass it.
func TestWaitingTakesNoSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{Concurrency: 1}, func(_ context.Context, r *fakeRecord, n int) Answer {
			if r.name == "a" && n == 1 {
				return failure
			}
			return ok
		})
		b.source.feed(newRecord("a", 1), newRecord("b", 1))
		b.after(500 * time.Millisecond)
		b.wantStats(Stats{Held: 1, Waiting: 1})
		b.after(time.Minute)
		b.want(
			"0s a posts 1", "0s a waits 1s back_off",
			"0s b posts 1", "0s b ends accept ok",
			"1s a posts 2", "1s a ends accept ok",
		)
	})
}

// Who goes first: the last permitted delivery, retries that are due, then the
// untried.
func TestOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retry := exactly
		retry.Multiplier = 1
		b := setup(t, Options{Concurrency: 1, ReadAhead: 10, Retry: retry, MaxDeliveries: func() int32 { return 5 }},
			func(_ context.Context, r *fakeRecord, n int) Answer {
				if r.name == "retry" && n == 1 {
					return failure
				}
				time.Sleep(6 * time.Second)
				return ok
			})
		b.source.feed(newRecord("retry", 1))
		b.after(500 * time.Millisecond)
		b.source.feed(newRecord("slow", 1), newRecord("new", 1), newRecord("second", 2), newRecord("last", 5))
		b.after(time.Minute)
		b.want(
			"0s retry posts 1", "0s retry waits 1s back_off",
			"500ms second waits 1s redelivery", "500ms last waits 1s redelivery",
			"500ms slow posts 1",
			"6.5s slow ends accept ok", "6.5s last posts 1",
			"12.5s last ends accept ok", "12.5s retry posts 2",
			"18.5s retry ends accept ok", "18.5s second posts 1",
			"24.5s second ends accept ok", "24.5s new posts 1",
			"30.5s new ends accept ok",
		)
	})
}

// A lock that lapses while its record waits or is queued ends the delivery.
func TestLapsed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		counts int32
		lapse  time.Duration
		want   []string
	}{
		{"while it waits", 2, 2500 * time.Millisecond, []string{
			"0s a waits 4s redelivery", "3s a ends none lapsed",
		}},
		{"between attempts", 1, 1500 * time.Millisecond, []string{
			"0s a posts 1", "0s a waits 1s back_off",
			"1s a posts 2", "1s a waits 2s back_off",
			"2s a ends none status_5xx lapsed",
		}},
		{"before the first attempt", 1, 0, []string{"0s a ends none lapsed"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, Options{}, always(failure, 0))
				r := newRecord("a", tc.counts)
				if tc.lapse == 0 {
					r.lapsed.Store(true)
				}
				b.source.feed(r)
				b.after(tc.lapse)
				r.lapsed.Store(true)
				b.after(time.Minute)
				b.want(tc.want...)
			})
		})
	}
}

// One whose lock lapses while it is attempted is acknowledged all the same:
// the source may have got a new handle.
func TestLapsedWhileAttempted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{}, func(_ context.Context, r *fakeRecord, _ int) Answer {
			r.lapsed.Store(true)
			return ok
		})
		b.source.feed(newRecord("a", 1))
		b.want("0s a posts 1", "0s a ends accept ok")
	})
}

// Time runs out for a retry that finds no free slot, not for the untried.
func TestTimeRunsOutInTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retry := exactly
		retry.MaxElapsedTime = 10 * time.Second
		b := setup(t, Options{Concurrency: 1, ReadAhead: 10, Retry: retry}, func(_ context.Context, r *fakeRecord, _ int) Answer {
			if r.name == "a" {
				return failure
			}
			time.Sleep(15 * time.Second)
			return ok
		})
		b.source.feed(newRecord("a", 1), newRecord("b", 1), newRecord("c", 1))
		b.after(time.Minute)
		b.want(
			"0s a posts 1", "0s a waits 1s back_off",
			"0s b posts 1",
			"10s a ends release status_5xx",
			"15s b ends accept ok", "15s c posts 1",
			"30s c ends accept ok",
		)
	})
}

// The same when its slot comes before housekeeping has found it.
func TestTimeRanOutWhenTheSlotComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retry := exactly
		retry.InitialInterval, retry.MaxElapsedTime = 300*time.Millisecond, 800*time.Millisecond
		b := setup(t, Options{Concurrency: 1, ReadAhead: 10, Retry: retry}, func(_ context.Context, r *fakeRecord, _ int) Answer {
			if r.name == "a" {
				return failure
			}
			time.Sleep(850 * time.Millisecond)
			return ok
		})
		b.source.feed(newRecord("early", 1)) // housekeeping is at 1 s and 2 s
		b.after(1100 * time.Millisecond)
		b.source.feed(newRecord("a", 1), newRecord("b", 1))
		b.after(time.Minute)
		b.want(
			"0s early posts 1", "850ms early ends accept ok",
			"1.1s a posts 1", "1.1s a waits 300ms back_off",
			"1.1s b posts 1", "1.95s b ends accept ok",
			"1.95s a ends release status_5xx",
		)
	})
}

// Workers are reused, and go when they have been idle for long.
func TestCrewGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{Concurrency: 8}, always(ok, time.Millisecond))
		size := func() int {
			b.Endpoint.mu.Lock()
			defer b.Endpoint.mu.Unlock()
			return b.crew.size
		}
		for i := range 100 {
			b.source.feed(newRecord(fmt.Sprint(i), 1))
		}
		b.after(time.Second)
		if got := size(); got != 8 {
			t.Errorf("%d workers after 100 records, want 8", got)
		}
		b.after(30 * time.Second)
		if got := size(); got != 0 {
			t.Errorf("%d workers after 30 s of silence, want 0", got)
		}
		b.Endpoint.mu.Lock()
		at := b.alarm.at
		b.Endpoint.mu.Unlock()
		if !at.IsZero() {
			t.Errorf("alarm set for %v while nothing is held, want none", at)
		}
	})
}
