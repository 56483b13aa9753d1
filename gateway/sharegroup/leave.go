package sharegroup

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// settlePoll is how often Leave looks whether the broker has confirmed
// everything. The answers come one by one, on kgo's goroutine.
const settlePoll = 2 * time.Millisecond

// StopAcquiring ends acquiring for good: Acquire returns ErrLeft, nothing new
// is fetched. What is held stays held, its locks are kept, and it can still be
// acknowledged. It may be called more than once.
func (g *Group) StopAcquiring() {
	g.mu.Lock()
	first := !g.leaving
	g.leaving = true
	g.want = 0
	g.mu.Unlock()
	if first {
		close(g.stop)
		g.wake()
	}
}

// Leave waits until the broker has confirmed what was acknowledged, gives back
// the rest by closing the sessions (on Kafka 4.4 that costs each record a
// delivery, as an explicit release would), and leaves the group. All of it
// ends with ctx. It is to be called once.
func (g *Group) Leave(ctx context.Context) error {
	g.StopAcquiring()
	g.awaitAnswers(ctx)
	// kgo turns a renewal that it has not sent into a release: none is made
	// from here on, as the keeper ends first.
	close(g.quit)
	errs := make([]error, len(g.members))
	done := make(chan int, len(g.members))
	for i, m := range g.members {
		go func() {
			if err := m.leave(ctx); err != nil {
				errs[i] = fmt.Errorf("leave share group %q: %w", g.opts.Group, err)
			}
			done <- i
		}()
	}
	for range g.members {
		<-done
	}
	g.wg.Wait()
	g.abandon()
	return errors.Join(errs...)
}

// awaitAnswers waits for the answers to all final acknowledgements.
func (g *Group) awaitAnswers(ctx context.Context) {
	ticker := time.NewTicker(settlePoll)
	defer ticker.Stop()
	for g.undecided() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// undecided says whether a final acknowledgement is waiting or under way.
func (g *Group) undecided() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.held {
		if r.decided != 0 {
			return true
		}
	}
	return false
}

// abandon ends all records that are still held: the broker has them back.
func (g *Group) abandon() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.held {
		g.remove(r)
		if r.decided != 0 && r.done != nil {
			go r.done(ErrLeft)
			r.done = nil
		}
	}
	g.arrived = nil
}
