package dispatch

import "time"

// Pause keeps the endpoint from attempting and acquiring until Resume.
// Attempts under way go on. What is held stays held, at most for MaxElapsedTime
// since its acquisition; then it is released.
func (e *Endpoint) Pause() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.paused = true
	e.stopAskLocked()
}

// Resume ends a pause.
func (e *Endpoint) Resume() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.paused = false
	e.scheduleLocked()
}

// Rest is a pause for a reason of the caller's own. It is apart from Pause, so
// that its end does not resume an endpoint that is gone.
func (e *Endpoint) Rest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rests = true
	e.stopAskLocked()
}

// EndRest ends a rest.
func (e *Endpoint) EndRest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rests = false
	e.scheduleLocked()
}

// Paused reports whether the endpoint is paused or rests.
func (e *Endpoint) Paused() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.paused || e.rests
}

// mindEndpoint does what an answer asks of the whole endpoint.
func (e *Endpoint) mindEndpoint(a Answer, now time.Time) {
	if a.Gone {
		e.Pause()
	}
	if a.HoldEndpoint && a.RetryAfter > 0 {
		e.holdBack(now.Add(a.RetryAfter))
	}
}

// holdBack is a pause that ends by itself. Of several the longest counts:
// answers of attempts that ran side by side arrive in any order.
func (e *Endpoint) holdBack(until time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if until.After(e.heldTo) {
		e.heldTo = until
	}
	e.stopAskLocked()
	e.setAlarmLocked()
}

// closedReason says why nothing is attempted.
func (e *Endpoint) closedReason() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.paused, e.rests:
		return ReasonPaused
	case e.breaker.open():
		return ReasonBreaker
	default:
		return ReasonHeldBack
	}
}
