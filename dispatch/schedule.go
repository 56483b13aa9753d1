package dispatch

// restingLocked reports that no attempt may start and no record be acquired,
// whatever the breaker says.
func (e *Endpoint) restingLocked() bool {
	return e.paused || e.rests || !e.heldTo.IsZero() || e.draining.Load()
}

// shutLocked reports that nobody but a probe can have an attempt now.
func (e *Endpoint) shutLocked() bool { return e.restingLocked() || e.breaker.open() }

// attemptsLocked are the queues of those that could be attempted now.
func (e *Endpoint) attemptsLocked() [3]*fifo {
	return [...]*fifo{&e.last, &e.retries, &e.untried}
}

// queueLocked puts d among those that could go on now.
func (e *Endpoint) queueLocked(d *delivery) {
	switch {
	case d.isLetter():
		e.letters.push(d)
	case d.last:
		e.last.push(d)
	case !d.due.IsZero() || d.outcome.Attempts > 0:
		e.retries.push(d)
	default:
		e.untried.push(d)
	}
}

// nextLocked takes out who goes next, counted as running; nil if nobody can.
// Dead letters have slots of their own: a topic that cannot be written holds
// up those who are to go there and no attempt.
func (e *Endpoint) nextLocked() *delivery {
	if d := e.nextAttemptLocked(); d != nil {
		e.inFlight++
		return d
	}
	if e.writing < e.o.Concurrency {
		if d := e.letters.pop(); d != nil {
			e.writing++
			return d
		}
	}
	return nil
}

// nextAttemptLocked takes out whose attempt starts next; nil if none may.
func (e *Endpoint) nextAttemptLocked() *delivery {
	switch {
	case e.restingLocked() || e.inFlight >= e.o.Concurrency:
		return nil
	case e.breaker.open():
		return e.nextProbeLocked()
	case e.breaker.room() <= 0 || e.queuedLocked() == 0 || !e.throttle.take():
		return nil
	}
	for _, q := range e.attemptsLocked() {
		if d := q.pop(); d != nil {
			d.permit = e.breaker.begin()
			return d
		}
	}
	return nil
}

// scheduleLocked must be called after every change that could let something
// go on: it starts all that can, asks for records, sets the alarm, and sees
// whether a drain is over.
func (e *Endpoint) scheduleLocked() {
	for d := e.nextLocked(); d != nil; d = e.nextLocked() {
		w := e.crew.pick()
		if w == nil {
			w = e.hireLocked()
		}
		w.inbox <- d
	}
	e.askLocked()
	e.setAlarmLocked()
	if e.draining.Load() && e.held == 0 && !e.acquiring {
		e.drainedLocked()
	}
}

func (e *Endpoint) hireLocked() *worker {
	w := &worker{inbox: make(chan *delivery, 1)}
	e.crew.size++
	e.crew.running.Go(func() { e.work(w) })
	return w
}

// work does what comes into w's inbox until it is sent home.
func (e *Endpoint) work(w *worker) {
	for d := range w.inbox {
		if d.isLetter() {
			ended := e.writeLetter(d)
			e.mu.Lock()
			e.writing--
			e.endLocked(ended)
		} else {
			permit := d.permit
			took, ended := e.attempt(d)
			e.mu.Lock()
			e.inFlight--
			e.breaker.end(permit)
			if took > 0 {
				e.pace.add(took)
			}
			e.endLocked(ended)
		}
		if e.crew.closed {
			// Others ended what w had put back, before w came here.
			e.mu.Unlock()
			return
		}
		// Idle first, then schedule: if there is more to do, w itself is the
		// first to be picked, and finds it in its inbox without sleeping.
		e.crew.idle = append(e.crew.idle, w)
		e.scheduleLocked()
		e.mu.Unlock()
	}
}

// endLocked takes an ended delivery off those held.
func (e *Endpoint) endLocked(ended bool) {
	if ended {
		e.held--
	}
}
