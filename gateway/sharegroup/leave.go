package sharegroup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
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

// releaseWait bounds the wait for renewals under way before a release.
const releaseWait = time.Second

// Leave waits until the broker has confirmed what was acknowledged, gives back
// the rest (on Kafka 4.4 that costs each record a delivery), and leaves the
// group. All of it ends with ctx. It is to be called once.
func (g *Group) Leave(ctx context.Context) error {
	g.StopAcquiring()
	// A partition whose leader is down must not use up all the time: the
	// sessions with the other brokers are to be closed as well.
	confirmed, cancel := halfOf(ctx)
	g.await(confirmed, g.undecided)
	cancel()
	g.stopRenewing()
	renewed, cancel := context.WithTimeout(ctx, releaseWait)
	g.await(renewed, g.unanswered)
	cancel()
	// kgo turns a renewal that it has not sent into a release: none is made
	// from here on, as the keeper ends first.
	close(g.quit)
	g.release()
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

// halfOf is a context that ends when half of ctx's time is over.
func halfOf(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(end)/2)
	}
	return context.WithCancel(ctx)
}

// await waits while something holds.
func (g *Group) await(ctx context.Context, holds func() bool) {
	ticker := time.NewTicker(settlePoll)
	defer ticker.Stop()
	for holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// stopRenewing makes no renewals from here on, and drops those that wait.
func (g *Group) stopRenewing() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closing = true
	for _, m := range g.members {
		for _, l := range m.ledgers {
			l.waiting = slices.DeleteFunc(l.waiting, func(e entry) bool {
				if e.status != kgo.AckRenew {
					return false
				}
				e.record.renewing = false
				return true
			})
		}
	}
}

// unanswered says whether anything is with kgo that the broker has not
// answered.
func (g *Group) unanswered() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.members {
		if m.unsent > 0 {
			return true
		}
	}
	return false
}

// release hands kgo a release of each record that is still held, which it
// sends with the request that closes the session. Without it the broker would
// free only partitions that are in the session: those that have moved to
// another member are not, nor are those that kgo has taken out of it because
// they were paused. Their records would be locked until their locks end.
//
// Nothing is fetched any more, so that none of them comes back to us.
func (g *Group) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	handles := make(map[*member][]*kgo.Record)
	for _, r := range g.held {
		// One that is not ours any more would have its neighbours refused.
		if r.decided == 0 && !r.lapsed && !r.renewing && now.Before(r.deadline) {
			handles[r.member] = append(handles[r.member], r.handle)
		}
	}
	for m, records := range handles {
		m.client.MarkAcks(kgo.AckRelease, records...)
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
