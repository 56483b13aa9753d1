package dispatch

import "time"

const (
	// minProbeInterval is the least time between the beginnings of two probes.
	minProbeInterval = time.Second
	// cooldownStep is how long an endpoint must have been down for the
	// cooldown to double once more. Doubled after each failed probe it would
	// soon let an endpoint that is back wait longer than it was away; as it
	// is, after an outage of a minute the first cooldown still holds.
	cooldownStep = 90 * time.Second
	// slackLook is how often a half-open breaker looks whether its ramp holds
	// anybody back.
	slackLook = 500 * time.Millisecond
	// rejectMemory is for how long an endpoint may go on without accepting
	// until its rejects are taken for its way of life.
	rejectMemory = time.Hour
)

// breaker decides how many attempts may run, from the verdicts of earlier
// ones. It has no lock and no clock: Endpoint.mu guards it, and each call says
// what time it is. The zero breaker lets everything pass.
type breaker struct {
	o     Breaker
	slots int // Options.Concurrency

	state BreakerState
	cause BreakerCause
	since time.Time
	// downSince is when it opened first since it was closed; zero: closed.
	downSince time.Time

	// generation changes when the breaker opens and when it half-opens. What
	// an attempt of an earlier one is answered says nothing about now.
	generation uint64
	running    int // attempts of this generation

	// wake is when something is due without an answer: the next probe while
	// open, the next look while half-open. Zero: nothing, as while closed.
	wake time.Time

	window  window // closed, half-open
	ramp    int    // half-open: attempts that may run
	round   tally  // half-open: verdicts since the ramp was last changed
	pressed bool   // half-open: the ramp has held somebody back since the last look

	due        bool // open: a probe may begin
	probing    bool // open: one is under way
	probeBegan time.Time

	accepted bool // the endpoint has accepted once
	// unaccepting is when the first answer came that was no accept after the
	// last one that was; zero: none since. Time without traffic must not make
	// an endpoint that used to accept look like one that never does.
	unaccepting time.Time

	changes []BreakerChange // to be told
}

// permit is what an attempt starts with.
type permit struct {
	generation uint64
	probe      bool
}

func newBreaker(o Breaker, slots int) breaker {
	if !o.Enabled {
		return breaker{}
	}
	return breaker{o: o, slots: slots, state: BreakerClosed, window: newWindow(o.Window)}
}

func (b *breaker) open() bool { return b.state == BreakerOpen }

// calm reports that nothing speaks against acquiring ahead of the attempts.
func (b *breaker) calm() bool {
	return b.state == 0 || b.state == BreakerClosed && b.accepted
}

// room is how many more attempts may start now, probes aside.
func (b *breaker) room() int {
	switch {
	case b.calm():
		return maxRoom
	case b.state == BreakerHalfOpen:
		return b.ramp - b.running
	case b.state == BreakerClosed:
		// Nothing was accepted so far. No more attempts than it takes to open
		// are answered or under way, so that no more records than those are
		// lost to a wrong route; but always one, or nobody would find out.
		return max(1, b.o.MinAttempts-b.window.sum.total()) - b.running
	default:
		return 0
	}
}

// begin counts an attempt that starts.
func (b *breaker) begin() permit {
	b.running++
	b.pressed = b.pressed || b.running >= b.ramp
	return permit{generation: b.generation}
}

// beginProbe is begin while the breaker is open.
func (b *breaker) beginProbe(now time.Time) permit {
	b.running++
	b.due, b.probing, b.probeBegan = false, true, now
	return permit{generation: b.generation, probe: true}
}

// end takes the slot of an attempt back, however it ended. A probe that came
// to no answer leaves its turn to the next record.
func (b *breaker) end(p permit) {
	if p.generation != b.generation {
		return
	}
	b.running--
	if p.probe && b.probing {
		b.probing, b.due = false, true
	}
}

// answered draws the conclusions from an attempt's verdict, which is zero if
// it says nothing about the endpoint.
func (b *breaker) answered(p permit, v Verdict, now time.Time) {
	b.remember(v, now)
	if p.generation != b.generation {
		return
	}
	switch {
	case p.probe:
		b.probed(v, now)
	case v == 0:
	case b.state == BreakerClosed:
		b.window.add(v, now)
		if cause := b.floods(now); cause != "" {
			b.goOpen(cause, now)
		}
	case b.state == BreakerHalfOpen:
		b.climb(v, now)
	}
}

// remember notes when the endpoint has accepted.
func (b *breaker) remember(v Verdict, now time.Time) {
	switch {
	case v == VerdictAccept:
		b.accepted, b.unaccepting = true, time.Time{}
	case v != 0 && b.unaccepting.IsZero():
		b.unaccepting = now
	}
}

// minds reports that rejects are taken for a fault of the route: the endpoint
// used to accept until an hour ago, or never has. An outage is no time in which
// it could have.
func (b *breaker) minds(now time.Time) bool {
	if !b.downSince.IsZero() {
		now = b.downSince
	}
	return !b.accepted || b.unaccepting.IsZero() || now.Sub(b.unaccepting) <= rejectMemory
}

// floods tells why to open, if there is a reason in the window: the share of a
// verdict in it, or that nothing else came lately. The window of a busy
// endpoint takes long to fill with failures, and by then much harm is done; as
// many in a row as can be in flight and MinAttempts more are no accident.
func (b *breaker) floods(now time.Time) BreakerCause {
	flood := func(v Verdict, ratio float64) bool {
		return b.window.sum.total() >= b.o.MinAttempts && b.window.sum.reaches(v, ratio, 0) ||
			b.window.lately(v) >= b.o.MinAttempts+b.slots
	}
	switch {
	case flood(VerdictRelease, b.o.FailureRatio):
		return OpenedByFailures
	case flood(VerdictReject, b.o.RejectRatio) && b.minds(now):
		return OpenedByRejects
	default:
		return ""
	}
}

// climb doubles the ramp after a round of as many answers that went well
// enough. It opens again when the round cannot go well any more: an endpoint
// that always fails a little must come back as well.
func (b *breaker) climb(v Verdict, now time.Time) {
	b.window.add(v, now)
	b.round[v]++
	switch cause := b.floods(now); {
	case cause != "":
		b.goOpen(cause, now)
	case b.round.reaches(VerdictRelease, b.o.FailureRatio, b.ramp):
		b.goOpen(OpenedByFailures, now)
	case b.cause == OpenedByRejects && b.round.reaches(VerdictReject, b.o.RejectRatio, b.ramp):
		b.goOpen(OpenedByRejects, now)
	case b.round.total() < b.ramp:
	case b.round[VerdictAccept] == 0 && b.minds(now):
		b.round = tally{} // it lives, but that is all it has shown
	case b.ramp == b.slots:
		b.goClosed(now)
	default:
		b.ramp, b.round = min(2*b.ramp, b.slots), tally{}
	}
}

// probed draws the conclusion from a probe's answer. A reject shows that the
// endpoint is back, unless rejects are what it is kept away from for.
func (b *breaker) probed(v Verdict, now time.Time) {
	b.probing = false
	wait := b.cooldown(now)
	switch {
	case v == VerdictAccept, v == VerdictReject && b.cause == OpenedByFailures:
		b.goHalfOpen(now)
		return
	case v == 0:
		wait = 0 // nothing learned: the next record's turn
	}
	// From its beginning, so that an endpoint which hangs is not asked less
	// often than one which refuses.
	b.wake = b.probeBegan.Add(max(wait, minProbeInterval))
}

// cooldown doubles with each minute and a half since the endpoint went down.
func (b *breaker) cooldown(now time.Time) time.Duration {
	wait := b.o.Cooldown
	for down := now.Sub(b.downSince); down >= cooldownStep && wait < b.o.MaxCooldown; down -= cooldownStep {
		wait *= 2
	}
	return max(min(wait, b.o.MaxCooldown), minProbeInterval)
}

// awake does what is due by itself. While the endpoint rests for another
// reason nothing can be told from how little runs.
func (b *breaker) awake(now time.Time, resting bool) {
	if b.wake.IsZero() || b.wake.After(now) {
		return
	}
	b.wake = time.Time{}
	switch slack := !b.pressed && !resting; {
	case b.open():
		b.due = true
	case slack: // there are too few records to climb any higher
		b.goClosed(now)
	default:
		b.pressed = b.running >= b.ramp
		b.wake = now.Add(slackLook)
	}
}

func (b *breaker) goOpen(cause BreakerCause, now time.Time) {
	if b.downSince.IsZero() {
		b.downSince = now
	}
	b.cause = cause
	b.enter(BreakerOpen, now)
	b.outdate()
	b.wake = now.Add(b.cooldown(now))
}

func (b *breaker) goHalfOpen(now time.Time) {
	b.enter(BreakerHalfOpen, now)
	b.outdate()
	b.window = newWindow(b.o.Window)
	b.ramp, b.round, b.pressed = 1, tally{}, true
	b.wake = now.Add(slackLook)
}

// goClosed outdates nothing: what runs now is as good as what follows.
func (b *breaker) goClosed(now time.Time) {
	b.enter(BreakerClosed, now)
	b.cause, b.downSince = "", time.Time{}
	b.window = newWindow(b.o.Window)
}

func (b *breaker) enter(to BreakerState, now time.Time) {
	change := BreakerChange{From: b.state, To: to, Cause: b.cause, Down: now.Sub(b.downSince)}
	if to == BreakerOpen {
		change.Cooldown = b.cooldown(now)
	}
	b.changes = append(b.changes, change)
	b.state, b.since = to, now
	b.wake, b.due, b.probing = time.Time{}, false, false
}

// outdate begins a new generation.
func (b *breaker) outdate() {
	b.generation++
	b.running = 0
}

func (b *breaker) stats(now time.Time) BreakerStats {
	s := BreakerStats{State: b.state, Cause: b.cause, Since: b.since}
	if b.open() {
		s.NextProbe, s.Cooldown, s.Probing = b.wake, b.cooldown(now), b.probing
	}
	return s
}
