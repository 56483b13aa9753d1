package dispatch

import (
	"testing"
	"time"
)

func acknowledge(a Acknowledgement) decision {
	return decision{step: stepAcknowledge, acknowledgement: a}
}

func deadLetter(c DeadLetterCause) decision {
	return decision{step: stepDeadLetter, deadLetter: c}
}

func waits(c WaitCause, d time.Duration) decision {
	return decision{step: stepWait, wait: Wait{Cause: c, For: d}}
}

func TestPolicyAfterAnswer(t *testing.T) {
	t.Parallel()
	held := Answer{Verdict: VerdictRelease, Held: true, Reason: ReasonAuth, RetryAfter: 7 * time.Second}
	gone := Answer{Verdict: VerdictReject, Gone: true, Status: 410}
	after := func(d time.Duration) Answer { a := failure; a.RetryAfter = d; return a }
	first := standing{count: 1, limit: 10, counted: 1}
	last := standing{count: 10, limit: 10, counted: 1}
	spent := standing{count: 1, limit: 10, counted: 3}
	lastSpent := standing{count: 10, limit: 10, counted: 3}
	late := standing{count: 1, limit: 10, counted: 1, elapsed: 10*time.Minute - 500*time.Millisecond}
	justIn := standing{count: 1, limit: 10, counted: 1, elapsed: 10*time.Minute - time.Second}

	for _, tc := range []struct {
		name      string
		s         standing
		answer    Answer
		byGateway bool
		draining  bool
		want      decision
	}{
		{name: "accept", s: first, answer: ok, want: acknowledge(Accept)},
		{name: "accept while draining", s: first, answer: ok, draining: true, want: acknowledge(Accept)},
		{name: "accept on the last delivery", s: lastSpent, answer: ok, byGateway: true, want: acknowledge(Accept)},

		{name: "reject", s: first, answer: refusal, want: acknowledge(Reject)},
		{name: "reject by gateway", s: first, answer: refusal, byGateway: true, want: deadLetter(CauseRejected)},
		{name: "reject while draining", s: first, answer: refusal, draining: true, want: acknowledge(Reject)},
		{name: "reject by gateway while draining", s: first, answer: refusal, byGateway: true, draining: true, want: deadLetter(CauseRejected)},
		{name: "reject on the last delivery", s: last, answer: refusal, byGateway: true, want: deadLetter(CauseRejected)},

		{name: "release, first attempt", s: first, answer: failure, want: waits(WaitBackOff, time.Second)},
		{name: "release, second attempt", s: standing{count: 1, counted: 2}, answer: failure, want: waits(WaitBackOff, 2*time.Second)},
		{name: "release, second delivery", s: standing{count: 2, counted: 1}, answer: failure, want: waits(WaitBackOff, 8*time.Second)},
		{name: "release, at the longest interval", s: standing{count: 9, counted: 2}, answer: failure, want: waits(WaitBackOff, 30*time.Second)},
		{name: "release, none left", s: spent, answer: failure, want: acknowledge(Release)},
		{name: "release, none left, by gateway", s: spent, answer: failure, byGateway: true, want: acknowledge(Release)},
		{name: "release, time ends with the wait", s: justIn, answer: failure, want: waits(WaitBackOff, time.Second)},
		{name: "release, time ends before the wait", s: late, answer: failure, want: acknowledge(Release)},
		{name: "release, none left, last, by broker", s: lastSpent, answer: failure, want: acknowledge(Release)},
		{name: "release, none left, last, by gateway", s: lastSpent, answer: failure, byGateway: true, want: deadLetter(CauseDeliveryLimit)},
		{name: "release, none left, limit unknown", s: standing{count: 99, counted: 3}, answer: failure, byGateway: true, want: acknowledge(Release)},
		{name: "release, none left, limit lowered", s: standing{count: 7, limit: 5, counted: 3}, answer: failure, byGateway: true, want: deadLetter(CauseDeliveryLimit)},
		{name: "release, attempts left, last, by gateway", s: standing{count: 2, limit: 2, counted: 1}, answer: failure, byGateway: true, want: waits(WaitBackOff, 8*time.Second)},
		{name: "release while draining", s: first, answer: failure, draining: true, want: decision{step: stepGiveBack}},
		{name: "release while draining, none left", s: spent, answer: failure, draining: true, want: decision{step: stepGiveBack}},
		{name: "release while draining, last, by broker", s: last, answer: failure, draining: true, want: decision{step: stepGiveBack}},
		{name: "release while draining, last, by gateway", s: last, answer: failure, byGateway: true, draining: true, want: deadLetter(CauseDeliveryLimit)},

		{name: "retry-after, longer", s: first, answer: after(7 * time.Second), want: waits(WaitRetryAfter, 7*time.Second)},
		{name: "retry-after, shorter", s: first, answer: after(time.Millisecond), want: waits(WaitBackOff, time.Second)},
		{name: "retry-after, too long", s: first, answer: after(11 * time.Minute), want: acknowledge(Release)},
		{name: "retry-after, too long, last, by gateway", s: last, answer: after(11 * time.Minute), byGateway: true, want: deadLetter(CauseDeliveryLimit)},
		{name: "retry-after, none left", s: spent, answer: after(time.Second), want: acknowledge(Release)},

		{name: "held", s: first, answer: held, want: decision{step: stepWait, wait: Wait{Cause: WaitHeld, For: 7 * time.Second}}},
		{name: "held, attempts used up", s: spent, answer: held, want: decision{step: stepWait, wait: Wait{Cause: WaitHeld, For: 7 * time.Second}}},
		{name: "held, draining", s: first, answer: held, draining: true, want: decision{step: stepGiveBack}},
		{name: "gone", s: first, answer: gone, want: decision{step: stepKeep, wait: Wait{Cause: WaitPaused}}},
		{name: "gone, none left", s: lastSpent, answer: gone, byGateway: true, want: decision{step: stepKeep, wait: Wait{Cause: WaitPaused}}},
		{name: "gone while draining", s: first, answer: gone, draining: true, want: decision{step: stepGiveBack}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := policy{retry: exactly, byGateway: tc.byGateway}
			if got := p.afterAnswer(tc.s, tc.answer, tc.draining); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestPolicyWithoutAnAttempt(t *testing.T) {
	t.Parallel()
	middle := standing{count: 2, limit: 10}
	last := standing{count: 10, limit: 10}
	for _, tc := range []struct {
		name      string
		decide    func(policy, standing) decision
		s         standing
		byGateway bool
		want      decision
	}{
		{"time over", policy.release, middle, true, acknowledge(Release)},
		{"time over, last", policy.release, last, true, deadLetter(CauseDeliveryLimit)},
		{"time over, last, by broker", policy.release, last, false, acknowledge(Release)},
		{"drain", policy.onDrain, middle, true, decision{step: stepGiveBack}},
		{"drain, last", policy.onDrain, last, true, deadLetter(CauseDeliveryLimit)},
		{"drain, last, by broker", policy.onDrain, last, false, decision{step: stepGiveBack}},
		{"lapsed", policy.onLapse, middle, true, decision{step: stepDrop}},
		{"lapsed, last", policy.onLapse, last, true, deadLetter(CauseDeliveryLimit)},
		{"lapsed, last, by broker", policy.onLapse, last, false, decision{step: stepDrop}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := tc.decide(policy{retry: exactly, byGateway: tc.byGateway}, tc.s); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestPolicyFirstWait(t *testing.T) {
	t.Parallel()
	hasty := exactly
	hasty.MaxElapsedTime = 10 * time.Second
	for _, tc := range []struct {
		name  string
		retry Retry
		s     standing
		want  time.Duration
	}{
		{"first delivery", exactly, standing{count: 1}, 0},
		{"no count", exactly, standing{count: 0}, 0},
		{"second, as before attempt 4", exactly, standing{count: 2}, 4 * time.Second},
		{"third, as before attempt 7", exactly, standing{count: 3}, 30 * time.Second},
		{"hundredth", exactly, standing{count: 100}, 30 * time.Second},
		{"half of the time that is left", hasty, standing{count: 3, elapsed: 2 * time.Second}, 4 * time.Second},
		{"no time left", hasty, standing{count: 3, elapsed: time.Minute}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := (policy{retry: tc.retry}).firstWait(tc.s); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
