package bubble

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// byGateway has the gateway write dead letters.
	byGateway = "dead_letter: {by: gateway, topic: letters}"
	oneTry    = "retry: {attempts: 1, initial_interval: 100ms, randomization_factor: 0}"
	// noBreaker is for endpoints whose failures are to be seen one by one.
	noBreaker = "breaker: {enabled: false}"
)

var withLetters = broker{topics: []string{"orders", "letters"}}

func TestRejectedByGateway(t *testing.T) {
	scenarioOn(t, withLetters, func(b *bed) {
		h := b.hook("orders", func(c call) reply {
			if c.key == "bad" {
				return reply{status: 422, body: "no such customer"}
			}
			return reply{}
		})
		b.produce(
			&kgo.Record{Topic: "orders", Key: []byte("bad"), Value: []byte("order 1"), Headers: []kgo.RecordHeader{
				{Key: "tenant", Value: []byte("7")},
				{Key: "tenant", Value: []byte("8")},
				{Key: "null"},
				{Key: "bytes", Value: []byte{0, 0xff}},
			}},
			&kgo.Record{Topic: "orders", Key: []byte("good"), Value: []byte("order 2")},
		)
		g := b.ready(b.file(h.endpoint(oneTry, byGateway)))
		b.settled("orders")
		b.account(account{letters: "letters"})

		letters := b.letters("letters")
		if len(letters) != 1 {
			t.Fatalf("%d letters, want 1", len(letters))
		}
		l := letters[0]
		if l.key != "bad" || string(l.value) != "order 1" || l.answer() != "no such customer" {
			t.Errorf("letter with key %q, value %q, answer %q", l.key, l.value, l.answer())
		}
		want := []kgo.RecordHeader{
			{Key: "tenant", Value: []byte("7")},
			{Key: "tenant", Value: []byte("8")},
			{Key: "null"},
			{Key: "bytes", Value: []byte{0, 0xff}},
		}
		if !slices.EqualFunc(l.headers, want, func(a, b kgo.RecordHeader) bool {
			return a.Key == b.Key && string(a.Value) == string(b.Value) && (a.Value == nil) == (b.Value == nil)
		}) {
			t.Errorf("the record's headers are %v, want %v", l.headers, want)
		}
		call, d := h.of("bad")[0], g.of("bad")[0]
		l.expect(t, map[string]string{
			"endpoint": "orders", "share_group": "sharehook.orders",
			"topic": "orders", "partition": "0", "offset": "0", "timestamp": "2000-01-01T00:00:00.000Z",
			"webhook_id": call.id, "verdict": "reject", "reason": "status_4xx", "status": "422", "cause": "",
			"attempts": "1", "delivery_count": "1", "trace_id": d.TraceID,
		})
		if d.Acknowledgement != "reject" || d.DeadLetter != "rejected" || len(h.of("bad")) != 1 {
			t.Errorf("delivery %+v after %d requests", d, len(h.of("bad")))
		}
		g.expectMetrics("orders", map[string]float64{
			`dead_letters_total{by="gateway",cause="rejected"}`:        1,
			`records_acknowledged_total{topic="orders",type="reject"}`: 1,
		})
	})
}

// expect compares headers of the letter's story.
func (l letter) expect(t *testing.T, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got, ok := l.story[name]; !ok || got != value {
			t.Errorf("letter: %s is %q, want %q", name, got, value)
		}
	}
}

// A record that is never accepted has as many deliveries as the group permits
// and then becomes a dead letter, with the story of the last one.
func TestDeliveryLimitByGateway(t *testing.T) {
	br := withLetters
	br.limit = 3
	scenarioOn(t, br, func(b *bed) {
		h := b.hook("orders", func(c call) reply {
			switch c.key {
			case "down":
				return reply{status: 503, body: "down for repair"}
			case "silent":
				return reply{hang: true}
			default:
				return reply{}
			}
		})
		b.keyed("orders", "down", "silent", "good")
		g := b.ready(b.file(h.endpoint("retry: {attempts: 2, initial_interval: 100ms, randomization_factor: 0}", "timeout: 1s", byGateway, noBreaker)))
		b.settled("orders")
		b.account(account{letters: "letters"})

		letters := map[string]letter{}
		for _, l := range b.letters("letters") {
			letters[l.key] = l
		}
		letters["down"].expect(t, map[string]string{
			"verdict": "release", "reason": "status_5xx", "status": "503", "attempts": "2", "delivery_count": "3",
			"cause": "", "webhook_id": h.of("down")[0].id,
		})
		if got := letters["down"].answer(); got != "down for repair" {
			t.Errorf("answer %q", got)
		}
		silent := letters["silent"]
		silent.expect(t, map[string]string{
			"verdict": "release", "reason": "timeout", "status": "", "attempts": "2", "delivery_count": "3", "answer": "",
		})
		if cause := silent.story["cause"]; !strings.Contains(cause, h.address) || strings.Contains(cause, "/hooks") {
			t.Errorf("cause %q, want one that names the origin and no path", cause)
		}
		for _, key := range []string{"down", "silent"} {
			if n := len(h.of(key)); n != 3*2 {
				t.Errorf("%s: %d requests, want 6: 3 deliveries of 2 attempts", key, n)
			}
			last := g.of(key)[2]
			if last.Acknowledgement != "reject" || last.DeadLetter != "delivery_limit" || last.Verdict != "release" {
				t.Errorf("%s: last delivery %+v", key, last)
			}
		}
		g.expectMetrics("orders", map[string]float64{
			`dead_letters_total{by="gateway",cause="delivery_limit"}`:   2,
			`records_acknowledged_total{topic="orders",type="release"}`: 4,
			`records_acknowledged_total{topic="orders",type="reject"}`:  2,
		})
	})
}

// Without dead letters the broker archives what is released for the last time.
// That is counted, and logged as a loss.
func TestDeliveryLimitByNone(t *testing.T) {
	scenarioOn(t, broker{limit: 3}, func(b *bed) {
		h := b.hook("orders", statuses(503))
		b.keyed("orders", "a")
		g := b.ready(b.file(h.endpoint(oneTry)))
		b.settled("orders")
		b.account(account{})
		if n := len(h.all()); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
		if last := g.of("a")[2]; last.Acknowledgement != "release" || last.DeadLetter != "delivery_limit" {
			t.Errorf("last delivery %+v", last)
		}
		g.expectMetrics("orders", map[string]float64{`dead_letters_total{by="none",cause="delivery_limit"}`: 1})
		lines := g.log.lines("delivery.acknowledged")
		if last := lines[len(lines)-1]; last["level"] != "WARN" || last["dead_letter"] != "delivery_limit" || last["dead_letter_by"] != "none" {
			t.Errorf("last line %v", last)
		}
	})
}

// While there is nowhere to put dead letters the endpoint does not run, says
// what to do, and runs as soon as it is done.
func TestLetterTopicMissingAtTheStart(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", statuses(400))
		b.keyed("orders", "a")
		g := b.start(b.file(h.endpoint("dead_letter: {by: gateway}")))
		b.pass(45 * time.Second)
		reason := g.reason("orders")
		for _, want := range []string{"dead letters would be lost", `"dlq.sharehook.orders" does not exist`, "sharehook provision"} {
			if !strings.Contains(reason, want) {
				t.Errorf("the reason %q does not say %q", reason, want)
			}
		}
		if n := len(h.all()); n > 0 {
			t.Errorf("%d requests while dead letters would be lost", n)
		}
		b.topic("dlq.sharehook.orders")
		b.await("the endpoint is ready", func() bool { return g.reason("orders") == "" })
		b.settled("orders")
		b.account(account{letters: "dlq.sharehook.orders"})
	})
}

// kfake is a broker that writes no dead letters: it does not get to archive
// records instead.
func TestBrokerWithoutDeadLetters(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", statuses(400))
		b.keyed("orders", "a")
		g := b.start(b.file(h.endpoint("dead_letter: {by: broker}")))
		b.pass(45 * time.Second)
		if reason := g.reason("orders"); !strings.Contains(reason, "dead_letter.by to gateway") {
			t.Errorf("the reason %q does not say what to do", reason)
		}
		if n, lag := len(h.all()), b.lag("orders"); n > 0 || lag > 0 {
			t.Errorf("%d requests, lag %d; the group must not even be there", n, lag)
		}
	})
}
