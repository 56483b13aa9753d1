package deadletter

import (
	"container/list"
	"context"
	"sync"
)

// gate bounds the bytes under way to one topic. Who waits enters in the order
// of arrival, so that a great letter is not passed by small ones for ever.
type gate struct {
	mu      sync.Mutex
	free    int       // bytes; guarded by mu
	waiters list.List // of *waiter, oldest first; guarded by mu
}

type waiter struct {
	share int
	in    chan struct{} // closed, under mu, when the waiter has its share
}

// enter takes share, at most the whole gate, or fails when ctx ends. Who has
// entered must leave.
func (g *gate) enter(ctx context.Context, share int) error {
	g.mu.Lock()
	if g.waiters.Len() == 0 && g.free >= share {
		g.free -= share
		g.mu.Unlock()
		return nil
	}
	w := &waiter{share: share, in: make(chan struct{})}
	place := g.waiters.PushBack(w)
	g.mu.Unlock()

	select {
	case <-w.in:
		return nil
	case <-ctx.Done():
		g.giveUp(place, w)
		return context.Cause(ctx)
	}
}

// giveUp takes a waiter out. It may have been let in just then.
func (g *gate) giveUp(place *list.Element, w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.in:
		g.free += w.share
	default:
		g.waiters.Remove(place)
	}
	// Whoever stood behind a great one may fit now.
	g.admit()
}

// leave gives share back.
func (g *gate) leave(share int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free += share
	g.admit()
}

// admit lets in whoever fits, in order. The caller holds mu.
func (g *gate) admit() {
	for front := g.waiters.Front(); front != nil; front = g.waiters.Front() {
		w := front.Value.(*waiter)
		if g.free < w.share {
			return
		}
		g.free -= w.share
		g.waiters.Remove(front)
		close(w.in)
	}
}
