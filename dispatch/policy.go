package dispatch

import "time"

// policy decides what becomes of a delivery. It is pure: no clock, no lock,
// no state; only the length of a back-off is random.
type policy struct {
	retry     Retry
	byGateway bool // dead letters are written by us
}

// standing is where a delivery stands.
type standing struct {
	count   int32         // Kafka's delivery count
	limit   int32         // the group's delivery limit, 0 while unknown
	counted int           // attempts of this delivery that count against retry.attempts
	elapsed time.Duration // since the acquisition
	shut    BreakerCause  // why the breaker is open, as this attempt left it
}

// last reports that the broker will archive the record unless it is accepted.
func (s standing) last() bool { return s.limit > 0 && s.count >= s.limit }

// step is what happens next.
type step uint8

const (
	stepAcknowledge step = iota + 1
	stepWait             // then attempt again
	stepKeep             // attempt again when attempts start again
	stepDeadLetter       // write the dead letter, then reject
	stepGiveBack         // leave it to the closing of the session
	stepDrop             // the lock is lost: nothing can be said any more
)

// decision is a step and what it needs.
type decision struct {
	step            step
	acknowledgement Acknowledgement // stepAcknowledge
	deadLetter      DeadLetterCause // stepDeadLetter
	wait            Wait            // stepWait, stepKeep
}

// afterAnswer decides on the answer to an attempt, which is counted already.
func (p policy) afterAnswer(s standing, a Answer, draining bool) decision {
	switch {
	case a.Held && !draining:
		return p.hold(s, a)
	case a.Held:
		return p.onDrain(s)
	case a.Gone && !draining:
		return decision{step: stepKeep, wait: Wait{Cause: WaitPaused}}
	case a.Gone:
		return p.onDrain(s)
	case a.Verdict == VerdictAccept:
		return decision{step: stepAcknowledge, acknowledgement: Accept}
	case s.shut == OpenedByRejects && a.evidence() == VerdictReject:
		// Everything is rejected: that is no judgement of this record.
		return p.keep(s, a, draining)
	case a.Verdict == VerdictReject && p.byGateway:
		return decision{step: stepDeadLetter, deadLetter: CauseRejected}
	case a.Verdict == VerdictReject:
		return decision{step: stepAcknowledge, acknowledgement: Reject}
	case s.shut != "":
		return p.keep(s, a, draining)
	case draining:
		return p.onDrain(s)
	case s.counted >= p.retry.Attempts:
		return p.release(s)
	}
	return p.retryLater(s, a)
}

// hold waits until it is worth trying again to send anything at all.
func (p policy) hold(s standing, a Answer) decision {
	wait := max(a.RetryAfter, p.retry.InitialInterval)
	if wait > p.retry.MaxElapsedTime-s.elapsed && !s.last() {
		return p.release(s)
	}
	return decision{step: stepWait, wait: Wait{Cause: WaitHeld, For: wait}}
}

// keep holds on to a record that has met an endpoint which is shut out since:
// neither its attempts nor its deliveries are used up by that.
func (p policy) keep(s standing, a Answer, draining bool) decision {
	switch {
	case draining:
		return p.onDrain(s)
	case a.RetryAfter == 0:
		return decision{step: stepKeep, wait: Wait{Cause: WaitBreaker}}
	case a.RetryAfter > p.retry.MaxElapsedTime-s.elapsed && !s.last():
		return p.release(s)
	default:
		return decision{step: stepWait, wait: Wait{Cause: WaitRetryAfter, For: a.RetryAfter}}
	}
}

// retryLater waits inside the lock, or releases if the wait would end too late.
func (p policy) retryLater(s standing, a Answer) decision {
	wait := Wait{Cause: WaitBackOff, For: p.retry.backOff(p.stepsBefore(s) + s.counted)}
	if a.RetryAfter > wait.For {
		wait = Wait{Cause: WaitRetryAfter, For: a.RetryAfter}
	}
	if wait.For > p.retry.MaxElapsedTime-s.elapsed {
		return p.release(s)
	}
	return decision{step: stepWait, wait: wait}
}

// firstWait is how long a record waits before its first attempt: the back-off
// goes on across deliveries. It never takes more than half of the time that is
// left, so that each delivery comes to an attempt.
func (p policy) firstWait(s standing) time.Duration {
	before := p.stepsBefore(s)
	if before == 0 {
		return 0
	}
	left := max(0, p.retry.MaxElapsedTime-s.elapsed)
	return min(p.retry.backOff(before), left/2)
}

// stepsBefore is how many attempts earlier deliveries have made, taking it that
// each has made all of its own: Kafka does not say.
func (p policy) stepsBefore(s standing) int {
	return int(max(0, s.count-1)) * p.retry.Attempts
}

// release ends a delivery without acceptance. The broker would archive a
// record on its last permitted delivery; where it writes no dead letters, we
// must.
func (p policy) release(s standing) decision {
	if p.byGateway && s.last() {
		return decision{step: stepDeadLetter, deadLetter: CauseDeliveryLimit}
	}
	return decision{step: stepAcknowledge, acknowledgement: Release}
}

// onDrain gives a record back that no attempt is running for. Giving back
// counts as a delivery (Kafka 4.4), so the last one is as in release.
func (p policy) onDrain(s standing) decision {
	if d := p.release(s); d.step == stepDeadLetter {
		return d
	}
	return decision{step: stepGiveBack}
}

// onLapse drops a record whose lock is lost: the broker hands it out again.
// On its last permitted delivery the broker may have archived it instead; then
// a dead letter too many is better than none.
func (p policy) onLapse(s standing) decision {
	if d := p.release(s); d.step == stepDeadLetter {
		return d
	}
	return decision{step: stepDrop}
}
