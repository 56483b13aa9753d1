//go:build kafka

package process

import (
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/test/kafka"
)

const (
	concurrency = 64 // POSTs in flight of an endpoint, by default
	answerTime  = 3 * time.Second
)

// replica is a configuration whose POSTs say that they are its own.
func replica(c *kafka.Cluster, name, endpointName string, h *hook, more keys) keys {
	return configuration(c, endpoint(endpointName, h, keys{"headers": keys{replicaHeader: name}}.with(more)))
}

// slow answers the POSTs of one replica late, but for its first one: before
// that, the breaker lets only few begin.
func slow(name string, after time.Duration) script {
	var first atomic.Bool
	return func(p *post) reply {
		if p.replica == name && !first.CompareAndSwap(false, true) {
			return reply{after: after}
		}
		return reply{}
	}
}

// fill waits until a replica has all the POSTs under way that it may have.
func fill(t *testing.T, g *gateway, h *hook) {
	t.Helper()
	kafka.Wait(t, readyWait, "64 POSTs to be under way", func() bool {
		return len(h.all(underWay)) >= concurrency && g.Metric("sharehook_records_acknowledged_total") > 0
	})
}

// numbered produces n records, spread over all partitions.
func numbered(t *testing.T, c *kafka.Cluster, topic string, n int) []*kgo.Record {
	t.Helper()
	return c.ProduceNumbered(t, topic, 0, n)
}

func TestDrain(t *testing.T) {
	t.Parallel()
	drain(t, shared)
}

// drain stops a replica that has 64 POSTs under way and 1000 records waiting
// behind them, and has another do the rest.
func drain(t *testing.T, c *kafka.Cluster) {
	h := newHook(t, slow("a", answerTime))
	n := name("drain")
	c.CreateTopic(t, n, partitions, nil)
	more := keys{"share_group": keys{"lock": "60s"}}
	path := write(t, replica(c, "a", n, h, more))
	provision(t, path)
	records := numbered(t, c, n, concurrency+1000)
	a := start(t, path)
	fill(t, a, h)

	signalled := time.Now()
	a.Signal(syscall.SIGTERM)
	kafka.Wait(t, time.Second, "/readyz to be 503", func() bool {
		status, _ := a.Readiness()
		return status == http.StatusServiceUnavailable
	})
	b := start(t, write(t, replica(c, "b", n, h, more)))
	if code := a.Exit(25 * time.Second); code != 0 {
		t.Errorf("exits %d, want 0", code)
	}
	took := time.Since(signalled)

	ledger{c, n, n, letters(n), []*hook{h}}.settle(t, records).once(t)
	settled := time.Since(signalled)
	// What was given back is free at once, not when its lock ends.
	if settled > 45*time.Second {
		t.Errorf("all was settled %s after SIGTERM, as if locks of 60 s had to end", settled)
	}
	if late := h.all(from("a"), since(signalled.Add(time.Second))); len(late) > 0 {
		t.Errorf("%d POSTs began later than 1 s after SIGTERM:\n%s", len(late), describe(late))
	}
	if cut := h.all(from("a"), underWay); len(cut) > 0 {
		t.Errorf("%d POSTs were cut short:\n%s", len(cut), describe(cut))
	}
	seen := make(map[string]bool)
	for _, p := range h.all() {
		if seen[p.id] {
			t.Errorf("%s was POSTed twice", p.id)
		}
		seen[p.id] = true
	}
	posts := h.all()
	t.Logf("the drain took %s, the last POST came after %s, all was settled after %s; replica a %d POSTs, replica b %d",
		took.Round(time.Millisecond), posts[len(posts)-1].at.Sub(signalled).Round(time.Millisecond), settled.Round(time.Millisecond),
		len(h.all(from("a"))), len(h.all(from("b"))))
	b.Signal(syscall.SIGTERM)
	if code := b.Exit(25 * time.Second); code != 0 {
		t.Errorf("the idle replica exits %d, want 0", code)
	}
}

// TestSecondSignal: the second SIGTERM ends the process at once, and what it
// had under way is delivered by the next one.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	h := newHook(t, slow("a", time.Minute))
	n := name("second")
	shared.CreateTopic(t, n, partitions, nil)
	path := write(t, replica(shared, "a", n, h, keys{"timeout": "2m"}))
	provision(t, path)
	records := numbered(t, shared, n, 300)
	a := start(t, path)
	fill(t, a, h)
	first := time.Now()
	a.Signal(syscall.SIGTERM)
	// Two within a moment are taken for one.
	kafka.Wait(t, 2*time.Second, "the drain to go on for a moment", func() bool {
		return len(a.Lines("draining")) > 0 && time.Since(first) > 500*time.Millisecond
	})
	second := time.Now()
	a.Signal(syscall.SIGTERM)
	code := a.Exit(25 * time.Second)
	if took := time.Since(second); took > busy {
		t.Errorf("ends %s after the second SIGTERM, want 1 s at most", took)
	}
	if code != 1 {
		t.Errorf("exits %d, want 1", code)
	}
	start(t, write(t, replica(shared, "b", n, h, nil)))
	account := ledger{shared, n, n, letters(n), []*hook{h}}.settle(t, records)
	account.atMost(t, concurrency)
	if got, want := len(h.all(from("b"))), len(records)-len(h.all(from("a"), accepted)); got != want {
		t.Errorf("the next replica POSTed %d records, want %d", got, want)
	}
}
