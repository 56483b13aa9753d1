package dispatch

import "sync"

// crew are the worker goroutines. They are started when needed, reused (a new
// goroutine per record would grow its stack anew for each POST) and sent home
// when they have been idle for long.
type crew struct {
	running sync.WaitGroup
	closed  bool      // nobody is hired any more
	size    int       // workers that live
	idle    []*worker // the last to come is the first to go: its stack is warm
	spare   int       // fewest idle since the last look: so many were not needed
}

// worker is one goroutine. Its inbox holds one delivery, and it is given one
// only when it is idle: giving never blocks.
type worker struct{ inbox chan *delivery }

// close sends everybody home.
func (c *crew) close() {
	c.closed = true
	c.dismiss(len(c.idle))
}

// dismiss sends home the n that have been idle longest.
func (c *crew) dismiss(n int) {
	for _, w := range c.idle[:n] {
		close(w.inbox)
	}
	c.size -= n
	c.idle = append(c.idle[:0], c.idle[n:]...)
	clear(c.idle[len(c.idle):cap(c.idle)])
	c.spare = len(c.idle)
}

// trim sends home those that nobody needed since the last trim.
func (c *crew) trim() { c.dismiss(c.spare) }

// pick returns an idle worker, or nil.
func (c *crew) pick() *worker {
	if len(c.idle) == 0 {
		return nil
	}
	top := len(c.idle) - 1
	w := c.idle[top]
	c.idle[top] = nil
	c.idle = c.idle[:top]
	c.spare = min(c.spare, top)
	return w
}
