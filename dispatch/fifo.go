package dispatch

// fifo is a queue of deliveries, first in, first out.
type fifo struct {
	items []*delivery
	head  int // items before it are gone
}

func (q *fifo) len() int { return len(q.items) - q.head }

func (q *fifo) push(d *delivery) {
	if q.head > 0 && len(q.items) == cap(q.items) {
		// Move to the front rather than grow without end.
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, d)
}

// pop returns nil when the queue is empty.
func (q *fifo) pop() *delivery {
	if q.len() == 0 {
		return nil
	}
	d := q.items[q.head]
	q.items[q.head] = nil
	q.head++
	if q.len() == 0 {
		q.items, q.head = q.items[:0], 0
	}
	return d
}

// take removes those that want asks for and returns them in order.
func (q *fifo) take(want func(*delivery) bool) (taken []*delivery) {
	kept := q.items[:0]
	for _, d := range q.items[q.head:] {
		if want(d) {
			taken = append(taken, d)
		} else {
			kept = append(kept, d)
		}
	}
	clear(q.items[len(kept):])
	q.items, q.head = kept, 0
	return taken
}
