package dispatch

import "time"

// windowBuckets is into how many pieces a window is cut: it forgets in steps
// of a tenth of its length.
const windowBuckets = 10

// tally counts verdicts; the zero Verdict's place is not used.
type tally [VerdictReject + 1]int

func (t tally) total() int { return t[VerdictAccept] + t[VerdictRelease] + t[VerdictReject] }

// reaches reports that v makes up this share of at least that many.
func (t tally) reaches(v Verdict, share float64, of int) bool {
	return t[v] > 0 && float64(t[v]) >= share*float64(max(of, t.total()))
}

// window counts the verdicts of the last while, in buckets that slide. It
// lives on the monotonic clock: a step of the wall clock does not move it.
type window struct {
	width   time.Duration // of one bucket
	buckets [windowBuckets]tally
	newest  int
	began   time.Time // when the newest bucket did; zero before the first verdict
	sum     tally     // of all buckets

	run     int // verdicts of one kind with no other between, up to now
	runKind Verdict
}

func newWindow(length time.Duration) window {
	return window{width: max(1, length/windowBuckets)}
}

// add counts a verdict. Answers that come side by side may be a moment out of
// order: an earlier one falls into the newest bucket.
func (w *window) add(v Verdict, now time.Time) {
	w.slide(now)
	w.buckets[w.newest][v]++
	w.sum[v]++
	if v != w.runKind {
		w.run, w.runKind = 0, v
	}
	w.run++
}

func (w *window) slide(now time.Time) {
	if w.began.IsZero() {
		w.began = now
	}
	since := now.Sub(w.began)
	if since < w.width {
		return
	}
	w.began = now.Add(-(since % w.width))
	for range min(since/w.width, windowBuckets) {
		w.newest = (w.newest + 1) % windowBuckets
		for v, n := range w.buckets[w.newest] {
			w.sum[v] -= n
		}
		w.buckets[w.newest] = tally{}
	}
}

// lately is how many of the latest verdicts were v and nothing else, as far
// back as the window goes.
func (w *window) lately(v Verdict) int {
	if v != w.runKind {
		return 0
	}
	return min(w.run, w.sum[v])
}
