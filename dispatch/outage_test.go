package dispatch

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// gateway are the Options of an endpoint that says nothing about them.
func gateway() Options {
	return Options{ReadAheadAuto: true, Retry: DefaultRetry, Breaker: DefaultBreaker}
}

const answerTime = 100 * time.Millisecond

// answers is a phase in which the endpoint is quick to answer.
func answers(a Answer, from time.Duration) phase {
	return phase{from: from, answer: a, after: answerTime}
}

// back is how long after a moment a tenth of a second has 90 % of the rate
// before; -1: never.
func (x *outage) back(before, after time.Duration) time.Duration {
	const slice = 100 * time.Millisecond
	rate := within(x.hook.accept, before-time.Second, before) / 10
	for at := after; at < after+5*time.Minute; at += slice {
		if 10*within(x.hook.accept, at, at+slice) >= 9*rate {
			return at - after
		}
	}
	return -1
}

// Wherever in the time between two probes an outage of a minute ends, the
// endpoint is back soon.
func TestOutageEndsBetweenProbes(t *testing.T) {
	t.Parallel()
	const downAt, step = 2 * time.Second, 700 * time.Millisecond
	for lasts := 58 * time.Second; lasts < 68*time.Second; lasts += step {
		t.Run(lasts.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				backAt := downAt + lasts
				x := suffer(t, gateway(), 12_000, backAt+11*time.Second,
					answers(ok, 0), answers(failure, downAt), answers(ok, backAt))
				back := x.back(downAt, backAt)
				t.Logf("at 90 %% %v after the return", back)
				if back < 0 || back > 6*time.Second {
					t.Errorf("at 90 %% %v after the return", back)
				}
			})
		})
	}
}

// A wrong route costs no more records than it takes to notice it. All others
// are there when it is right again.
func TestMisrouted(t *testing.T) {
	t.Parallel()
	const records = 5000
	for _, tc := range []struct {
		name   string
		phases []phase
		most   int // records rejected
	}{
		{"from the first on", []phase{answers(refusal, 0)}, 9},
		{"from the first on, at once", []phase{{answer: refusal}}, 9},
		{"after having accepted", []phase{answers(ok, 0), answers(refusal, time.Second)}, 73},
		{"after an outage", []phase{answers(failure, 0), answers(refusal, 30*time.Second)}, 10},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				// Nine minutes: then records are given back that were held from
				// the beginning, which is their right.
				x := suffer(t, gateway(), records, 9*time.Minute, append(tc.phases, answers(ok, 5*time.Minute))...)
				t.Logf("%d rejected, %d accepted, %d deliveries", x.broker.rejected, x.broker.accepted, x.broker.acquired)
				if x.broker.rejected > tc.most || x.broker.archived > 0 {
					t.Errorf("%d rejected, %d archived, want at most %d and none", x.broker.rejected, x.broker.archived, tc.most)
				}
				if x.broker.accepted+x.broker.rejected != records || x.broker.mostDeliveries() > 1 {
					t.Errorf("%d accepted, %d rejected, most deliveries %d; want all of %d at the first",
						x.broker.accepted, x.broker.rejected, x.broker.mostDeliveries(), records)
				}
			})
		})
	}
}

// An endpoint that always fails a little comes back all the same.
func TestOutageOfAnUnreliableEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const downAt, backAt = 2 * time.Second, 32 * time.Second
		unreliable := phase{answer: ok, after: answerTime, flaky: 10}
		down, again := answers(failure, downAt), unreliable
		again.from = backAt
		x := suffer(t, gateway(), 25_000, backAt+20*time.Second, unreliable, down, again)
		back := x.back(downAt, backAt)
		t.Logf("at 90 %% %v after the return", back)
		if closed := x.breaker.first(BreakerClosed, backAt); closed < 0 || closed > backAt+15*time.Second {
			t.Errorf("closed at %v, want within 15s of %v", closed, backAt)
		}
	})
}

// An outage costs nothing, whatever it looks like and however long it lasts:
// no dead letter, no third delivery, at most one POST a second while the
// breaker is open, and the old rate soon after the endpoint is back.
func TestOutage(t *testing.T) {
	t.Parallel()
	refused := Answer{Verdict: VerdictRelease, Reason: "connect"}
	hung := Answer{Verdict: VerdictRelease, Reason: "timeout"}
	for _, tc := range []struct {
		name   string
		answer Answer
		after  time.Duration
		lasts  time.Duration
		// backWithin is the longest cooldown at that time, or a hanging probe,
		// and the climb.
		backWithin time.Duration
	}{
		{"503", failure, answerTime, 5 * time.Second, 6 * time.Second},
		{"503", failure, answerTime, time.Minute, 6 * time.Second},
		{"503", failure, answerTime, 10 * time.Minute, 61 * time.Second},
		{"refused", refused, 0, time.Minute, 6 * time.Second},
		{"hangs", hung, 10 * time.Second, time.Minute, 11 * time.Second},
	} {
		t.Run(fmt.Sprint(tc.name, " ", tc.lasts), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const downAt = 3 * time.Second
				backAt := downAt + tc.lasts
				x := suffer(t, gateway(), 25_000, backAt+tc.backWithin+2*time.Second,
					answers(ok, 0), phase{from: downAt, answer: tc.answer, after: tc.after}, answers(ok, backAt))

				opened := x.breaker.first(BreakerOpen, downAt)
				halfOpen := x.breaker.first(BreakerHalfOpen, opened)
				back := x.back(downAt, backAt)
				most := x.broker.mostDeliveries()
				probes := within(x.hook.posts, opened+1, halfOpen)
				t.Logf("opened after %v, %d POSTs while down, %d of them probes, half-open %v and at 90 %% %v after the return,"+
					" most deliveries %d", opened-downAt, within(x.hook.posts, downAt, backAt), probes, halfOpen-backAt, back, most)

				if opened < 0 || halfOpen < 0 {
					t.Fatal("the breaker did not open or half-open")
				}
				if back < 0 || back > tc.backWithin {
					t.Errorf("at 90 %% of the earlier rate %v after the return, want within %v", back, tc.backWithin)
				}
				if closed := x.breaker.first(BreakerClosed, backAt); closed < 0 || closed-backAt > DefaultBreaker.MaxCooldown+2*tc.after {
					t.Errorf("closed %v after the return, want within the longest cooldown and two probes", closed-backAt)
				}
				if x.broker.rejected+x.broker.archived > 0 || most > 2 {
					t.Errorf("%d rejected, %d archived, most deliveries %d; want none and 2", x.broker.rejected, x.broker.archived, most)
				}
				for at := opened + 1; at < halfOpen-time.Second; at += 100 * time.Millisecond {
					if n := within(x.hook.posts, at, at+time.Second); n > 1 {
						t.Fatalf("%d POSTs in the second from %v on, want at most 1", n, at)
					}
				}
			})
		})
	}
}
