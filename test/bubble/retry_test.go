package bubble

import (
	"net/http"
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

// Retries happen inside the lock, exactly when the back-off says, however
// short the lock: it is renewed.
func TestRetriesInsideTheLock(t *testing.T) {
	for _, lock := range []time.Duration{30 * time.Second, time.Second} {
		t.Run("lock "+lock.String(), func(t *testing.T) {
			scenarioOn(t, broker{lock: lock}, func(b *bed) {
				h := b.hook("orders", statuses(503, 503, 503, 503, 503, 200))
				b.keyed("orders", "a", "b", "c")
				g := b.ready(b.file(h.endpoint("retry: {attempts: 6, initial_interval: 500ms, multiplier: 2, max_interval: 3s, randomization_factor: 0}", noBreaker)))
				b.settled("orders")
				b.account(account{})

				want := []time.Duration{500 * ms, 1000 * ms, 2000 * ms, 3000 * ms, 3000 * ms}
				for _, key := range []string{"a", "b", "c"} {
					calls := h.of(key)
					if got := gaps(calls); !slices.Equal(got, want) {
						t.Errorf("%s: attempts after %v, want %v", key, got, want)
					}
					for i, c := range calls {
						if c.delivery != 1 || c.attempt != i+1 || c.id != calls[0].id || string(c.body) != "value of "+key {
							t.Errorf("%s: request %d has delivery %d, attempt %d, id %s, body %q", key, i+1, c.delivery, c.attempt, c.id, c.body)
						}
					}
				}
				g.expectMetrics("orders", map[string]float64{
					`records_acquired_total{topic="orders"}`:                    3,
					`records_acknowledged_total{topic="orders",type="accept"}`:  3,
					`records_acknowledged_total{topic="orders",type="release"}`: 0,
					`records_lapsed_total`:                                      0,
				})
				renewed := g.metrics()[`sharehook_records_renewed_total{endpoint="orders"}`]
				if lock == time.Second && renewed < 3*9 { // 9.5 s under a lock of 1 s
					t.Errorf("%v renewals", renewed)
				}
			})
		})
	}
}

// A POST that outlasts the lock is no different from a wait that does.
func TestAttemptLongerThanTheLock(t *testing.T) {
	scenarioOn(t, broker{lock: time.Second}, func(b *bed) {
		h := b.hook("orders", func(call) reply { return reply{after: 8 * time.Second} })
		b.keyed("orders", "a", "b")
		b.ready(b.file(h.endpoint()))
		b.settled("orders")
		b.account(account{})
		if n := len(h.all()); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
	})
}

// The back-off goes on where the delivery before has ended, and so does not
// start anew with each delivery.
func TestBackOffOverDeliveries(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", statuses(503, 503, 503, 503, 503, 503, 503, 200))
		b.keyed("orders", "a")
		g := b.ready(b.file(h.endpoint("retry: {attempts: 2, initial_interval: 100ms, multiplier: 2, max_interval: 5s, randomization_factor: 0}")))
		b.settled("orders")
		b.account(account{})

		calls := h.of("a")
		type step struct {
			delivery, attempt int
			wait              time.Duration // before it
		}
		want := []step{
			{1, 1, 0},
			{1, 2, 100 * ms},
			{2, 1, 200 * ms},
			{2, 2, 400 * ms},
			{3, 1, 800 * ms},
			{3, 2, 1600 * ms},
			{4, 1, 3200 * ms},
			{4, 2, 5000 * ms},
		}
		if len(calls) != len(want) {
			t.Fatalf("%d requests, want %d", len(calls), len(want))
		}
		// A release and the next acquisition take up to a parked fetch.
		const handover = 600 * ms
		for i, w := range want {
			c := calls[i]
			if c.delivery != w.delivery || c.attempt != w.attempt {
				t.Errorf("request %d: delivery %d, attempt %d, want %d, %d", i+1, c.delivery, c.attempt, w.delivery, w.attempt)
			}
			if i == 0 {
				continue
			}
			waited := c.at - calls[i-1].at
			late := time.Duration(0)
			if w.attempt == 1 {
				late = handover
			}
			if waited < w.wait || waited > w.wait+late {
				t.Errorf("request %d came after %s, want %s and at most %s more", i+1, waited, w.wait, late)
			}
		}
		g.expectMetrics("orders", map[string]float64{
			`records_acknowledged_total{topic="orders",type="release"}`: 3,
			`records_acknowledged_total{topic="orders",type="accept"}`:  1,
		})
	})
}

// A multiplier of 10 over 50 attempts and several deliveries: no wait is ever
// nothing, or above its cap.
func TestBackOffNeverRunsAway(t *testing.T) {
	scenario(t, func(b *bed) {
		failing := make([]int, 120)
		for i := range failing {
			failing[i] = 503
		}
		h := b.hook("orders", statuses(append(failing, 200)...))
		b.keyed("orders", "a")
		b.ready(b.file(h.endpoint("retry: {attempts: 50, initial_interval: 10ms, multiplier: 10, max_interval: 400ms, randomization_factor: 0.5}", noBreaker)))
		b.settled("orders")
		b.account(account{})
		for i, gap := range gaps(h.of("a")) {
			if gap < 5*ms || gap > 600*ms+600*ms {
				t.Errorf("wait %d was %s", i+1, gap)
			}
		}
	})
}

// A delivery does not outlast max_elapsed_time: then the record is released.
func TestMaxElapsedTime(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", func(c call) reply {
			if c.delivery == 1 {
				return reply{status: 503}
			}
			return reply{}
		})
		b.keyed("orders", "a")
		g := b.ready(b.file(h.endpoint("retry: {attempts: 50, initial_interval: 1s, multiplier: 1, max_interval: 1s, max_elapsed_time: 3500ms, randomization_factor: 0}")))
		b.settled("orders")
		first := g.of("a")[0]
		if first.Attempts != 4 || first.Acknowledgement != "release" {
			t.Errorf("first delivery: %d attempts, %s, want 4 and release", first.Attempts, first.Acknowledgement)
		}
	})
}

type retryAfterCase struct {
	value string
	twice bool
	until time.Duration // since the beginning; 0: see wait
	wait  time.Duration
}

func (c retryAfterCase) header() []string {
	header := []string{"retry-after", c.value}
	if c.twice {
		header = append(header, header...)
	}
	return header
}

// Retry-After with a status that does not hold back the endpoint: the next
// attempt of the record waits for it, unless its own back-off is longer.
func TestRetryAfter(t *testing.T) {
	const own, limit = 500 * ms, time.Minute
	// Bubbles begin at 2000-01-01 00:00:00.
	date := func(d time.Duration) string {
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d).Format(http.TimeFormat)
	}
	cases := map[string]retryAfterCase{
		"seconds":           {value: "7", wait: 7 * time.Second},
		"below the backoff": {value: "0", wait: own},
		"date":              {value: date(9 * time.Second), until: 9 * time.Second},
		"negative":          {value: "-5", wait: own},
		"word":              {value: "soon", wait: own},
		"fraction":          {value: "1.5", wait: own},
		"empty":             {value: "", wait: own},
		"huge":              {value: "9223372037", wait: limit},
		"above the cap":     {value: "61", wait: limit},
		"more than 64 bits": {value: "99999999999999999999", wait: limit},
		"date of the past":  {value: "Sun, 06 Nov 1994 08:49:37 GMT", wait: own},
		"date of 9999":      {value: "Fri, 31 Dec 9999 23:59:59 GMT", wait: limit},
		"given twice":       {value: "7", twice: true, wait: own},
	}
	scenario(t, func(b *bed) {
		var keys []string
		for name := range cases {
			keys = append(keys, name)
		}
		h := b.hook("orders", func(c call) reply {
			if c.attempt == 1 {
				return reply{status: 500, header: cases[c.key].header()}
			}
			return reply{}
		})
		b.keyed("orders", keys...)
		b.ready(b.file(h.endpoint("retry: {initial_interval: 500ms, randomization_factor: 0, max_retry_after: 1m}", noBreaker)))
		b.settled("orders")
		b.account(account{})
		for name, c := range cases {
			calls := h.of(name)
			if len(calls) != 2 {
				t.Errorf("%s: %d requests, want 2", name, len(calls))
				continue
			}
			want := calls[0].at + c.wait
			if c.until != 0 {
				want = c.until
			}
			if calls[1].at != want {
				t.Errorf("%s: tried again after %s, want %s", name, calls[1].at-calls[0].at, want-calls[0].at)
			}
		}
	})
}

// With 429 and 503 Retry-After holds back the whole endpoint, and no other.
func TestRetryAfterHoldsTheEndpoint(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			scenarioOn(t, broker{topics: []string{"orders", "refunds"}}, func(b *bed) {
				h := b.hook("orders", func(c call) reply {
					if c.key == "first" && c.attempt == 1 {
						return reply{status: status, header: []string{"retry-after", "30"}}
					}
					return reply{}
				})
				other := b.hook("refunds", accepting)
				g := b.ready(b.file(h.endpoint("retry: {randomization_factor: 0}"), other.endpoint()))
				b.keyed("orders", "first")
				b.await("the first answer", func() bool { return len(h.all()) == 1 })
				began := b.since()
				b.pass(time.Second)
				b.keyed("orders", "second")
				b.keyed("refunds", "elsewhere")
				b.pass(20 * time.Second)
				if n := len(h.all()); n != 1 {
					t.Errorf("%d requests while the endpoint is held back, want 1", n)
				}
				if n := len(other.all()); n != 1 {
					t.Errorf("%d requests to the other endpoint, want 1", n)
				}
				if reason := g.reason("orders"); reason != "" {
					t.Errorf("not ready: %s", reason)
				}
				b.settled("orders", "refunds")
				b.account(account{})
				for _, key := range []string{"first", "second"} {
					calls := h.of(key)
					if last := calls[len(calls)-1]; last.at < began+30*time.Second-10*ms || last.at > began+30*time.Second+300*ms {
						t.Errorf("%s: came after %s, want 30s", key, last.at-began)
					}
				}
			})
		})
	}
}
