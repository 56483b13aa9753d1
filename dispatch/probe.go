package dispatch

import (
	"cmp"
	"time"
)

// Probes per record after which another record is asked for, so that one that
// the endpoint will never take does not keep a sound endpoint shut out.
const (
	patienceFailures = 3 // a probe costs a delivery only if it needs a record more
	patienceRejects  = 1 // a reject is the record's fault more often
)

// judge tells the breaker what came of an attempt of d, and returns why the
// breaker is open, if it is now. That is decided before anything else: other
// slots are being filled meanwhile.
func (e *Endpoint) judge(d *delivery, a Answer, now time.Time) BreakerCause {
	if !e.o.Breaker.Enabled {
		return ""
	}
	e.mu.Lock()
	was := e.breaker.state
	e.breaker.answered(d.permit, a.evidence(), now)
	var cause BreakerCause
	if e.breaker.open() {
		cause = e.breaker.cause
		if was != BreakerOpen {
			e.stopAskLocked()
		}
	}
	changed := was != e.breaker.state
	e.mu.Unlock()
	if changed {
		e.announce()
	}
	return cause
}

// announce tells the breaker's changes in their order, whoever made them.
func (e *Endpoint) announce() {
	e.announcing.Lock()
	defer e.announcing.Unlock()
	e.mu.Lock()
	changes := e.breaker.changes
	e.breaker.changes = nil
	e.mu.Unlock()
	for _, c := range changes {
		e.watched.BreakerChanged(c)
	}
}

// nextProbeLocked takes out who probes, if it is time for it; nil if it is not
// or there is nobody to do it.
func (e *Endpoint) nextProbeLocked() *delivery {
	if !e.breaker.due {
		return nil
	}
	d, _ := e.proberLocked()
	if d == nil || !e.throttle.take() {
		return nil
	}
	it := func(other *delivery) bool { return other == d }
	for _, q := range e.attemptsLocked() {
		q.take(it)
	}
	e.waiting.take(it)
	d.permit = e.breaker.beginProbe(time.Now())
	d.probes++
	return d
}

// proberLocked finds who should probe, and how many could.
func (e *Endpoint) proberLocked() (best *delivery, candidates int) {
	consider := func(d *delivery, waits bool) {
		if d.isLetter() || waits && d.asked {
			return // that wait is the endpoint's own wish
		}
		candidates++
		if best == nil || d.probesBefore(best) < 0 {
			best = d
		}
	}
	for _, q := range e.attemptsLocked() {
		for _, d := range q.items[q.head:] {
			consider(d, false)
		}
	}
	for _, d := range e.waiting.byDue {
		consider(d, true)
	}
	return best, candidates
}

// probesBefore compares two that could probe: who has done it least, nobody on
// the last permitted delivery if it can be helped, then who is due first.
func (d *delivery) probesBefore(other *delivery) int {
	if c := cmp.Compare(d.probes, other.probes); c != 0 {
		return c
	}
	if d.last != other.last {
		if other.last {
			return -1
		}
		return 1
	}
	return d.ready().Compare(other.ready())
}

// ready is since when d could be attempted, or from when on.
func (d *delivery) ready() time.Time {
	if d.due.IsZero() {
		return d.acquired
	}
	return d.due
}

// wantsProberLocked reports that one more record is needed to probe with.
func (e *Endpoint) wantsProberLocked() bool {
	if e.breaker.probing {
		return false
	}
	best, candidates := e.proberLocked()
	if best == nil {
		return e.breaker.due
	}
	patience := patienceFailures
	if e.breaker.cause == OpenedByRejects {
		patience = patienceRejects
	}
	return best.probes >= patience && candidates < e.o.Breaker.MinAttempts
}
