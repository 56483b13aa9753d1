package dispatch

import (
	"context"
	"fmt"
	"time"
)

// delivery is one record from its acquisition to its outcome. Its fields
// belong to whoever has it in hand: the goroutine that took it out of a queue,
// or, while it is in one, whoever holds Endpoint.mu.
type delivery struct {
	record   Record
	ctx      context.Context //nolint:containedctx // no call lasts as long as a delivery: it passes from goroutine to goroutine
	acquired time.Time
	deadline time.Time // acquired + MaxElapsedTime
	due      time.Time // end of the latest wait; zero if it never waited
	asked    bool      // the endpoint asked for the latest wait

	permit  permit  // of the latest attempt
	probes  int     // attempts that were probes
	counted int     // attempts that count against Retry.Attempts
	unsaved int     // times that writing its dead letter failed
	last    bool    // was on its last permitted delivery when last looked at
	outcome Outcome // as it stands; Attempts counts every POST
}

// isLetter reports that the dead letter is all that is left to do.
func (d *delivery) isLetter() bool { return d.outcome.DeadLetter != "" }

// standing looks at the record as it is now.
func (e *Endpoint) standing(d *delivery, now time.Time) standing {
	s := standing{
		count:   d.record.DeliveryCount(),
		limit:   e.o.MaxDeliveries(),
		counted: d.counted,
		elapsed: now.Sub(d.acquired),
	}
	d.last = s.last()
	return s
}

// attempt makes the next attempt of d. took is how long the POST lasted, 0 if
// there was none; ended whether the delivery has ended with it.
func (e *Endpoint) attempt(d *delivery) (took time.Duration, ended bool) {
	start := time.Now()
	switch {
	case d.record.Lapsed():
		return 0, e.follow(d, e.policy.onLapse(e.standing(d, start)))
	case e.draining.Load(): // begun while d was on its way to this worker
		return 0, e.follow(d, e.policy.onDrain(e.standing(d, start)))
	case d.outcome.Attempts > 0 && start.After(d.deadline) && !d.last:
		// It was due in time but found no free slot. One that was never tried
		// is: each delivery comes to an attempt. So does the last one, which
		// may have been kept while the endpoint was shut out.
		return 0, e.follow(d, e.policy.release(e.standing(d, start)))
	}

	answer, panicked := e.post(d, d.outcome.Attempts+1)
	end := time.Now()
	took = max(end.Sub(start), 1)
	e.mindStop(&answer)
	e.mindEndpoint(answer, end) // first of all: other slots are being filled meanwhile
	shut := e.judge(d, answer, end)
	d.note(answer)
	e.watched.Attempted(d.ctx, d.record, d.outcome.Attempts, answer)

	s := e.standing(d, end)
	s.shut = shut
	if panicked {
		return took, e.follow(d, e.policy.release(s)) // it would panic again
	}
	return took, e.follow(d, e.policy.afterAnswer(s, answer, e.draining.Load()))
}

// post makes attempt n and turns a panic into an answer.
func (e *Endpoint) post(d *delivery, n int) (a Answer, panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			logPanic(d.ctx, e.o.Logger, "attempt", p)
			a = Answer{Verdict: VerdictRelease, Reason: ReasonInternal, Cause: fmt.Errorf("attempt %d panicked", n)}
			panicked = true
		}
	}()
	a = e.o.Attempter.Attempt(d.ctx, d.record, n)
	if a.Verdict == 0 {
		a.Verdict, a.Reason = VerdictRelease, ReasonInternal
	}
	return a, false
}

// mindStop sees to it that an attempt which a drain cut short says so, and
// names no fault of the endpoint. An answer that came all the same is valid.
func (e *Endpoint) mindStop(a *Answer) {
	if e.cut.Load() && a.Verdict == VerdictRelease && a.Status == 0 {
		a.Reason = ReasonStopped
	}
}

// note remembers the answer for the outcome.
func (d *delivery) note(a Answer) {
	if !a.Held {
		d.outcome.Attempts++
	}
	if !a.Held && !a.Gone && !d.permit.probe { // neither a pause nor a probe is a failure of the record
		d.counted++
	}
	d.outcome.Verdict, d.outcome.Reason, d.outcome.Status = a.Verdict, a.Reason, a.Status
	d.outcome.Excerpt, d.outcome.Cause = a.Excerpt, a.Cause
}

// follow does what was decided and reports whether the delivery has ended.
// If it has not, d is in other hands and must not be touched any more.
func (e *Endpoint) follow(d *delivery, next decision) (ended bool) {
	switch next.step {
	case stepAcknowledge:
		e.conclude(d, next.acknowledgement)
		return true
	case stepGiveBack:
		d.outcome.Interrupted = true
		e.conclude(d, 0)
		return true
	case stepDrop:
		d.outcome.Lapsed = true
		e.conclude(d, 0)
		return true
	case stepDeadLetter:
		d.outcome.DeadLetter = next.deadLetter
		return e.park(d, 0)
	case stepWait, stepKeep:
		e.watched.Waiting(d.ctx, d.record, next.wait)
		d.asked = next.wait.Cause == WaitRetryAfter
		return e.park(d, next.wait.For)
	default:
		panic(fmt.Sprintf("dispatch: unknown step %d", next.step))
	}
}

// conclude ends d, with an acknowledgement unless it is zero. The caller takes
// it off those held.
func (e *Endpoint) conclude(d *delivery, a Acknowledgement) {
	d.outcome.Acknowledgement = a
	d.outcome.Elapsed = time.Since(d.acquired)
	if a == 0 {
		d.outcome.DeadLetter = ""
		e.watched.Finished(d.ctx, d.record, d.outcome, nil)
		return
	}
	d.record.Acknowledge(a, func(err error) {
		e.watched.Finished(d.ctx, d.record, d.outcome, err)
	})
}

// park puts d back until wait has passed, and reports that it has ended
// instead if a drain, having begun meanwhile, leaves no place for it.
func (e *Endpoint) park(d *delivery, wait time.Duration) (ended bool) {
	e.mu.Lock()
	switch {
	case e.cut.Load():
		e.mu.Unlock()
		return e.abandon(d)
	case e.draining.Load() && !d.isLetter():
		e.mu.Unlock()
		return e.follow(d, e.policy.onDrain(e.standing(d, time.Now())))
	default:
		d.due = time.Now().Add(wait)
		if wait > 0 {
			e.waiting.push(d)
		} else {
			e.queueLocked(d)
		}
	}
	e.mu.Unlock()
	return false
}
