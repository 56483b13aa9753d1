package bubble

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// breakage is a way in which writing a dead letter goes wrong.
type breakage struct {
	begin func(b *bed) (end func())
	// unsure: the letter may have been written. kgo tries again until it knows
	// and tells nobody meanwhile; a second letter is no fault.
	unsure bool
}

func faulty(err *kerr.Error) breakage {
	return breakage{begin: func(b *bed) func() {
		handle := b.broker.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "letters", Err: err, Count: -1})
		return handle.Remove
	}}
}

// writeBreakages are the ways that are tried.
var writeBreakages = map[string]breakage{
	"not permitted":                  faulty(kerr.TopicAuthorizationFailed),
	"too few replicas":               faulty(kerr.NotEnoughReplicas),
	"too few replicas after writing": {begin: faulty(kerr.NotEnoughReplicasAfterAppend).begin, unsure: true},
	"not the leader":                 faulty(kerr.NotLeaderForPartition),
	"too large":                      faulty(kerr.MessageTooLarge),
	"connection closed": {unsure: true, begin: func(b *bed) func() {
		letters := b.broker.TopicInfo("letters").TopicID
		var mended atomic.Bool
		b.broker.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
			if mended.Load() || r.(*kmsg.ProduceRequest).Topics[0].TopicID != letters {
				return nil, nil, false
			}
			b.broker.KeepControl()
			return nil, errors.New("closed"), true
		})
		return func() { mended.Store(true) }
	}},
}

// While a dead letter cannot be written its record is held: neither rejected
// nor released, nor POSTed again. Others go on.
func TestLetterCannotBeWritten(t *testing.T) {
	for what, broken := range writeBreakages {
		t.Run(what, func(t *testing.T) {
			br := withLetters
			br.lock = 2 * time.Second
			scenarioOn(t, br, func(b *bed) {
				h := b.hook("orders", func(c call) reply {
					if strings.HasPrefix(c.key, "bad") {
						return reply{status: 400}
					}
					return reply{}
				})
				g := b.ready(b.file(h.endpoint("retry: {attempts: 1, max_interval: 5s}", byGateway)))
				end := broken.begin(b)
				b.keyed("orders", "bad 1", "good 1", "bad 2")
				b.pass(50 * time.Second)
				if lag := b.lag("orders"); lag != 2 {
					t.Errorf("lag %d while letters cannot be written, want 2", lag)
				}
				b.keyed("orders", "good 2")
				b.pass(time.Second)
				if len(g.of("good 2")) != 1 || len(g.of("bad 1")) != 0 {
					t.Error("a record behind those that are held does not go on")
				}
				if reason := g.reason("orders"); reason != "" {
					t.Errorf("not ready: %s", reason)
				}
				end()
				b.settled("orders")

				for _, key := range []string{"bad 1", "bad 2"} {
					calls, deliveries := h.of(key), g.of(key)
					if len(calls) != 1 || len(deliveries) != 1 || deliveries[0].DeliveryCount != 1 || deliveries[0].Acknowledgement != "reject" {
						t.Errorf("%s: %d requests, deliveries %+v", key, len(calls), deliveries)
					}
				}
				if broken.unsure {
					b.expectLetters("letters", 2)
				} else {
					b.account(account{letters: "letters"})
				}
				// The lock of 2 s was kept for all the time.
				g.expectMetrics("orders", map[string]float64{
					`records_lapsed_total`: 0, `dead_letters_total{by="gateway",cause="rejected"}`: 2,
				})
				if lines := g.log.lines("write dead letter: trying again, the record is held"); len(lines) == 0 && !broken.unsure {
					t.Error("nothing was logged")
				}
			})
		})
	}
}

// expectLetters wants letters of so many different records.
func (b *bed) expectLetters(topic string, records int) {
	b.t.Helper()
	different := map[coordinates]bool{}
	for _, l := range b.letters(topic) {
		different[l.record] = true
	}
	if len(different) != records {
		b.t.Errorf("letters of %d records, want %d", len(different), records)
	}
}

// The dead-letter topic goes away under way. The endpoint rests at the next
// look, holds what it has, and goes on when the topic is there again.
func TestLetterTopicDeletedUnderWay(t *testing.T) {
	scenarioOn(t, withLetters, func(b *bed) {
		h := b.hook("orders", func(c call) reply {
			if strings.HasPrefix(c.key, "bad") {
				return reply{status: 400}
			}
			return reply{}
		})
		g := b.ready(b.file(h.endpoint("retry: {attempts: 1, max_interval: 5s}", byGateway)))
		if err := b.broker.DeleteTopic("letters"); err != nil {
			t.Fatal(err)
		}
		b.keyed("orders", "bad 1")
		b.pass(70 * time.Second)
		if reason := g.reason("orders"); !strings.Contains(reason, `"letters" does not exist`) {
			t.Errorf("the reason is %q", reason)
		}
		b.keyed("orders", "good", "bad 2")
		b.pass(30 * time.Second)
		if calls := h.all(); len(calls) != 1 {
			t.Errorf("%d requests while the endpoint rests, want the 1 before", len(calls))
		}
		b.topic("letters")
		b.await("the endpoint is ready", func() bool { return g.reason("orders") == "" })
		b.settled("orders")
		b.account(account{letters: "letters"})
		if n := len(h.of("bad 1")); n != 1 {
			t.Errorf("%d requests with the first record, want 1", n)
		}
	})
}

// A drain writes the letters that it can, and does not reject without.
func TestDrainWhileLettersCannotBeWritten(t *testing.T) {
	br := withLetters
	br.limit = 5
	scenarioOn(t, br, func(b *bed) {
		h := b.hook("orders", statuses(400))
		text := b.file(h.endpoint("retry: {attempts: 1}", byGateway))
		g := b.ready(text)
		end := writeBreakages["not permitted"].begin(b)
		b.keyed("orders", "a", "b")
		b.await("requests", func() bool { return len(h.all()) == 2 })
		if took := g.drain(); took > 25*time.Second {
			t.Errorf("the drain took %s, more than the grace", took)
		}
		if lag := b.lag("orders"); lag != 2 {
			t.Errorf("lag %d after the drain, want 2: both given back", lag)
		}
		end()
		second := b.ready(text)
		b.settled("orders")
		b.account(account{letters: "letters"})
		for _, d := range second.all() {
			if d.DeliveryCount != 2 {
				t.Errorf("delivery count %d, want 2", d.DeliveryCount)
			}
		}
	})
}
