package dispatch

import (
	"context"
	"fmt"
	"time"
)

// acquire brings records in until a drain begins, ctx ends or the source is
// closed, which is its only error. Deliveries get their contexts from work.
func (e *Endpoint) acquire(ctx, work context.Context) error {
	for {
		room, ask, done := e.awaitRoom(ctx)
		if room == 0 {
			return nil
		}
		records, err := e.o.Source.Acquire(ask, room)
		stopped := ask.Err() != nil // by a pause, a drain or the end of ctx
		done()
		e.take(work, records)
		if err != nil && !stopped {
			return fmt.Errorf("acquire records: %w", err)
		}
	}
}

// awaitRoom waits until records are wanted and says how many, with a context
// that ends when they are not wanted any more. Room is 0 when they never will
// be again.
func (e *Endpoint) awaitRoom(ctx context.Context) (room int, ask context.Context, done context.CancelFunc) {
	for ctx.Err() == nil {
		e.mu.Lock()
		// All under one lock: a drain or pause that comes after the look at
		// it finds either the Acquire that it has to stop, or the sleeper
		// that it has to wake.
		if e.draining.Load() {
			e.mu.Unlock()
			break
		}
		if room := e.roomLocked(); room > 0 {
			ask, done := context.WithCancel(ctx)
			e.stopAsk = done
			e.mu.Unlock()
			return room, ask, done
		}
		e.parched = true
		e.setAlarmLocked() // a rate limit may have room later
		e.mu.Unlock()
		select {
		case <-e.refill:
		case <-ctx.Done():
		}
	}
	return 0, nil, nil
}

// roomLocked is how many records are wanted now.
func (e *Endpoint) roomLocked() int {
	wanted := 0
	switch {
	case e.restingLocked():
	case !e.breaker.open():
		wanted = e.usefulLocked()
	case e.wantsProberLocked():
		wanted = 1
	}
	return max(0, min(e.o.MaxHeld-e.held, wanted))
}

// usefulLocked is how many records would start soon. Acquiring is dear for the
// broker and is done few and large: not before half of what is held ahead has
// been used up.
func (e *Endpoint) usefulLocked() int {
	soon := e.throttle.soon()
	ahead := min(e.aheadLocked(), soon)
	queued := e.queuedLocked()
	if queued > ahead/2 {
		return 0
	}
	free := min(e.o.Concurrency-e.inFlight, e.breaker.room())
	return min(free+ahead, soon) - queued
}

// aheadLocked is how many records to hold that no slot is free for. While the
// endpoint may be down or the route wrong, each would be held for nothing.
func (e *Endpoint) aheadLocked() int {
	switch {
	case !e.breaker.calm():
		return 0
	case e.o.ReadAheadAuto:
		return e.pace.ahead(e.o.Concurrency)
	default:
		return e.o.ReadAhead
	}
}

// queuedLocked counts those that could be attempted now.
func (e *Endpoint) queuedLocked() int {
	return e.last.len() + e.retries.len() + e.untried.len()
}

// askLocked wakes the acquiring goroutine if it sleeps and there is room.
func (e *Endpoint) askLocked() {
	if !e.parched || !e.draining.Load() && e.roomLocked() == 0 {
		return
	}
	e.parched = false
	e.refill <- struct{}{} // never blocks: one call for one sleep
}

// stopAskLocked stops the Acquire under way, if any. What it brings all the
// same is taken and held, or given back if this is a drain.
func (e *Endpoint) stopAskLocked() {
	if e.stopAsk != nil {
		e.stopAsk()
	}
}

// take begins a delivery for each record.
func (e *Endpoint) take(work context.Context, records []Record) {
	if len(records) == 0 {
		return
	}
	limit := e.o.MaxDeliveries()
	now := time.Now()
	deliveries := make([]*delivery, len(records))
	for i, r := range records {
		deliveries[i] = e.begin(work, r, limit, now)
	}

	e.mu.Lock()
	e.held += len(deliveries)
	back := deliveries[:0]
	for _, d := range deliveries {
		switch {
		case e.draining.Load():
			back = append(back, d)
		case d.due.After(now):
			e.waiting.push(d)
		default:
			e.queueLocked(d)
		}
	}
	e.scheduleLocked()
	e.mu.Unlock()
	e.giveBack(back)
}

// begin makes a delivery of r, which is not yet known to anybody else.
func (e *Endpoint) begin(work context.Context, r Record, limit int32, now time.Time) *delivery {
	acquired := r.Acquired()
	d := &delivery{
		record:   r,
		ctx:      e.watched.Started(work, r),
		acquired: acquired,
		deadline: acquired.Add(e.o.Retry.MaxElapsedTime),
	}
	s := standing{count: r.DeliveryCount(), limit: limit, elapsed: now.Sub(acquired)}
	d.last = s.last()
	if wait := e.policy.firstWait(s); wait > 0 && !e.draining.Load() {
		d.due = now.Add(wait)
		e.watched.Waiting(d.ctx, r, Wait{Cause: WaitRedelivery, For: wait})
	}
	return d
}
