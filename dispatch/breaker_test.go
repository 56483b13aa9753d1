package dispatch

import (
	"slices"
	"testing"
	"time"
)

// trial is a breaker and its clock, which a test moves by hand.
type trial struct {
	breaker

	t     *testing.T
	start time.Time
	now   time.Time
}

func newTrial(t *testing.T, slots int) *trial {
	now := time.Now()
	return &trial{breaker: newBreaker(DefaultBreaker, slots), t: t, start: now, now: now}
}

func (x *trial) pass(d time.Duration) { x.now = x.now.Add(d) }

// attempts makes n attempts one after the other, all answered alike.
func (x *trial) attempts(n int, v Verdict) {
	for range n {
		p := x.begin()
		x.answered(p, v, x.now)
		x.end(p)
	}
}

// probe makes the next probe as soon as it may be, answered after a time.
func (x *trial) probe(v Verdict, after time.Duration) {
	x.t.Helper()
	if x.wake.After(x.now) {
		x.now = x.wake
	}
	x.awake(x.now, false)
	if !x.due || x.probing {
		x.t.Fatalf("at %v: due %v, probing %v", x.now.Sub(x.start), x.due, x.probing)
	}
	p := x.beginProbe(x.now)
	x.pass(after)
	x.answered(p, v, x.now)
	x.end(p)
}

func (x *trial) want(state BreakerState, cause BreakerCause) {
	x.t.Helper()
	if x.state != state || x.cause != cause {
		x.t.Errorf("at %v: %v %q, want %v %q", x.now.Sub(x.start), x.state, x.cause, state, cause)
	}
}

func TestBreakerOpens(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		history func(x *trial)
		state   BreakerState
		cause   BreakerCause
	}{
		"nothing happened": {func(*trial) {}, BreakerClosed, ""},
		"too few failures": {func(x *trial) { x.attempts(9, VerdictRelease) }, BreakerClosed, ""},
		"failures only":    {func(x *trial) { x.attempts(10, VerdictRelease) }, BreakerOpen, OpenedByFailures},
		"half are failures": {func(x *trial) {
			x.attempts(5, VerdictAccept)
			x.attempts(5, VerdictRelease)
		}, BreakerOpen, OpenedByFailures},
		"less than half are failures": {func(x *trial) {
			x.attempts(6, VerdictAccept)
			x.attempts(5, VerdictRelease)
		}, BreakerClosed, ""},
		"failures that the window has forgotten": {func(x *trial) {
			x.attempts(9, VerdictRelease)
			x.pass(10 * time.Second)
			x.attempts(9, VerdictRelease)
		}, BreakerClosed, ""},
		"what says nothing": {func(x *trial) { x.attempts(100, 0) }, BreakerClosed, ""},

		"rejects from the first on": {func(x *trial) { x.attempts(10, VerdictReject) }, BreakerOpen, OpenedByRejects},
		"rejects, one accepted": {func(x *trial) {
			x.attempts(1, VerdictAccept)
			x.attempts(9, VerdictReject)
		}, BreakerOpen, OpenedByRejects},
		"rejects, two accepted": {func(x *trial) {
			x.attempts(2, VerdictAccept)
			x.attempts(17, VerdictReject)
		}, BreakerClosed, ""},
		"rejects of one that used to accept": {func(x *trial) {
			x.attempts(100, VerdictAccept)
			x.pass(time.Hour)
			x.attempts(10, VerdictReject)
		}, BreakerOpen, OpenedByRejects},
		"rejects after a night without records": {func(x *trial) {
			x.attempts(100, VerdictAccept)
			x.pass(10 * time.Hour)
			x.attempts(10, VerdictReject)
		}, BreakerOpen, OpenedByRejects},
		"rejects as a way of life": {func(x *trial) {
			x.attempts(1, VerdictAccept)
			for range 62 { // too few for the window
				x.pass(time.Minute)
				x.attempts(5, VerdictReject)
			}
			x.attempts(1000, VerdictReject)
		}, BreakerClosed, ""},

		"a busy endpoint, failures as many as were in flight": {func(x *trial) {
			x.attempts(10_000, VerdictAccept)
			x.attempts(73, VerdictRelease)
		}, BreakerClosed, ""},
		"a busy endpoint, and MinAttempts more": {func(x *trial) {
			x.attempts(10_000, VerdictAccept)
			x.attempts(74, VerdictRelease)
		}, BreakerOpen, OpenedByFailures},
		"a busy endpoint, rejects": {func(x *trial) {
			x.attempts(10_000, VerdictAccept)
			x.attempts(74, VerdictReject)
		}, BreakerOpen, OpenedByRejects},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTrial(t, 64)
			tc.history(x)
			x.want(tc.state, tc.cause)
		})
	}
}

// Before the first acceptance no more attempts run than may be lost.
func TestBreakerBeforeTheFirstAccept(t *testing.T) {
	t.Parallel()
	x := newTrial(t, 64)
	var permits []permit
	for x.room() > 0 {
		permits = append(permits, x.begin())
	}
	if len(permits) != DefaultBreaker.MinAttempts {
		t.Errorf("%d attempts at once, want %d", len(permits), DefaultBreaker.MinAttempts)
	}
	for i, p := range permits[:8] {
		x.answered(p, VerdictReject, x.now)
		x.end(p)
		if x.room() > 0 {
			t.Errorf("room for one more after %d rejects", i+1)
		}
	}
	x.answered(permits[8], VerdictAccept, x.now)
	x.end(permits[8])
	if x.room() != maxRoom {
		t.Errorf("room %d after the first accept, want no limit", x.room())
	}
}

// The cooldown doubles with the time that the endpoint is down, not with each
// probe.
func TestBreakerCooldown(t *testing.T) {
	t.Parallel()
	x := newTrial(t, 64)
	x.attempts(10, VerdictRelease)
	var got []int
	for range 33 {
		x.probe(VerdictRelease, 0)
		got = append(got, int(x.now.Sub(x.start).Seconds()))
	}
	want := []int{
		5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90,
		100, 110, 120, 130, 140, 150, 160, 170, 180, 200, 220, 240, 260, 280, 320,
	}
	if !slices.Equal(got, want) {
		t.Errorf("probes at %v s, want %v", got, want)
	}
}

// A probe that hangs is followed by the next at once, for the cooldown is over
// by then; but never are there two in a second.
func TestBreakerProbeIntervals(t *testing.T) {
	t.Parallel()
	x := newTrial(t, 64)
	x.o.Cooldown, x.o.MaxCooldown = time.Millisecond, time.Millisecond
	x.attempts(10, VerdictRelease)
	var got []time.Duration
	for _, after := range []time.Duration{0, 0, 10 * time.Second, 300 * time.Millisecond, 0} {
		x.probe(VerdictRelease, after)
		got = append(got, x.now.Sub(x.start)-after)
	}
	want := []time.Duration{1 * time.Second, 2 * time.Second, 3 * time.Second, 13 * time.Second, 14 * time.Second}
	if !slices.Equal(got, want) {
		t.Errorf("probes at %v, want %v", got, want)
	}
}

func TestBreakerProbeAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		opener, answer Verdict
		state          BreakerState
		cause          BreakerCause
		next           time.Duration // after the probe's beginning; 0: it is over
	}{
		"failures, accepted":   {VerdictRelease, VerdictAccept, BreakerHalfOpen, OpenedByFailures, 0},
		"failures, released":   {VerdictRelease, VerdictRelease, BreakerOpen, OpenedByFailures, 5 * time.Second},
		"failures, rejected":   {VerdictRelease, VerdictReject, BreakerHalfOpen, OpenedByFailures, 0},
		"failures, unsendable": {VerdictRelease, 0, BreakerOpen, OpenedByFailures, time.Second},
		"rejects, accepted":    {VerdictReject, VerdictAccept, BreakerHalfOpen, OpenedByRejects, 0},
		"rejects, released":    {VerdictReject, VerdictRelease, BreakerOpen, OpenedByRejects, 5 * time.Second},
		"rejects, rejected":    {VerdictReject, VerdictReject, BreakerOpen, OpenedByRejects, 5 * time.Second},
		"rejects, unsendable":  {VerdictReject, 0, BreakerOpen, OpenedByRejects, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTrial(t, 64)
			x.attempts(10, tc.opener)
			x.probe(tc.answer, 0)
			x.want(tc.state, tc.cause)
			if tc.next != 0 && x.wake.Sub(x.probeBegan) != tc.next {
				t.Errorf("next probe %v later, want %v", x.wake.Sub(x.probeBegan), tc.next)
			}
			if x.probing {
				t.Error("the slot was not given back")
			}
		})
	}
}

// A probe that never came to an answer leaves its turn to another record.
func TestBreakerProbeWithoutAnswer(t *testing.T) {
	t.Parallel()
	x := newTrial(t, 64)
	x.attempts(10, VerdictRelease)
	x.now = x.wake
	x.awake(x.now, false)
	x.end(x.beginProbe(x.now))
	if !x.due || x.probing || x.running != 0 {
		t.Errorf("due %v, probing %v, running %d; want the next one's turn", x.due, x.probing, x.running)
	}
}

func TestBreakerClimbs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		slots int
		ramps []int
	}{
		"64": {64, []int{1, 2, 4, 8, 16, 32, 64}},
		"20": {20, []int{1, 2, 4, 8, 16, 20}},
		"1":  {1, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTrial(t, tc.slots)
			x.attempts(10, VerdictRelease)
			x.probe(VerdictAccept, 0)
			for _, want := range tc.ramps {
				x.want(BreakerHalfOpen, OpenedByFailures)
				if x.room() != want {
					t.Fatalf("room for %d, want %d", x.room(), want)
				}
				x.attempts(want, VerdictAccept)
			}
			x.want(BreakerClosed, "")
			if x.window.sum.total() != 0 || !x.downSince.IsZero() {
				t.Errorf("closed with %v in the window, down since %v", x.window.sum, x.downSince)
			}
		})
	}
}

// How a climb goes on, with a ramp of 4.
func TestBreakerWhileHalfOpen(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		opener  Verdict
		history func(x *trial)
		state   BreakerState
		cause   BreakerCause
		ramp    int
	}{
		"half of a round fails": {VerdictRelease, func(x *trial) {
			x.attempts(2, VerdictRelease)
		}, BreakerOpen, OpenedByFailures, 4},
		"less than half fails": {VerdictRelease, func(x *trial) {
			x.attempts(1, VerdictRelease)
			x.attempts(3, VerdictAccept)
		}, BreakerHalfOpen, OpenedByFailures, 8},
		"some are rejected": {VerdictReject, func(x *trial) {
			x.attempts(3, VerdictReject)
			x.attempts(1, VerdictAccept)
		}, BreakerHalfOpen, OpenedByRejects, 8},
		"all are rejected again": {VerdictReject, func(x *trial) {
			x.attempts(4, VerdictReject)
		}, BreakerOpen, OpenedByRejects, 4},
		"all are rejected after failures": {VerdictRelease, func(x *trial) {
			x.attempts(8, VerdictReject)
		}, BreakerHalfOpen, OpenedByFailures, 4},
		"and again": {VerdictRelease, func(x *trial) {
			x.attempts(40, VerdictReject)
		}, BreakerOpen, OpenedByRejects, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTrial(t, 64)
			x.attempts(10, tc.opener)
			x.probe(VerdictAccept, 0)
			x.attempts(3, VerdictAccept)
			tc.history(x)
			x.want(tc.state, tc.cause)
			if x.ramp != tc.ramp {
				t.Errorf("ramp %d, want %d", x.ramp, tc.ramp)
			}
		})
	}
}

// An outage is no time in which an endpoint could have accepted: misrouted
// when it is back, it is still one that used to accept.
func TestBreakerRejectsAfterALongOutage(t *testing.T) {
	t.Parallel()
	x := newTrial(t, 64)
	x.attempts(100, VerdictAccept)
	x.pass(time.Minute)
	x.attempts(100, VerdictRelease)
	for x.now.Sub(x.start) < 3*time.Hour {
		x.probe(VerdictRelease, 0)
	}
	x.probe(VerdictReject, 0)
	x.want(BreakerHalfOpen, OpenedByFailures)
	x.attempts(10, VerdictReject)
	x.want(BreakerOpen, OpenedByRejects)
}

// Answers of attempts that began before the breaker changed change nothing.
func TestBreakerHeedsNoLateAnswers(t *testing.T) {
	t.Parallel()
	x := newTrial(t, 64)
	x.attempts(1, VerdictAccept)
	late := x.begin()
	later := x.begin()
	x.attempts(10, VerdictRelease)
	x.answered(late, VerdictAccept, x.now)
	x.end(late)
	x.want(BreakerOpen, OpenedByFailures)
	x.probe(VerdictAccept, 0)
	x.answered(later, VerdictRelease, x.now)
	x.end(later)
	x.want(BreakerHalfOpen, OpenedByFailures)
	if x.room() != 1 {
		t.Errorf("room %d, want 1", x.room())
	}
}

// With too few records for a climb the breaker closes all the same, but not
// while the ramp holds somebody back, nor while the endpoint rests.
func TestBreakerClosesWhenIdle(t *testing.T) {
	t.Parallel()
	x := newTrial(t, 64)
	x.attempts(10, VerdictRelease)
	x.probe(VerdictAccept, 0)
	slow := x.begin()
	look := func(times int, resting bool) {
		for range times {
			x.pass(slackLook)
			x.awake(x.now, resting)
		}
	}
	look(10, false)
	x.want(BreakerHalfOpen, OpenedByFailures)
	x.end(slow)
	look(10, true)
	x.want(BreakerHalfOpen, OpenedByFailures)
	look(2, false)
	x.want(BreakerClosed, "")
}

func TestNoBreaker(t *testing.T) {
	t.Parallel()
	x := newTrial(t, 1)
	x.breaker = newBreaker(Breaker{}, 1)
	x.attempts(1000, VerdictRelease)
	x.want(0, "")
	if x.room() != maxRoom || x.stats(x.now) != (BreakerStats{}) {
		t.Errorf("room %d, stats %+v", x.room(), x.stats(x.now))
	}
}
