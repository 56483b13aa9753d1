package dispatch

import "time"

const (
	// housekeeping is how often those that are held without anything running
	// are looked at, for lapsed locks and for time that has run out.
	housekeeping = time.Second
	// idleTicks is how many rounds of housekeeping a worker must have been
	// unneeded for before it is sent home.
	idleTicks = 10
)

// alarm is the endpoint's one timer: for the first wait to end, for the end of
// being held back, and for housekeeping while there is anything to keep.
type alarm struct {
	timer *time.Timer
	at    time.Time // when it goes off; zero: it is not set
	sweep time.Time // when housekeeping is due; zero: an idle endpoint has no timer
	ticks int       // rounds of housekeeping since the crew was trimmed
}

func (a *alarm) init(tick func()) {
	a.timer = time.AfterFunc(time.Hour, tick)
	a.timer.Stop()
}

func (a *alarm) stop() { a.timer.Stop() }

// earlier makes the alarm go off at t, if it does not go off before. A zero t
// is never.
func (a *alarm) earlier(t time.Time) {
	if t.IsZero() || !a.at.IsZero() && !t.Before(a.at) {
		return
	}
	a.at = t
	a.timer.Reset(time.Until(t))
}

// setAlarmLocked is on every record's path: the clock is asked once in a
// round of housekeeping only.
func (e *Endpoint) setAlarmLocked() {
	if e.crew.closed || e.alarm.timer == nil {
		return
	}
	if e.alarm.sweep.IsZero() && (e.held > 0 || e.crew.size > 0) {
		e.alarm.sweep = time.Now().Add(housekeeping)
	}
	e.alarm.earlier(e.waiting.due())
	e.alarm.earlier(e.heldTo)
	e.alarm.earlier(e.breaker.wake)
	e.alarm.earlier(e.throttle.wake)
	e.alarm.earlier(e.alarm.sweep)
}

// tick is the alarm going off.
func (e *Endpoint) tick() {
	e.mu.Lock()
	if e.crew.closed {
		e.mu.Unlock()
		return
	}
	e.crew.running.Add(1) // disband waits for us as well
	defer e.crew.running.Done()

	now := time.Now()
	e.alarm.at = time.Time{}
	if !e.heldTo.After(now) {
		e.heldTo = time.Time{}
	}
	e.throttle.awake(now)
	state := e.breaker.state
	e.breaker.awake(now, e.restingLocked())
	changed := state != e.breaker.state
	for d := e.waiting.popDue(now); d != nil; d = e.waiting.popDue(now) {
		e.queueLocked(d)
	}
	sweep := !e.alarm.sweep.IsZero() && !e.alarm.sweep.After(now)
	if sweep {
		e.alarm.sweep = time.Time{} // scheduling plans the next one
	}
	e.scheduleLocked() // before the sweep: who is due now is not late
	var out []*delivery
	if sweep {
		out = e.sweepLocked(now)
		e.setAlarmLocked()
	}
	e.mu.Unlock()
	if changed {
		e.announce()
	}
	e.putOut(out, now)
}

// sweepLocked takes out those that have no business here any more: their lock
// is lost, or their time is over. The next round comes as soon as the next
// one's time is.
func (e *Endpoint) sweepLocked(now time.Time) (out []*delivery) {
	next := now.Add(housekeeping)
	shut := e.shutLocked()
	lost := func(d *delivery) bool {
		if d.isLetter() {
			return false // writing looks for itself, and time does not count
		}
		// While attempts start, who was never tried keeps its turn. While none
		// do, so does who is on the last permitted delivery: it would be dead
		// though the endpoint might have taken it.
		expires := shut || d.outcome.Attempts > 0
		if shut && d.last {
			expires = false
		}
		if d.record.Lapsed() || expires && !d.deadline.After(now) {
			return true
		}
		if expires && d.deadline.Before(next) {
			next = d.deadline
		}
		return false
	}
	for _, q := range e.attemptsLocked() {
		out = append(out, q.take(lost)...)
	}
	out = append(out, e.waiting.take(lost)...)

	if e.alarm.ticks++; e.alarm.ticks >= idleTicks {
		e.alarm.ticks = 0
		e.crew.trim()
	}
	if next.Before(e.alarm.sweep) {
		e.alarm.sweep = next
	}
	return out
}

// putOut ends those that a sweep has taken out.
func (e *Endpoint) putOut(out []*delivery, now time.Time) {
	for _, d := range out {
		s := e.standing(d, now)
		if d.record.Lapsed() {
			e.leave(d, e.policy.onLapse(s))
			continue
		}
		if d.outcome.Attempts == 0 {
			d.outcome.Reason = e.closedReason()
		}
		e.leave(d, e.policy.release(s))
	}
}

// leave follows a decision outside of any worker.
func (e *Endpoint) leave(d *delivery, next decision) {
	ended := e.follow(d, next)
	e.mu.Lock()
	e.endLocked(ended)
	e.scheduleLocked()
	e.mu.Unlock()
}
