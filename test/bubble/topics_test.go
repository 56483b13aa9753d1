package bubble

import (
	"strings"
	"testing"
	"time"
)

// An endpoint whose topic is not there waits for it and says so; the other
// one does not care. Nothing of the new topic is missed.
func TestTopicMadeLater(t *testing.T) {
	scenarioOn(t, broker{topics: []string{"refunds"}}, func(b *bed) {
		h, other := b.hook("orders", accepting), b.hook("refunds", accepting)
		// As `provision` leaves it.
		b.broker.SetGroupConfigs("sharehook.orders", map[string]string{"share.auto.offset.reset": "earliest"})
		g := b.start(b.file(h.endpoint(), other.endpoint()))
		b.await("the other endpoint is ready", func() bool { return g.reason("refunds") == "" })
		b.keyed("refunds", "a")
		b.settled("refunds")
		b.pass(time.Minute)
		if reason := g.reason("orders"); !strings.Contains(reason, `"orders"`) || !strings.Contains(reason, "UNKNOWN_TOPIC_OR_PARTITION") {
			t.Errorf("the reason is %q", reason)
		}
		b.topic("orders")
		b.keyed("orders", "b", "c")
		made := b.since()
		b.await("the endpoint is ready", func() bool { return g.reason("orders") == "" })
		b.settled("orders")
		b.account(account{})
		if calls := h.all(); calls[0].at > made+time.Minute {
			t.Errorf("the first record came %s after the topic", calls[0].at-made)
		}
	})
}

// A topic that is deleted and made again has other records at the same
// offsets. They arrive within a minute, under other names, and the endpoint's
// other topic never pauses.
func TestTopicMadeAgain(t *testing.T) {
	scenarioOn(t, broker{topics: []string{"orders", "refunds"}}, func(b *bed) {
		h := b.hook("orders", accepting)
		b.broker.SetGroupConfigs("sharehook.orders", map[string]string{"share.auto.offset.reset": "earliest"})
		b.ready(b.file(h.endpoint("topics: [orders, refunds]")))
		b.keyed("orders", "before 0", "before 1")
		b.await("the first records", func() bool { return len(h.all()) == 2 })
		b.pass(5 * time.Second)

		if err := b.broker.DeleteTopic("orders"); err != nil {
			t.Fatal(err)
		}
		b.keyed("refunds", "while it is gone")
		b.await("a record of the other topic", func() bool { return len(h.of("while it is gone")) == 1 })
		if c := h.of("while it is gone")[0]; b.since()-c.at > time.Second {
			t.Errorf("the other topic paused")
		}
		b.pass(10 * time.Second)
		b.topic("orders")
		b.connect()
		b.keyed("orders", "after 0", "after 1")
		made := b.since()
		b.await("the records of the new topic", func() bool { return len(h.of("after 0"))+len(h.of("after 1")) == 2 })
		if took := b.since() - made; took > time.Minute {
			t.Errorf("the new topic's records came after %s", took)
		}
		b.settled("orders")

		ids := map[string]string{}
		for _, c := range h.all() {
			if earlier, twice := ids[c.id]; twice {
				t.Errorf("%s and %s have the same id %s", earlier, c.key, c.id)
			}
			ids[c.id] = c.key
			if strings.Contains(c.id, ".") || c.header.Get("idempotency-key") != c.id {
				t.Errorf("%s: webhook-id %q, idempotency-key %q", c.key, c.id, c.header.Get("idempotency-key"))
			}
		}
		if a, b := h.of("before 0")[0], h.of("after 0")[0]; a.record != b.record {
			t.Errorf("%v and %v, want the same coordinates", a.record, b.record)
		}
	})
}
