package dispatch

import (
	"slices"
	"testing"
	"time"
)

func TestWaitlist(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	var w waitlist
	if !w.due().IsZero() || w.popDue(start) != nil {
		t.Error("something is due on an empty list")
	}
	for _, s := range []int{5, 3, 9, 1, 7, 3} {
		w.push(&delivery{due: at(s), counted: s})
	}
	if taken := w.take(func(d *delivery) bool { return d.counted == 3 }); len(taken) != 2 {
		t.Errorf("took %d, want 2", len(taken))
	}
	if got := w.due(); !got.Equal(at(1)) {
		t.Errorf("first due at %v, want %v", got, at(1))
	}
	var got []int
	for d := w.popDue(at(7)); d != nil; d = w.popDue(at(7)) {
		got = append(got, d.counted)
	}
	if want := []int{1, 5, 7}; !slices.Equal(got, want) || w.len() != 1 {
		t.Errorf("due %v and %d left, want %v and 1", got, w.len(), want)
	}
}
