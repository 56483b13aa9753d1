package bubble

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sharehook/sharehook/gateway"
)

// drainScript: a "long" record takes 5 s, a "retry" record fails at its first
// attempt, the rest takes a second.
func drainScript(c call) reply {
	switch {
	case c.key[0] == 'l':
		return reply{after: 5 * time.Second}
	case c.key[0] == 'r' && c.delivery == 1:
		return reply{status: 503}
	default:
		return reply{after: time.Second}
	}
}

// A drain: not ready at once, nothing acquired any more, attempts that run are
// finished, and the rest goes to another gateway.
func TestDrain(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", drainScript)
		text := b.file(h.endpoint("concurrency: 3", "retry: {initial_interval: 1m, max_interval: 1m, randomization_factor: 0}"))
		first := b.ready(text)
		b.keyed("orders", "retry 1", "retry 2")
		b.await("both wait", func() bool { return len(h.all()) == 2 && h.inFlight() == 0 })
		b.keyed("orders", "long 1", "long 2", "long 3", "queued 1", "queued 2", "queued 3")
		b.await("three run", func() bool { return h.inFlight() == 3 })
		b.pass(time.Second)

		begun := b.since()
		first.drainIt()
		synctest.Wait()
		if r := first.readiness(); r.Ready || b.since() != begun {
			t.Errorf("readiness %+v, %s after the signal", r, b.since()-begun)
		}
		b.keyed("orders", "new 1", "new 2")
		acquired := first.metrics()[`sharehook_records_acquired_total{endpoint="orders",topic="orders"}`]
		<-first.ended
		if first.err != nil {
			t.Errorf("the drain ended with %v", first.err)
		}
		// What was left of the long ones, and the confirmation.
		if took := b.since() - begun; took < 4*time.Second || took > 4500*ms {
			t.Errorf("the drain took %s, want about 4s", took)
		}
		if now := first.metrics()[`sharehook_records_acquired_total{endpoint="orders",topic="orders"}`]; now > acquired {
			t.Errorf("%v records acquired by a gateway that drains", now-acquired)
		}
		calls := h.all()
		if len(calls) != 2+3 {
			t.Errorf("%d requests by the first gateway, want 5", len(calls))
		}
		for _, key := range []string{"long 1", "long 2", "long 3"} {
			if d := first.of(key); len(d) != 1 || d[0].Acknowledgement != "accept" || d[0].Err != nil {
				t.Errorf("%s: %+v", key, d)
			}
		}
		for _, key := range []string{"retry 1", "retry 2"} {
			if d := first.of(key); len(d) != 1 || !d[0].Interrupted || d[0].Acknowledgement != "none" {
				t.Errorf("%s: %+v, want it given back", key, d)
			}
		}
		if lag := b.lag("orders"); lag != 2+3+2 {
			t.Errorf("lag %d, want 7", lag)
		}

		second := b.ready(text)
		b.settled("orders")
		b.account(account{duplicates: 0})
		for _, key := range []string{"retry 1", "retry 2"} {
			calls := h.of(key)
			if len(calls) != 2 || calls[0].id != calls[1].id || calls[1].delivery != 2 {
				t.Errorf("%s: requests %+v, want a second one with the same id in delivery 2", key, calls)
			}
		}
		for _, d := range second.all() {
			if key := string(d.Key); key[0] == 'l' {
				t.Errorf("%s was delivered again", key)
			}
		}
	})
}

// Two gateways of one group: when one drains under load the other takes over,
// and no record arrives twice.
func TestDrainBesideAnother(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", func(c call) reply {
			return reply{after: time.Duration(20+c.record.offset%7*30) * ms}
		})
		text := b.file(h.endpoint("concurrency: 4"))
		first, second := b.ready(text), b.ready(text)
		const records = 400
		time.AfterFunc(2*time.Second, first.drainIt) // in the middle
		for i := range records {
			b.keyed("orders", fmt.Sprint("r", i))
			b.pass(10 * ms)
		}
		b.settled("orders")
		<-first.ended
		b.account(account{duplicates: 0})
		if n, m := len(first.all()), len(second.all()); n == 0 || m == 0 {
			t.Errorf("%d and %d deliveries, want both to have some", n, m)
		}
	})
}

// What does not finish within the grace is cut short and given back; the whole
// takes no longer.
func TestDrainRunsOutOfTime(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", func(call) reply { return reply{after: 20 * time.Second} })
		text := "shutdown: {grace: 8s}\n" + b.file(h.endpoint("timeout: 1m"))
		first := b.ready(text)
		b.keyed("orders", "a", "b")
		b.await("both run", func() bool { return h.inFlight() == 2 })
		if took := first.drain(); took < 6*time.Second || took > 8*time.Second {
			t.Errorf("the drain took %s, want 6s for attempts and less than 8s in all", took)
		}
		for _, d := range first.all() {
			if !d.Interrupted || d.Reason != "stopped" || d.Acknowledgement != "none" || d.Attempts != 1 {
				t.Errorf("delivery %+v, want an interruption", d)
			}
		}
		b.pass(time.Second)
		if n := h.inFlight(); n != 0 {
			t.Errorf("%d requests still run", n)
		}
		b.ready(text)
		b.settled("orders")
		b.account(account{})
		for _, c := range h.all()[2:] {
			if c.delivery != 2 {
				t.Errorf("delivery %d, want 2", c.delivery)
			}
		}
	})
}

// The second signal stops at once. Nothing is lost by it.
func TestSecondSignal(t *testing.T) {
	for name, between := range map[string]time.Duration{"at the same time": 0, "a second later": time.Second} {
		t.Run(name, func(t *testing.T) {
			scenario(t, func(b *bed) {
				h := b.hook("orders", func(c call) reply {
					if c.delivery == 1 {
						return reply{hang: true}
					}
					return reply{}
				})
				text := b.file(h.endpoint("timeout: 1m"))
				first := b.ready(text)
				b.keyed("orders", "a", "b", "c")
				b.await("all run", func() bool { return h.inFlight() == 3 })
				first.drainIt()
				b.pass(between)
				begun := b.since()
				close(first.killIt)
				<-first.ended
				if !errors.Is(first.err, gateway.ErrKilled) {
					t.Errorf("it ended with %v, want ErrKilled", first.err)
				}
				if took := b.since() - begun; took > time.Second {
					t.Errorf("it took %s after the second signal", took)
				}
				if lag := b.lag("orders"); lag != 3 {
					t.Errorf("lag %d, want 3", lag)
				}
				b.ready(text)
				b.settled("orders")
				b.account(account{})
			})
		})
	}
}

// A gateway that waits for something that is missing ends at once.
func TestDrainBeforeItIsReady(t *testing.T) {
	scenarioOn(t, broker{topics: []string{"other"}}, func(b *bed) {
		h := b.hook("orders", accepting)
		for _, keys := range [][]string{{}, {"dead_letter: {by: gateway}"}, {"dead_letter: {by: broker}"}} {
			g := b.start(b.file(h.endpoint(keys...)))
			b.pass(7 * time.Second)
			if took := g.drain(); took > time.Second {
				t.Errorf("%v: the drain took %s", keys, took)
			}
		}
	})
}

// A drain while the broker is gone ends within the grace, too.
func TestDrainWithoutBroker(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", accepting)
		g := b.ready("shutdown: {grace: 6s}\n" + b.file(h.endpoint()))
		b.keyed("orders", "a")
		b.settled("orders")
		b.broker.Close()
		b.pass(10 * time.Second)
		begun := time.Now()
		g.drainIt()
		<-g.ended
		if took := time.Since(begun); took > 6*time.Second {
			t.Errorf("the drain took %s", took)
		}
	})
}
