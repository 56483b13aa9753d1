package dispatch

import "testing"

func TestFIFO(t *testing.T) {
	t.Parallel()
	var q fifo
	if q.pop() != nil {
		t.Error("popped from an empty queue")
	}
	// In by three, out by two: the queue wraps many times over.
	next, want := 0, 0
	pop := func() {
		t.Helper()
		if d := q.pop(); d == nil || d.counted != want {
			t.Fatalf("popped %v, want number %d", d, want)
		}
		want++
	}
	for range 1000 {
		for range 3 {
			q.push(&delivery{counted: next})
			next++
		}
		pop()
		pop()
	}
	taken := q.take(func(d *delivery) bool { return d.counted%2 == 1 })
	for i, d := range taken {
		if d.counted != 2001+2*i {
			t.Fatalf("taken[%d] is number %d", i, d.counted)
		}
	}
	for ; q.len() > 0; want++ {
		pop()
	}
	if len(taken) != 500 || want != next {
		t.Errorf("took %d, ended at %d of %d", len(taken), want, next)
	}
}

// What has gone through the queue is not kept alive nor its room grown by it.
func TestFIFOStaysSmall(t *testing.T) {
	t.Parallel()
	var q fifo
	q.push(&delivery{})
	for range 100_000 {
		q.push(&delivery{})
		q.pop()
	}
	if cap(q.items) > 16 {
		t.Errorf("room for %d with 1 queued", cap(q.items))
	}
	alive := 0
	for _, d := range q.items[:cap(q.items)] {
		if d != nil {
			alive++
		}
	}
	if alive != q.len() {
		t.Errorf("%d kept alive, %d queued", alive, q.len())
	}
}
