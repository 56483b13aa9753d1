package bubble

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A hanging endpoint costs the other one nothing: not one attempt comes at
// another time than without it.
func TestEndpointsDoNotHoldUpEachOther(t *testing.T) {
	schedule := func(t *testing.T, hanging bool) (at []time.Duration) {
		t.Run(fmt.Sprintf("hanging %t", hanging), func(t *testing.T) {
			br := broker{lock: 5 * time.Second, topics: []string{"orders", "refunds"}}
			scenarioHere(t, br, func(b *bed) {
				h := b.hook("orders", statuses(503, 200))
				slow := b.hook("refunds", func(call) reply { return reply{hang: true} })
				endpoints := []string{h.endpoint("retry: {randomization_factor: 0}", "concurrency: 4", "timeout: 3s", noBreaker)}
				if hanging {
					endpoints = append(endpoints, slow.endpoint("concurrency: 4", "timeout: 1m", "retry: {attempts: 1}"))
				}
				b.ready(b.file(endpoints...))
				began := b.since()
				for i := range 20 {
					b.keyed("refunds", fmt.Sprint("refund ", i))
					b.keyed("orders", fmt.Sprint("order ", i))
					b.pass(200 * ms)
				}
				b.settled("orders")
				for _, c := range h.all() {
					at = append(at, c.at-began)
				}
				if hanging && slow.inFlight() != 4 {
					t.Errorf("%d requests hang, want 4", slow.inFlight())
				}
				slow.answers(accepting)
				if hanging {
					b.settled("refunds")
					b.account(account{})
				}
			})
		})
		slices.Sort(at)
		return at
	}
	alone, beside := schedule(t, false), schedule(t, true)
	if !slices.Equal(alone, beside) || len(alone) != 40 {
		t.Errorf("attempts at\n%v alone, at\n%v beside an endpoint that hangs", alone, beside)
	}
}

// POSTs in flight and records held are two limits: a record that waits for its
// retry takes no slot of the first, and one of the second.
func TestConcurrencyAndMaxHeldAreTwoLimits(t *testing.T) {
	scenario(t, func(b *bed) {
		const concurrency, maxHeld = 2, 12
		h := b.hook("orders", func(c call) reply {
			if strings.HasPrefix(c.key, "later") && c.attempt == 1 {
				return reply{status: 503, after: 100 * ms}
			}
			return reply{after: 100 * ms}
		})
		g := b.ready(b.file(h.endpoint(fmt.Sprintf("concurrency: %d", concurrency), fmt.Sprintf("max_held: %d", maxHeld),
			"retry: {initial_interval: 30s, randomization_factor: 0}", noBreaker)))

		// Five records wait for their retry; others pass them with both slots.
		var keys []string
		for i := range 5 {
			keys = append(keys, fmt.Sprint("later ", i))
		}
		b.keyed("orders", keys...)
		b.await("all five wait", func() bool { return len(h.all()) == 5 && h.inFlight() == 0 })
		began := b.since()
		for i := range 20 {
			b.keyed("orders", fmt.Sprint("now ", i))
		}
		b.await("the others are done", func() bool { return len(h.all()) == 25 && h.inFlight() == 0 })
		// 20 records of 100 ms, two at a time, and a few fetches.
		if took := b.since() - began; took > 2*time.Second {
			t.Errorf("20 records took %s while five wait", took)
		}
		b.settled("orders")

		// More than may be held wait for their retry: no more is acquired.
		keys = nil
		for i := range 30 {
			keys = append(keys, fmt.Sprint("later again ", i))
		}
		b.keyed("orders", keys...)
		most := 0.0
		for range 200 {
			b.pass(50 * ms)
			m := g.metrics()
			most = max(most, m[`sharehook_records_held{endpoint="orders"}`])
			if n := m[`sharehook_attempts_in_flight{endpoint="orders"}`]; n > concurrency {
				t.Fatalf("%v attempts in flight", n)
			}
		}
		if most < maxHeld-2 || most > maxHeld {
			t.Errorf("%v records held at most, want about %d and no more", most, maxHeld)
		}
		if n := len(h.all()) - 30; n > maxHeld {
			t.Errorf("%d of 30 records were tried while %d may be held", n, maxHeld)
		}
		b.settled("orders")
		b.account(account{})
		if n := h.mostInFlight(); n != concurrency {
			t.Errorf("%d requests in flight at most, want %d", n, concurrency)
		}
	})
}

// A slow record holds up neither its partition nor the window.
func TestSlowRecordHoldsOnlyItself(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", func(c call) reply {
			if c.key == "slow" {
				return reply{after: 40 * time.Second}
			}
			return reply{after: 10 * ms}
		})
		b.ready(b.file(h.endpoint("concurrency: 4", "timeout: 1m")))
		b.keyed("orders", "slow")
		began := b.since()
		for i := range 300 {
			b.keyed("orders", fmt.Sprint("fast ", i))
		}
		b.await("all the fast ones", func() bool { return len(h.all()) == 301 && h.inFlight() == 1 })
		if took := b.since() - began; took > 5*time.Second {
			t.Errorf("300 fast records took %s beside a slow one", took)
		}
		b.settled("orders")
		b.account(account{})
	})
}
