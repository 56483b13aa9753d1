package dispatch

import (
	"testing"
	"time"
)

func TestWindowSlides(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	w := newWindow(10 * time.Second)
	steps := []struct {
		at         time.Duration
		verdict    Verdict
		want       tally
		wantLately int // of this verdict
	}{
		{0, VerdictAccept, tally{0, 1, 0, 0}, 1},
		{500 * time.Millisecond, VerdictRelease, tally{0, 1, 1, 0}, 1},
		{9 * time.Second, VerdictRelease, tally{0, 1, 2, 0}, 2},
		{9*time.Second + 999*time.Millisecond, VerdictRelease, tally{0, 1, 3, 0}, 3},
		{10 * time.Second, VerdictRelease, tally{0, 0, 3, 0}, 3}, // the first second has gone
		{9 * time.Second, VerdictReject, tally{0, 0, 3, 1}, 1},   // a moment out of order
		{18 * time.Second, VerdictReject, tally{0, 0, 3, 2}, 2},
		{19 * time.Second, VerdictReject, tally{0, 0, 1, 3}, 3},
		{time.Hour, VerdictReject, tally{0, 0, 0, 1}, 1}, // of the run, too, nothing is left in the window
	}
	for _, s := range steps {
		w.add(s.verdict, at(s.at))
		if w.sum != s.want || w.lately(s.verdict) != s.wantLately {
			t.Errorf("at %v: %v, lately %d; want %v, %d", s.at, w.sum, w.lately(s.verdict), s.want, s.wantLately)
		}
	}
}

func TestWindowOfATinyLength(t *testing.T) {
	t.Parallel()
	w := newWindow(1)
	w.add(VerdictAccept, time.Now())
	w.add(VerdictAccept, time.Now().Add(24*365*time.Hour))
	if w.sum.total() != 1 {
		t.Errorf("%v, want one verdict", w.sum)
	}
}
