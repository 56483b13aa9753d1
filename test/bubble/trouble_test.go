package bubble

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What the group or the topic is not permitted is said, concerns no other
// endpoint, and is over as soon as it is permitted.
func TestNotAuthorized(t *testing.T) {
	cases := map[string]struct {
		fault kfake.Fault
		says  string
	}{
		"to join": {
			kfake.Fault{Keys: []kmsg.Key{kmsg.ShareGroupHeartbeat}, Group: "sharehook.orders", Err: kerr.GroupAuthorizationFailed},
			"GROUP_AUTHORIZATION_FAILED",
		},
		"to see the group": {
			kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeShareGroupOffsets, kmsg.ShareGroupDescribe}, Group: "sharehook.orders", Err: kerr.GroupAuthorizationFailed},
			"GROUP_AUTHORIZATION_FAILED",
		},
		"to fetch": {
			kfake.Fault{Keys: []kmsg.Key{kmsg.ShareFetch}, Topic: "orders", Err: kerr.TopicAuthorizationFailed},
			"TOPIC_AUTHORIZATION_FAILED",
		},
		"to see the topic": {
			kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: "orders", Err: kerr.TopicAuthorizationFailed},
			"TOPIC_AUTHORIZATION_FAILED",
		},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			scenarioOn(t, broker{topics: []string{"orders", "refunds"}}, func(b *bed) {
				h, other := b.hook("orders", accepting), b.hook("refunds", accepting)
				b.keyed("orders", "a", "b")
				b.keyed("refunds", "c")
				c.fault.Count = -1
				fault := b.broker.Fault(c.fault)
				g := b.start(b.file(h.endpoint(), other.endpoint()))
				b.settled("refunds")
				b.pass(40 * time.Second)
				if reason := g.reason("orders"); !strings.Contains(reason, c.says) {
					t.Errorf("the reason is %q, want one with %s", reason, c.says)
				}
				if n := len(h.all()); n > 0 {
					t.Errorf("%d requests", n)
				}
				fault.Remove()
				permitted := b.since()
				b.await("the endpoint is ready", func() bool { return g.reason("orders") == "" })
				b.settled("orders")
				b.account(account{})
				if took := h.all()[0].at - permitted; took > 30*time.Second {
					t.Errorf("the first record came %s after it was permitted", took)
				}
			})
		})
	}
}

// The broker drops connections, and with each the session with all its locks.
// A record that comes back while its attempt runs, or after the acceptance was
// lost on the way, is not POSTed again.
func TestLostSessions(t *testing.T) {
	for _, key := range []kmsg.Key{kmsg.ShareFetch, kmsg.ShareAcknowledge} {
		t.Run(key.Name(), func(t *testing.T) {
			scenario(t, func(b *bed) {
				h := b.hook("orders", func(c call) reply {
					return reply{after: time.Duration(10+c.record.offset%13*70) * ms}
				})
				g := b.ready(b.file(h.endpoint("concurrency: 16", "retry: {attempts: 1}")))
				var requests, drops atomic.Int32
				b.broker.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
					b.broker.KeepControl()
					if requests.Add(1)%9 != 0 || drops.Load() == 8 {
						return nil, nil, false
					}
					drops.Add(1)
					return nil, errors.New("dropped"), true
				})
				for i := range 200 {
					b.keyed("orders", fmt.Sprint(i))
					b.pass(20 * ms)
				}
				b.settled("orders")
				b.account(account{lostAnswers: true})
				if n := drops.Load(); n < 3 {
					t.Errorf("only %d of %d requests were dropped", n, requests.Load())
				}
				if n := len(h.all()); n != 200 {
					t.Errorf("%d requests for 200 records", n)
				}
				if reason := g.reason("orders"); reason != "" {
					t.Errorf("not ready: %s", reason)
				}
			})
		})
	}
}

// 410 pauses the endpoint: its record is kept, neither rejected nor tried
// again, and goes to the next gateway.
func TestGone(t *testing.T) {
	scenarioOn(t, withLetters, func(b *bed) {
		h := b.hook("orders", statuses(410))
		text := b.file(h.endpoint(byGateway))
		first := b.ready(text)
		b.keyed("orders", "a")
		b.await("the answer", func() bool { return len(h.all()) == 1 })
		b.keyed("orders", "b", "c")
		b.pass(2 * time.Minute)
		if n := len(h.all()); n != 1 {
			t.Errorf("%d requests to an endpoint that is gone", n)
		}
		first.expectMetrics("orders", map[string]float64{`breaker_state`: 3, `records_acknowledged_total{topic="orders",type="reject"}`: 0})
		first.drain()
		h.answers(accepting)
		b.ready(text)
		b.settled("orders")
		b.account(account{letters: "letters"})
		if letters := b.letters("letters"); len(letters) > 0 {
			t.Errorf("letters %v", letters)
		}
	})
}
