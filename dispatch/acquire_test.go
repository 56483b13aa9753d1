package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func records(n int) []*fakeRecord {
	out := make([]*fakeRecord, n)
	for i := range out {
		out[i] = newRecord(fmt.Sprint(i), 1)
	}
	return out
}

func TestRoom(t *testing.T) {
	t.Parallel()
	second := pace{seconds: 1, known: true}
	for _, tc := range []struct {
		name     string
		o        Options
		pace     pace
		held     int
		inFlight int
		untried  int
		closed   bool
		want     int
	}{
		{name: "empty", o: Options{Concurrency: 64, MaxHeld: 1000}, want: 64},
		{name: "empty, ahead", o: Options{Concurrency: 64, MaxHeld: 1000, ReadAhead: 10}, want: 74},
		{name: "empty, auto, no answer yet", o: Options{Concurrency: 64, MaxHeld: 1000, ReadAheadAuto: true}, want: 64},
		{name: "empty, auto, one second", o: Options{Concurrency: 64, MaxHeld: 1000, ReadAheadAuto: true}, pace: second, want: 128},
		{name: "max held", o: Options{Concurrency: 64, MaxHeld: 50}, want: 50},
		{name: "all held", o: Options{Concurrency: 64, MaxHeld: 50}, held: 50, inFlight: 10, want: 0},
		{name: "half busy", o: Options{Concurrency: 64, MaxHeld: 1000}, held: 32, inFlight: 32, want: 32},
		{name: "busy", o: Options{Concurrency: 64, MaxHeld: 1000}, held: 64, inFlight: 64, want: 0},
		{name: "busy, half used up", o: Options{Concurrency: 64, MaxHeld: 1000, ReadAhead: 10}, held: 69, inFlight: 64, untried: 5, want: 5},
		{name: "busy, less than half used up", o: Options{Concurrency: 64, MaxHeld: 1000, ReadAhead: 10}, held: 70, inFlight: 64, untried: 6, want: 0},
		{name: "one ahead", o: Options{Concurrency: 1, MaxHeld: 1000, ReadAhead: 1}, held: 2, inFlight: 1, untried: 1, want: 0},
		{name: "more queued than ahead", o: Options{Concurrency: 4, MaxHeld: 1000}, held: 20, inFlight: 4, untried: 16, want: 0},
		{name: "closed", o: Options{Concurrency: 64, MaxHeld: 1000}, closed: true, want: 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := &Endpoint{o: tc.o, pace: tc.pace, held: tc.held, inFlight: tc.inFlight, paused: tc.closed}
			for range tc.untried {
				e.untried.push(&delivery{})
			}
			if got := e.roomLocked(); got != tc.want {
				t.Errorf("room %d, want %d", got, tc.want)
			}
		})
	}
}

func TestPaceAhead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		took time.Duration
		want int
	}{
		{0, 64},
		{5 * time.Millisecond, 64},
		{time.Second, 64},
		{2 * time.Second, 32},
		{10 * time.Second, 6},
		{64 * time.Second, 1},
		{65 * time.Second, 0},
	} {
		var p pace
		if got := p.ahead(64); got != 0 {
			t.Errorf("before the first answer: %d ahead, want 0", got)
		}
		for range 100 {
			p.add(tc.took)
		}
		if got := p.ahead(64); got != tc.want {
			t.Errorf("attempts of %v: %d ahead, want %d", tc.took, got, tc.want)
		}
	}
}

// An endpoint that becomes slow stops the reading ahead within a few answers.
func TestPaceFollows(t *testing.T) {
	t.Parallel()
	var p pace
	for range 1000 {
		p.add(5 * time.Millisecond)
	}
	p.add(5 * time.Second)
	if got := p.ahead(64); got != 64 {
		t.Errorf("after one slow answer: %d ahead, want 64", got)
	}
	for range 8 {
		p.add(10 * time.Second)
	}
	if got := p.ahead(64); got > 16 {
		t.Errorf("after nine slow answers: %d ahead, want at most 16", got)
	}
}

// Acquiring is few and large: as many records at a time as half of those ahead.
func TestAcquiresFewAndLarge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{Concurrency: 16, ReadAheadAuto: true}, always(ok, 10*time.Millisecond))
		b.source.feed(records(1600)...)
		b.after(10 * time.Second)
		if got := b.source.asked(); len(got) > 1600/8+2 {
			t.Errorf("%d acquisitions for 1600 records, want at most one for each 8; rooms %v", len(got), got)
		}
		b.wantStats(Stats{})
	})
}

// What is acquired beyond the free slots stays within the room for it, and
// never more than MaxHeld is held.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name             string
		o                Options
		wantHeld, wantIn int
	}{
		{"none ahead before the first answer", Options{Concurrency: 8, ReadAheadAuto: true}, 8, 8},
		{"a number ahead", Options{Concurrency: 8, ReadAhead: 5}, 13, 8},
		{"max held", Options{Concurrency: 8, MaxHeld: 6, ReadAhead: 5}, 6, 6},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, tc.o, always(ok, time.Minute))
				b.source.feed(records(100)...)
				b.after(time.Second)
				b.wantStats(Stats{Held: tc.wantHeld, Queued: tc.wantHeld - tc.wantIn, InFlight: tc.wantIn})
			})
		})
	}
}

// Records that wait for a retry count as held: an endpoint that fails does not
// have the whole topic pile up.
func TestMaxHeldCountsThoseThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{Concurrency: 2, MaxHeld: 10}, always(failure, 0))
		b.source.feed(records(100)...)
		b.after(500 * time.Millisecond)
		b.wantStats(Stats{Held: 10, Waiting: 10})
	})
}

// Slots are refilled while other attempts hang.
func TestNothingWaitsForTheSlowest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		accepted := 0
		b := setup(t, Options{Concurrency: 4}, func(ctx context.Context, r *fakeRecord, n int) Answer {
			if r.name == "0" || r.name == "2" || r.name == "3" {
				return always(ok, time.Minute)(ctx, r, n)
			}
			time.Sleep(10 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			accepted++
			return ok
		})
		b.source.feed(records(1003)...)
		b.after(10*time.Second + 10*time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		if accepted != 1000 {
			t.Errorf("%d records accepted beside 3 slow ones, want 1000", accepted)
		}
	})
}

// The tail: most answers fast, few slow, very few very slow. The bound is slots
// divided by the mean; it is reached when every slot is always busy.
func TestTail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slots, span = 64, 20 * time.Second
		took := func(i int64) time.Duration {
			switch {
			case i%200 == 0:
				return 5 * time.Second
			case i%200 < 10:
				return 200 * time.Millisecond
			default:
				return 5 * time.Millisecond
			}
		}
		var posts, busy atomic.Int64
		e, err := New(Options{
			Concurrency: slots, ReadAheadAuto: true, Source: endless{},
			Attempter: post(func(ctx context.Context, r *fakeRecord, n int) Answer {
				start := time.Now()
				a := always(ok, took(posts.Add(1)))(ctx, r, n)
				busy.Add(int64(time.Since(start)))
				return a
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), span)
		defer cancel()
		if err := e.Run(ctx); err != nil {
			t.Fatal(err)
		}
		share := float64(busy.Load()) / float64(slots*span)
		t.Logf("%d records in %v, %.2f %% of slots / mean", posts.Load(), span, 100*share)
		if share < 0.98 {
			t.Errorf("%.2f %% of slots / mean, want at least 98 %%", 100*share)
		}
	})
}

// endless always has as many records as are asked for.
type endless struct{}

func (endless) Acquire(ctx context.Context, room int) ([]Record, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out := make([]Record, room)
	r := newRecord("r", 1)
	for i := range out {
		out[i] = r
	}
	return out, nil
}

// A source that is closed for good ends Run, with what is running finished.
func TestSourceClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{}, func(_ context.Context, r *fakeRecord, _ int) Answer {
			if r.name == "waits" {
				return failure
			}
			time.Sleep(5 * time.Second)
			return ok
		})
		b.source.feed(newRecord("runs", 1), newRecord("waits", 1))
		b.after(500 * time.Millisecond)
		b.source.close()
		<-b.ended
		if !errors.Is(b.err, errClosed) {
			t.Errorf("Run: %v, want the source's error", b.err)
		}
		b.want(
			"0s runs posts 1", "0s waits posts 1", "0s waits waits 1s back_off",
			"500ms waits ends none status_5xx interrupted",
			"5s runs ends accept ok",
		)
	})
}

// Records that an Acquire returns though it was stopped by a pause are held.
func TestRecordsThatComeLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{}, always(ok, 0))
		b.source.late = []Record{newRecord("late", 1)}
		b.after(time.Second)
		b.Pause()
		b.wantStats(Stats{Held: 1, Queued: 1, Paused: true})
		b.after(2 * time.Second)
		b.Resume()
		b.want("2s late posts 1", "2s late ends accept ok")
		if got := b.source.asked(); len(got) != 2 {
			t.Errorf("asked for %v, want nothing asked for while paused", got)
		}
	})
}
