package bubble

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// many produces records a.0, a.1 and so on.
func (b *bed) many(topic, prefix string, n int) {
	b.t.Helper()
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s.%d", prefix, i)
	}
	b.keyed(topic, keys...)
}

// between are the calls from one moment until before another.
func (h *hook) between(from, to time.Duration) (calls []call) {
	for _, c := range h.all() {
		if from <= c.at && c.at < to {
			calls = append(calls, c)
		}
	}
	return calls
}

// remark is what /readyz says of an endpoint that is ready all the same.
func (g *gatewayRun) remark(endpoint string) string {
	g.bed.t.Helper()
	for _, e := range g.readiness().Endpoints {
		if e.Endpoint == endpoint && e.Ready {
			return e.Reason
		}
	}
	g.bed.t.Errorf("/readyz: endpoint %q is not ready", endpoint)
	return ""
}

// An outage of a minute with 5000 records waiting costs no record a second
// delivery, and the endpoint no more than a POST a second.
func TestOutage(t *testing.T) {
	scenarioOn(t, withLetters, func(b *bed) {
		h := b.hook("orders", func(call) reply { return reply{after: 20 * ms} })
		g := b.ready(b.file(h.endpoint(byGateway)))
		b.many("orders", "before", 1000)
		b.settled("orders")

		down := b.since()
		h.answers(func(call) reply { return reply{status: 503, after: 20 * ms} })
		b.many("orders", "waiting", 5000)
		b.pass(time.Second)
		g.expectMetrics("orders", map[string]float64{`breaker_state`: 2})
		if remark := g.remark("orders"); !strings.HasPrefix(remark, "breaker open: ") {
			t.Errorf("/readyz says %q, want that the breaker is open", remark)
		}
		opened := b.since()
		for b.since() < down+time.Minute {
			b.pass(time.Second)
			if n := len(h.between(b.since()-time.Second, b.since())); n > 1 {
				t.Errorf("%d POSTs in the second before %s, want at most 1", n, b.since())
			}
		}
		t.Logf("%d POSTs until the breaker was seen open, %d after that", len(h.between(down, opened)), len(h.between(opened, b.since())))

		back := b.since()
		h.answers(func(call) reply { return reply{after: 20 * ms} })
		b.settled("orders")
		took := b.since() - back
		if took > 12*time.Second {
			t.Errorf("5000 records took %s from the endpoint's return on", took)
		}
		t.Logf("5000 records delivered %s after the endpoint's return", took)
		g.expectMetrics("orders", map[string]float64{`breaker_state`: 0})
		for _, c := range h.all() {
			if c.delivery > 1 {
				t.Fatalf("%v at delivery %d, want the first", c.record, c.delivery)
			}
		}
		b.account(account{letters: "letters"})
		if letters := b.letters("letters"); len(letters) > 0 {
			t.Errorf("%d dead letters, want none", len(letters))
		}
	})
}

// An endpoint that is misrouted from the first record on costs a few; the
// others wait until it is right.
func TestMisrouted(t *testing.T) {
	scenarioOn(t, withLetters, func(b *bed) {
		h := b.hook("orders", func(call) reply { return reply{status: 404, after: 20 * ms} })
		g := b.ready(b.file(h.endpoint(byGateway)))
		b.many("orders", "waiting", 5000)
		b.pass(3 * time.Minute)
		g.expectMetrics("orders", map[string]float64{`breaker_state`: 2})
		if remark := g.remark("orders"); !strings.Contains(remark, "rejecting everything") {
			t.Errorf("/readyz says %q, want that everything is rejected", remark)
		}
		h.answers(func(call) reply { return reply{after: 20 * ms} })
		b.settled("orders")
		g.expectMetrics("orders", map[string]float64{`breaker_state`: 0})
		b.account(account{letters: "letters"})
		if n := len(b.letters("letters")); n > 10 {
			t.Errorf("%d dead letters, want at most min_attempts", n)
		}
	})
}

// A rate limit is kept, and what must wait for it is left with the broker.
func TestRateLimit(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", accepting)
		g := b.ready(b.file(h.endpoint("rate_limit: 50/s", "read_ahead: 0")))
		b.many("orders", "a", 500)
		most := 0.0
		for range 40 {
			b.pass(250 * ms)
			most = max(most, g.metrics()[`sharehook_records_held{endpoint="orders"}`])
		}
		b.settled("orders")
		calls := h.all()
		took := calls[len(calls)-1].at - calls[0].at
		if took < 9500*ms || took > 12*time.Second {
			t.Errorf("500 records took %s, want about 10s", took)
		}
		for at := calls[0].at; at < calls[0].at+took-time.Second; at += 100 * ms {
			if n := len(h.between(at, at+time.Second)); n > 56 {
				t.Fatalf("%d POSTs in the second from %s on", n, at)
			}
		}
		t.Logf("500 records in %s, at most %v held", took, most)
		if most > 150 {
			t.Errorf("%v records held, want about those of a second", most)
		}
		b.account(account{})
	})
}
