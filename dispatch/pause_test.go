package dispatch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// An answer that holds the endpoint back keeps everybody waiting: retries that
// are due, the untried, and the acquiring.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{Concurrency: 3}, func(_ context.Context, r *fakeRecord, n int) Answer {
			if r.name == "busy" && n == 1 {
				time.Sleep(100 * time.Millisecond)
				return Answer{Verdict: VerdictRelease, Reason: "status_5xx", Status: 503, RetryAfter: 20 * time.Second, HoldEndpoint: true}
			}
			if n == 1 {
				return failure
			}
			return ok
		})
		b.source.feed(newRecord("busy", 1), newRecord("other", 1))
		b.after(time.Second)
		b.source.feed(newRecord("new", 1))
		b.after(5 * time.Second)
		b.wantStats(Stats{Held: 2, Waiting: 1, Queued: 1, HeldTo: b.start.Add(20100 * time.Millisecond)})
		b.after(time.Minute)
		b.want(
			"0s busy posts 1",
			"0s other posts 1", "0s other waits 1s back_off",
			"100ms busy waits 20s retry_after",
			"20.1s busy posts 2", "20.1s busy ends accept ok",
			"20.1s other posts 2", "20.1s other ends accept ok",
			"20.1s new posts 1", "20.1s new waits 1s back_off",
			"21.1s new posts 2", "21.1s new ends accept ok",
		)
	})
}

// Of several answers that hold back the longest counts.
func TestHeldBackLongest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{}, func(_ context.Context, r *fakeRecord, n int) Answer {
			if n > 1 {
				return ok
			}
			a := Answer{Verdict: VerdictRelease, Reason: "status_4xx", Status: 429, HoldEndpoint: true, RetryAfter: 9 * time.Second}
			if r.name == "short" {
				time.Sleep(time.Second)
				a.RetryAfter = 2 * time.Second
			}
			return a
		})
		b.source.feed(newRecord("long", 1), newRecord("short", 1))
		b.after(time.Minute)
		b.want(
			"0s long posts 1", "0s long waits 9s retry_after", "0s short posts 1",
			"1s short waits 2s retry_after",
			"9s long posts 2", "9s long ends accept ok",
			"9s short posts 2", "9s short ends accept ok",
		)
	})
}

func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Options{Concurrency: 2, ReadAhead: 2}, always(ok, 2*time.Second))
		b.source.feed(newRecord("a", 1), newRecord("b", 1), newRecord("c", 1))
		b.after(time.Second)
		b.Pause()
		b.Pause()
		b.source.feed(newRecord("d", 1))
		b.after(10 * time.Second)
		b.wantStats(Stats{Held: 1, Queued: 1, Paused: true})
		b.Resume()
		b.after(time.Minute)
		b.want(
			"0s a posts 1", "0s b posts 1",
			"2s a ends accept ok", "2s b ends accept ok",
			"10s c posts 1", "10s d posts 1",
			"12s c ends accept ok", "12s d ends accept ok",
		)
		if b.Paused() {
			t.Error("paused after Resume")
		}
	})
}

// A pause outlasts the time that a record may be held: all go back.
func TestPauseOutlastsMaxElapsedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retry := exactly
		retry.MaxElapsedTime = 10*time.Minute + 300*time.Millisecond
		b := setup(t, Options{ReadAhead: 2, Concurrency: 1, Retry: retry}, func(context.Context, *fakeRecord, int) Answer {
			time.Sleep(500 * time.Millisecond)
			return failure
		})
		b.source.feed(newRecord("tried", 1), newRecord("untried", 1))
		b.after(100 * time.Millisecond)
		b.Pause()
		b.after(time.Hour)
		b.want(
			"0s tried posts 1", "500ms tried waits 1s back_off",
			"10m0.3s tried ends release status_5xx",
			"10m0.3s untried ends release paused",
		)
	})
}

// 410 Gone: the endpoint pauses itself, the record is kept, and its attempt
// does not count.
func TestGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retry := exactly
		retry.Attempts = 2
		b := setup(t, Options{Retry: retry}, script(
			Answer{Verdict: VerdictReject, Reason: "status_4xx", Status: 410, Gone: true}, failure, ok))
		b.source.feed(newRecord("a", 1))
		b.after(time.Minute)
		b.source.feed(newRecord("b", 1))
		b.wantStats(Stats{Held: 1, Queued: 1, Paused: true})
		b.after(5 * time.Minute)
		b.Resume()
		synctest.Wait()
		// b, too, is answered with 410, and the endpoint pauses again.
		b.wantStats(Stats{Held: 2, Queued: 1, Waiting: 1, Paused: true})
		b.after(6 * time.Minute)
		b.Resume()
		b.after(7 * time.Minute)
		b.want(
			"0s a posts 1", "0s a waits 0s paused",
			"5m0s a posts 2", "5m0s a waits 1s back_off",
			"5m0s b posts 1", "5m0s b waits 0s paused",
			"6m0s a posts 3", "6m0s a ends accept ok",
			"6m0s b posts 2", "6m0s b waits 1s back_off",
			"6m1s b posts 3", "6m1s b ends accept ok",
		)
		b.wantStats(Stats{})
	})
}
