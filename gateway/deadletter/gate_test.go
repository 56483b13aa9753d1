package deadletter

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestGateKeepsTheOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate{free: 10}
		enter(t, g, 6)
		entered := make(chan string, 3)
		go func() { enter(t, g, 10); entered <- "great" }()
		synctest.Wait()
		go func() { enter(t, g, 1); entered <- "small" }()
		synctest.Wait()
		if len(entered) != 0 {
			t.Fatal("somebody passed the one who waits")
		}
		g.leave(6)
		if got := <-entered; got != "great" {
			t.Errorf("%s entered first", got)
		}
		synctest.Wait()
		if len(entered) != 0 {
			t.Error("the gate was not full")
		}
		g.leave(10)
		<-entered
		g.leave(1)
		if g.free != 10 || g.waiters.Len() != 0 {
			t.Errorf("left behind: %d free, %d waiting", g.free, g.waiters.Len())
		}
	})
}

// Who gives up leaves nothing behind, and lets those behind it in.
func TestGateGivingUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate{free: 10}
		enter(t, g, 6)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		great := make(chan error, 1)
		go func() { great <- g.enter(ctx, 10) }()
		synctest.Wait()
		small := make(chan struct{})
		go func() { enter(t, g, 4); close(small) }()
		if err := <-great; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("enter: %v", err)
		}
		<-small
		g.leave(6)
		g.leave(4)
		if g.free != 10 {
			t.Errorf("%d free, want 10", g.free)
		}
	})
}

// A waiter that is let in while its context ends has its share taken back.
func TestGateLetInTooLate(t *testing.T) {
	t.Parallel()
	g := &gate{free: 0}
	w := &waiter{share: 5, in: make(chan struct{})}
	place := g.waiters.PushBack(w)
	g.leave(5) // lets it in
	g.giveUp(place, w)
	if g.free != 5 {
		t.Errorf("%d free, want 5", g.free)
	}
}

func enter(t *testing.T, g *gate, share int) {
	t.Helper()
	if err := g.enter(t.Context(), share); err != nil {
		t.Errorf("enter: %v", err)
	}
}
