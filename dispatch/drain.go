package dispatch

import (
	"context"
	"fmt"
	"time"
)

// Drain stops acquiring at once and starts nothing new. Attempts under way
// finish until ctx ends; then they are cut short. All else is given back, but
// dead letters that only we would write, which are written within ctx. Drain
// returns when nothing is held any more, though acknowledgements may not be
// confirmed yet; an error says that something was cut short. It may be called
// at any time and more than once.
func (e *Endpoint) Drain(ctx context.Context) error {
	e.beginDrain()
	select {
	case <-e.drained:
		return nil
	default:
	}
	select {
	case <-e.drained:
		return nil
	case <-ctx.Done():
	}
	attempts, letters := e.cutShort()
	<-e.drained
	if attempts+letters == 0 {
		return nil
	}
	return fmt.Errorf("drain endpoint: %d attempts and %d dead letters cut short: %w",
		attempts, letters, context.Cause(ctx))
}

// beginDrain gives back all that is not running. From then on nothing but dead
// letters is queued any more, so that a later call finds nothing to give back.
func (e *Endpoint) beginDrain() {
	e.mu.Lock()
	var idle []*delivery
	if first := !e.draining.Swap(true); first {
		e.stopAskLocked()
		for _, d := range e.takeIdleLocked() {
			if d.isLetter() {
				e.letters.push(d) // no wait: there is little time
			} else {
				idle = append(idle, d)
			}
		}
	}
	e.scheduleLocked()
	e.mu.Unlock()
	e.giveBack(idle)
}

// giveBack ends deliveries that no attempt is running for.
func (e *Endpoint) giveBack(idle []*delivery) {
	for _, d := range idle {
		s := e.standing(d, time.Now())
		if d.record.Lapsed() {
			e.leave(d, e.policy.onLapse(s))
		} else {
			e.leave(d, e.policy.onDrain(s))
		}
	}
}

// cutShort ends what still runs, and gives back the dead letters that had no
// turn. It says how many it met.
func (e *Endpoint) cutShort() (attempts, letters int) {
	e.mu.Lock()
	e.cut.Store(true)
	attempts, letters = e.inFlight, e.writing
	idle := e.takeIdleLocked()
	if e.stopWork != nil {
		e.stopWork(ErrStopped)
	}
	e.mu.Unlock()
	for _, d := range idle {
		letters++
		e.abandon(d)
		e.mu.Lock()
		e.endLocked(true)
		e.scheduleLocked()
		e.mu.Unlock()
	}
	return attempts, letters
}

// takeIdleLocked takes out all that neither runs nor is being written.
func (e *Endpoint) takeIdleLocked() (idle []*delivery) {
	all := func(*delivery) bool { return true }
	for _, q := range e.attemptsLocked() {
		idle = append(idle, q.take(all)...)
	}
	idle = append(idle, e.letters.take(all)...)
	return append(idle, e.waiting.take(all)...)
}

// drainedLocked says so, once.
func (e *Endpoint) drainedLocked() {
	select {
	case <-e.drained:
	default:
		close(e.drained)
	}
}
