package dispatch

import (
	"container/heap"
	"time"
)

// waitlist holds the deliveries that wait, the one that is due first in front.
type waitlist struct{ byDue byDue }

func (w *waitlist) len() int { return len(w.byDue) }

func (w *waitlist) push(d *delivery) { heap.Push(&w.byDue, d) }

// due is when the first one is due; zero when none waits.
func (w *waitlist) due() time.Time {
	if len(w.byDue) == 0 {
		return time.Time{}
	}
	return w.byDue[0].due
}

// popDue removes one that is due; nil when there is none.
func (w *waitlist) popDue(now time.Time) *delivery {
	if len(w.byDue) == 0 || w.byDue[0].due.After(now) {
		return nil
	}
	return heap.Pop(&w.byDue).(*delivery)
}

// take removes those that want asks for and returns them, in no order.
func (w *waitlist) take(want func(*delivery) bool) []*delivery {
	q := fifo{items: w.byDue}
	taken := q.take(want)
	w.byDue = q.items
	heap.Init(&w.byDue)
	return taken
}

// byDue is a heap.
type byDue []*delivery

func (h byDue) Len() int           { return len(h) }
func (h byDue) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h byDue) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byDue) Push(x any)        { *h = append(*h, x.(*delivery)) }

func (h *byDue) Pop() any {
	old := *h
	last := len(old) - 1
	d := old[last]
	old[last] = nil
	*h = old[:last]
	return d
}
