package bubble

import (
	"fmt"
	"testing"
	"time"
)

// A record has the same webhook-id at each attempt, in each delivery and on
// each replica, and no other record has it. The timestamp is the attempt's.
func TestWebhookIDOverReplicas(t *testing.T) {
	scenarioOn(t, broker{topics: []string{"orders", "refunds"}}, func(b *bed) {
		h := b.hook("orders", statuses(503, 503, 503, 200))
		text := b.file(h.endpoint("topics: [orders, refunds]", "retry: {attempts: 2, initial_interval: 2s, randomization_factor: 0}"))
		first := b.ready(text)
		const records = 5
		for i := range records {
			b.keyed("orders", fmt.Sprint("order ", i))
			b.keyed("refunds", fmt.Sprint("refund ", i))
		}
		b.await("first attempts", func() bool { return len(h.all()) == 2*records })
		first.drain()
		b.ready(text)
		b.settled("orders")
		b.account(account{})

		keys := map[string]string{}
		for _, c := range h.all() {
			if key, ok := keys[c.id]; ok && key != c.key {
				t.Errorf("%s and %s have the same id", key, c.key)
			}
			keys[c.id] = c.key
			if got, want := c.header.Get("webhook-timestamp"), fmt.Sprint(b.begun.Add(c.at).Unix()); got != want {
				t.Errorf("%s: timestamp %s of a request at %s", c.key, got, want)
			}
			if got, want := c.header.Get("kafka-timestamp"), b.produced[c.record].Timestamp.UTC().Format("2006-01-02T15:04:05.000Z"); got != want {
				t.Errorf("%s: kafka-timestamp %s, want %s", c.key, got, want)
			}
		}
		if len(keys) != 2*records {
			t.Errorf("%d ids for %d records", len(keys), 2*records)
		}
		for _, key := range []string{"order 0", "refund 4"} {
			calls := h.of(key)
			if len(calls) != 4 || calls[0].delivery != 1 || calls[1].delivery != 2 {
				t.Errorf("%s: %d requests; one by the first gateway and three by the second are wanted", key, len(calls))
			}
		}
	})
}

// Five minutes and more: generations of connections come and go, the watch
// looks at settings, and each record still has its one request.
func TestLongQuietRun(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", accepting)
		g := b.ready(b.file(h.endpoint()))
		for i := range 10 {
			b.keyed("orders", fmt.Sprint(i))
			b.pass(time.Minute)
		}
		b.settled("orders")
		b.account(account{})
		if n := len(h.all()); n != 10 {
			t.Errorf("%d requests, want 10", n)
		}
		for _, c := range h.all() {
			if c.delivery != 1 || c.attempt != 1 {
				t.Errorf("%s came in delivery %d, attempt %d", c.key, c.delivery, c.attempt)
			}
		}
		if n := h.connections(); n < 2 || n > 10 {
			t.Errorf("%d connections in ten minutes with a record each", n)
		}
		g.expectMetrics("orders", map[string]float64{
			`records_lapsed_total`: 0, `share_group_lag{topic="orders"}`: 0, `breaker_state`: 0,
		})
	})
}
