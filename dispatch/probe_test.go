package dispatch

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// twitchy is a breaker that two failures open.
var twitchy = Breaker{
	Enabled: true, Window: 10 * time.Second, MinAttempts: 2, FailureRatio: 0.5, RejectRatio: 0.9,
	Cooldown: 5 * time.Second, MaxCooldown: time.Minute,
}

// second answers a and b with one answer at first, b a tenth of a second
// later, then b with another; all else is accepted.
func second(first, then Answer, after time.Duration) post {
	return func(ctx context.Context, r *fakeRecord, n int) Answer {
		switch {
		case n == 1 && r.name == "a":
			return first
		case n == 1 && r.name == "b":
			return always(first, 100*time.Millisecond)(ctx, r, n)
		case n == 2 && r.name == "b":
			return always(then, after)(ctx, r, n)
		default:
			return ok
		}
	}
}

// However a probe ends, its slot is given back, there are never two, and the
// endpoint comes back.
func TestProbes(t *testing.T) {
	t.Parallel()
	opening := []string{
		"0s a posts 1", "0s a waits 1s back_off", "0s b posts 1",
		"100ms b waits 0s breaker", "100ms breaker open failures",
		"5.1s b posts 2",
	}
	aProbes := func(at, closed string) []string {
		return []string{
			at + " a posts 2", at + " a ends accept ok", at + " breaker half-open failures",
			at + " b posts 3", at + " b ends accept ok", closed + " breaker closed failures",
		}
	}
	reset := Answer{Verdict: VerdictRelease, Reason: "reset"}
	for _, tc := range []struct {
		name  string
		then  Answer
		after time.Duration
		want  []string
	}{
		{"is accepted", ok, 0, []string{
			"5.1s b ends accept ok", "5.1s breaker half-open failures",
			"5.1s a posts 2", "5.1s a ends accept ok", "6.1s breaker closed failures",
		}},
		{"is rejected: the endpoint lives", refusal, 0, []string{
			"5.1s b ends reject status_4xx", "5.1s breaker half-open failures",
			"5.1s a posts 2", "5.1s a ends accept ok", "6.1s breaker closed failures",
		}},
		{"fails", failure, 0, append([]string{"5.1s b waits 0s breaker"}, aProbes("10.1s", "11.1s")...)},
		{"is reset", reset, 2 * time.Second, append([]string{"7.1s b waits 0s breaker"}, aProbes("10.1s", "11.1s")...)},
		{
			"hangs",
			Answer{Verdict: VerdictRelease, Reason: "timeout"},
			10 * time.Second,
			append([]string{"15.1s b waits 0s breaker"}, aProbes("15.1s", "16.1s")...),
		},
		{"cannot be sent", Answer{Verdict: VerdictReject, Reason: ReasonUnsendable}, 0, []string{
			"5.1s b ends reject unsendable",
			"6.1s a posts 2", "6.1s a ends accept ok", "6.1s breaker half-open failures", "7.1s breaker closed failures",
		}},
		{
			"may not be sent",
			Answer{Verdict: VerdictRelease, Reason: ReasonDenied},
			0,
			append([]string{"5.1s b waits 0s breaker"}, aProbes("6.1s", "7.1s")...),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, Options{Concurrency: 4, Breaker: twitchy}, second(failure, tc.then, tc.after))
				b.source.feed(newRecord("a", 1), newRecord("b", 1))
				b.after(time.Minute)
				b.want(append(slices.Clip(opening), tc.want...)...)
				if s := b.Stats(); s.Held != 0 || s.Breaker.State != BreakerClosed {
					t.Errorf("stats %+v, want a closed breaker and nothing held", s)
				}
			})
		})
	}
}

// Opened by rejects: what is rejected while it is open is kept, and has its
// verdict when the breaker lets attempts pass again.
func TestProbeRejectedWhileEverythingIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{Concurrency: 4, Breaker: twitchy}, func(ctx context.Context, r *fakeRecord, n int) Answer {
			if r.name == "bad" && n == 2 || time.Since(r.acquired) < 100*time.Millisecond {
				return always(refusal, 10*time.Millisecond)(ctx, r, n)
			}
			return ok
		})
		b.source.feed(newRecord("dead", 1))
		b.after(time.Second)
		b.source.feed(newRecord("bad", 1))
		b.after(2 * time.Second)
		b.wantStats(Stats{Held: 1, Queued: 1, Breaker: BreakerStats{
			State: BreakerOpen, Cause: OpenedByRejects, Since: b.start.Add(1010 * time.Millisecond),
			NextProbe: b.start.Add(6010 * time.Millisecond), Cooldown: 5 * time.Second,
		}})
		b.after(10 * time.Second)
		b.source.feed(newRecord("good", 1)) // asked for, as bad was rejected as a probe
		b.after(10*time.Second + 1)
		if held := b.Stats().Held; held != 2 {
			t.Errorf("%d held, want bad and one to probe with", held)
		}
		b.after(time.Minute)
		b.want(
			"0s dead posts 1", "10ms dead ends reject status_4xx",
			"1s bad posts 1", "1.01s bad waits 0s breaker", "1.01s breaker open rejects",
			"6.01s bad posts 2", "6.02s bad waits 0s breaker",
			"11.01s good posts 1", "11.01s good ends accept ok", "11.01s breaker half-open rejects",
			"11.01s bad posts 3", "11.01s bad ends accept ok",
			"12.01s breaker closed rejects",
		)
	})
}

// A lock that lapses on the way to the probe leaves the turn to another.
func TestProbeLapsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{Concurrency: 4, Breaker: twitchy}, second(failure, ok, 0))
		lost := newRecord("b", 1)
		b.source.feed(newRecord("a", 1), lost)
		b.after(5050 * time.Millisecond)
		lost.lapsed.Store(true)
		b.after(time.Minute)
		b.want(
			"0s a posts 1", "0s a waits 1s back_off", "0s b posts 1",
			"100ms b waits 0s breaker", "100ms breaker open failures",
			"5.1s b ends none status_5xx lapsed",
			"5.1s a posts 2", "5.1s a ends accept ok", "5.1s breaker half-open failures",
			"6.1s breaker closed failures",
		)
	})
}

// Paused wins; after it all goes on where it was.
func TestBreakerAndPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{Concurrency: 4, Breaker: twitchy}, second(failure, ok, 0))
		b.source.feed(newRecord("a", 1), newRecord("b", 1))
		b.after(3 * time.Second)
		b.Pause()
		b.after(20 * time.Second)
		if s := b.Stats(); !s.Paused || s.Breaker.State != BreakerOpen {
			t.Errorf("stats %+v, want paused and open", s)
		}
		b.Resume()
		b.after(time.Minute)
		b.want(
			"0s a posts 1", "0s a waits 1s back_off", "0s b posts 1",
			"100ms b waits 0s breaker", "100ms breaker open failures",
			"20s b posts 2", "20s b ends accept ok", "20s breaker half-open failures",
			"20s a posts 2", "20s a ends accept ok",
			"21s breaker closed failures",
		)
	})
}

// A probe that is answered 410 pauses the endpoint; after Resume the breaker
// is as it was, and its record has the next turn but one.
func TestProbeGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{Concurrency: 4, Breaker: twitchy}, second(failure, Answer{Verdict: VerdictRelease, Status: 410, Reason: "status_4xx", Gone: true}, 0))
		b.source.feed(newRecord("a", 1), newRecord("b", 1))
		b.after(time.Minute)
		b.Resume()
		b.after(2 * time.Minute)
		b.want(
			"0s a posts 1", "0s a waits 1s back_off", "0s b posts 1",
			"100ms b waits 0s breaker", "100ms breaker open failures",
			"5.1s b posts 2", "5.1s b waits 0s paused",
			"1m0s a posts 2", "1m0s a ends accept ok", "1m0s breaker half-open failures",
			"1m0s b posts 3", "1m0s b ends accept ok", "1m1s breaker closed failures",
		)
	})
}

// A drain lets the probe finish, or cuts it short; what only waits for the
// breaker is given back at once.
func TestProbeMeetsADrain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		grace time.Duration
		then  Answer
		cut   bool
		want  []string
	}{
		"in time": {time.Minute, ok, false, []string{"15.1s b ends accept ok", "15.1s breaker half-open failures"}},
		"in vain": {time.Minute, failure, false, []string{"15.1s b ends none status_5xx interrupted"}},
		"cut":     {time.Second, ok, true, []string{"7s b ends none stopped interrupted"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, Options{Concurrency: 4, Breaker: twitchy}, second(failure, tc.then, 10*time.Second))
				b.source.feed(newRecord("a", 1), newRecord("b", 1))
				b.after(6 * time.Second)
				if err := <-b.drain(tc.grace); (err != nil) != tc.cut {
					t.Errorf("drain: %v, want an error: %v", err, tc.cut)
				}
				b.want(append([]string{
					"0s a posts 1", "0s a waits 1s back_off", "0s b posts 1",
					"100ms b waits 0s breaker", "100ms breaker open failures", "5.1s b posts 2",
					"6s a ends none status_5xx interrupted",
				}, tc.want...)...)
			})
		})
	}
}

// With nothing held, exactly one record is acquired to probe with, and not
// before it is needed.
func TestProbeNeedsARecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retry := exactly
		retry.MaxElapsedTime = 2 * time.Second
		b := setup(t, Options{Concurrency: 4, Breaker: twitchy, ReadAhead: 10, Retry: retry}, always(failure, 0))
		b.source.feed(newRecord("a", 1), newRecord("b", 1))
		b.after(time.Second)
		b.source.feed(newRecord("c", 1), newRecord("d", 1), newRecord("e", 1))
		b.after(5*time.Second - 1)
		if s := b.Stats(); s.Held != 0 {
			t.Errorf("%d held before the probe is due, want none", s.Held)
		}
		b.after(5*time.Second + 1)
		if s := b.Stats(); s.Held != 1 {
			t.Errorf("%d held for the probe, want 1", s.Held)
		}
	})
}

// A record on its last permitted delivery is not given back because of an
// outage, however long: it would be dead though nobody has judged it.
func TestLastDeliveryOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retry := exactly
		retry.MaxElapsedTime = 20 * time.Second
		o := Options{Concurrency: 4, Breaker: twitchy, Retry: retry, MaxDeliveries: func() int32 { return 2 }}
		var back time.Time
		b := setup(t, o, func(context.Context, *fakeRecord, int) Answer {
			if time.Now().Before(back) {
				return failure
			}
			return ok
		})
		back = b.start.Add(5 * time.Minute)
		b.source.feed(newRecord("a", 1), newRecord("b", 1), newRecord("last", 2))
		b.after(4 * time.Minute)
		for name, want := range map[string]Acknowledgement{"a": Release, "b": Release, "last": 0} {
			if o := b.outcome(name); o.Acknowledgement != want {
				t.Errorf("during the outage: outcome of %s %+v, want %v", name, o, want)
			}
		}
		b.after(10 * time.Minute)
		if o := b.outcome("last"); o.Acknowledgement != Accept {
			t.Errorf("outcome of the last delivery: %+v, want acceptance", o)
		}
	})
}

// retry.attempts: 1 and no breaker is the bare mapping; with one, a failure
// that opened it, or came while it was open, costs no delivery.
func TestOneAttempt(t *testing.T) {
	t.Parallel()
	once := exactly
	once.Attempts = 1
	for name, tc := range map[string]struct {
		breaker Breaker
		want    []string
	}{
		"off": {Breaker{}, []string{
			"0s a posts 1", "0s a ends release status_5xx", "0s b posts 1", "100ms b ends release status_5xx",
		}},
		"on": {twitchy, []string{
			"0s a posts 1", "0s a ends release status_5xx", "0s b posts 1",
			"100ms b waits 0s breaker", "100ms breaker open failures",
			"5.1s b posts 2", "5.1s b ends accept ok", "5.1s breaker half-open failures", "6.1s breaker closed failures",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, Options{Concurrency: 4, Breaker: tc.breaker, Retry: once}, second(failure, ok, 0))
				b.source.feed(newRecord("a", 1), newRecord("b", 1))
				b.after(time.Minute)
				b.want(tc.want...)
			})
		})
	}
}
