package dispatch

import (
	"errors"
	"time"
)

var errLetterPanicked = errors.New("writing the dead letter panicked")

// writeLetter writes the dead letter of d and then rejects the record, and
// reports whether the delivery has ended. While writing fails the record is
// held, as long as it takes: rejected or released it might be lost.
func (e *Endpoint) writeLetter(d *delivery) (ended bool) {
	s := e.standing(d, time.Now())
	if d.record.Lapsed() && e.policy.onLapse(s).step == stepDrop {
		// It will be handed out again, and would get a second dead letter.
		return e.follow(d, decision{step: stepDrop})
	}
	err := e.save(d)
	switch {
	case err == nil:
		e.conclude(d, Reject)
		return true
	case e.cut.Load():
		return e.abandon(d)
	}
	d.unsaved++
	step := d.unsaved
	if e.draining.Load() {
		step = 1 // there is little time: no long waits
	}
	wait := Wait{Cause: WaitDeadLetter, For: e.o.Retry.backOff(step), Err: err}
	return e.follow(d, decision{step: stepWait, wait: wait})
}

// save writes the dead letter and turns a panic into an error: released
// because of it, a record that always panics would end without a trace.
func (e *Endpoint) save(d *delivery) (err error) {
	defer func() {
		if p := recover(); p != nil {
			logPanic(d.ctx, e.o.Logger, "dead letter", p)
			err = errLetterPanicked
		}
	}()
	d.outcome.Elapsed = time.Since(d.acquired)
	return e.o.DeadLetters.WriteDeadLetter(d.ctx, d.record, d.outcome)
}

// abandon gives d back because a drain has run out of time. It always ends.
func (e *Endpoint) abandon(d *delivery) (ended bool) {
	if d.isLetter() && d.last {
		e.o.Logger.ErrorContext(d.ctx, "record given back on its last permitted delivery without its dead letter;"+
			" the broker archives it: raise shutdown.grace",
			"cause", d.outcome.DeadLetter, "error", d.outcome.Cause)
	}
	return e.follow(d, decision{step: stepGiveBack})
}
