package dispatch

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pulse notes when attempts begin.
type pulse struct {
	mu    sync.Mutex
	start time.Time
	posts []time.Duration
}

func (p *pulse) answering(a Answer) post {
	return func(context.Context, *fakeRecord, int) Answer {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.posts = append(p.posts, time.Since(p.start))
		return a
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		perSecond   float64
		concurrency int
		span        time.Duration
		want, burst int // attempts within the span, and how many more in any second
		held        int // at most
	}{
		"10/s":                 {10, 64, 10 * time.Second, 100, 1, 11},
		"200/s":                {200, 64, 10 * time.Second, 2000, 20, 220},
		"200/s, one at a time": {200, 1, 10 * time.Second, 2000, 1, 2},
		"1000/m":               {1000. / 60, 64, time.Minute, 1000, 1, 17},
		"6/m":                  {0.1, 64, 5 * time.Minute, 30, 1, 1},
		"30000/s":              {30_000, 1000, time.Second, 30_000, 1000, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &pulse{start: time.Now()}
				b := setup(t, Options{RateLimit: tc.perSecond, Concurrency: tc.concurrency, ReadAheadAuto: true}, p.answering(ok))
				b.source.feed(records(40_000)...)
				for until := time.Duration(0); until < tc.span; until += tc.span / 50 {
					b.after(until)
					if s := b.Stats(); s.Held > tc.held {
						t.Fatalf("%d held at %v, want at most %d", s.Held, until, tc.held)
					}
				}
				b.after(tc.span - 1)
				p.mu.Lock()
				defer p.mu.Unlock()
				if n := len(p.posts); n < tc.want-1 || n > tc.want+tc.burst {
					t.Errorf("%d attempts in %v, want %d and at most %d more", n, tc.span, tc.want, tc.burst)
				}
				perSecond := max(1, int(tc.perSecond))
				for at := time.Duration(0); at < tc.span-time.Second; at += 250 * time.Millisecond {
					if n := within(p.posts, at, at+time.Second); n > perSecond+tc.burst {
						t.Fatalf("%d attempts in the second from %v on, want at most %d", n, at, perSecond+tc.burst)
					}
				}
			})
		})
	}
}

// At few a minute a record is left with the broker until its turn is near.
func TestRateLimitHoldsNothingEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{RateLimit: 0.1, Concurrency: 64, ReadAhead: 64}, (&pulse{}).answering(ok))
		b.source.feed(records(3)...)
		b.after(8 * time.Second)
		b.wantStats(Stats{})
		b.after(9500 * time.Millisecond)
		b.wantStats(Stats{Held: 1, Queued: 1})
		b.after(10100 * time.Millisecond)
		b.wantStats(Stats{})
	})
}

// Waiting for the rate is no attempt and uses none up; retries keep to it.
func TestRateLimitAndRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{RateLimit: 0.5}, func(_ context.Context, r *fakeRecord, n int) Answer {
			if r.name == "a" && n < 3 {
				return failure
			}
			return ok
		})
		b.source.feed(newRecord("a", 1), newRecord("b", 1))
		b.after(time.Minute)
		b.want(
			"0s a posts 1", "0s a waits 1s back_off",
			"2s a posts 2", "2s a waits 2s back_off",
			"4s a posts 3", "4s a ends accept ok",
			"6s b posts 1", "6s b ends accept ok",
		)
	})
}

// Probes keep to the rate as well, and a probe that must wait for it is not
// lost.
func TestRateLimitAndProbes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{RateLimit: 0.125, Breaker: twitchy}, func(_ context.Context, _ *fakeRecord, n int) Answer {
			if n < 3 {
				return failure
			}
			return ok
		})
		b.source.feed(newRecord("a", 1))
		b.after(2 * time.Minute)
		b.want(
			"0s a posts 1", "0s a waits 1s back_off",
			"8s a posts 2", "8s a waits 0s breaker", "8s breaker open failures",
			"16s a posts 3", "16s a ends accept ok", "16s breaker half-open failures",
			"17s breaker closed failures",
		)
	})
}
