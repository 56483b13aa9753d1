//go:build kafka

package process

import (
	"net/http"
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/kafka"
)

// TestLeaders: three brokers, and what their partitions' leaders may do under
// load.
func TestLeaders(t *testing.T) {
	t.Parallel()
	c := kafka.Start(t, kafka.Options{Brokers: 3})
	h := newHook(t, func(*post) reply { return reply{after: 300 * time.Millisecond} })
	n := name("leaders")
	c.CreateTopic(t, n, partitions, map[string]string{"min.insync.replicas": "2"})
	path := write(t, configuration(c, endpoint(n, h, nil)))
	provision(t, path)
	g := start(t, path)
	g.AwaitReady()
	book := ledger{c, n, n, letters(n), []*hook{h}}

	load := produce(t, c, n, 100, nil)
	load.await(100)
	for partition := range int32(partitions) {
		c.MoveLeader(t, n, partition, c.Leader(t, n, partition)%3+1)
		load.await(20)
	}
	load.await(100)
	moved := load.stop()
	book.settle(t, moved).once(t)

	load = produce(t, c, n, 100, nil)
	load.await(100)
	leader := c.Leader(t, n, 0)
	killed := time.Now()
	c.Kill(t, leader)
	// Acknowledgements of what it led are not known to it any more.
	under := len(h.all(held("", killed)))
	load.await(300)
	c.Restart(t, leader)
	load.await(300)
	a := book.settle(t, append(moved, load.stop()...))
	t.Logf("%d POSTs were held when the leader died", under)
	a.only(t, h, "", killed)
	a.atMost(t, concurrency)
	g.AwaitReady()
}

// TestBrokerAway: the only broker is away when the gateway starts, and later
// under load; and a gateway that provisions an empty cluster by itself needs
// no other command.
func TestBrokerAway(t *testing.T) {
	t.Parallel()
	c := kafka.Start(t, kafka.Options{Settings: patient})
	h := newHook(t, byKey(map[string]script{"bad": always(http.StatusBadRequest)}))
	n := name("away")
	c.CreateTopic(t, n, partitions, nil)
	path := write(t, configuration(c, endpoint(n, h, nil)))
	first := start(t, path, "--provision")
	first.AwaitReady()
	records := keyed(n, "good", "bad")
	c.Produce(t, records...)
	book := ledger{c, n, n, letters(n), []*hook{h}}
	a := book.settle(t, records)
	a.once(t)
	if a.dead != 1 {
		t.Errorf("%d dead letters, want 1", a.dead)
	}
	first.Kill()

	c.Stop(t, 1)
	g := start(t, path)
	t.Log("without a broker: " + g.AwaitUnready(n, readyWait, n))
	c.Restart(t, 1)
	restarted := time.Now()
	g.AwaitReady()
	t.Logf("ready %s after the broker", time.Since(restarted).Round(time.Millisecond))

	load := produce(t, c, n, 100, nil)
	load.await(200)
	stopped := time.Now()
	c.Stop(t, 1)
	t.Log("while it is away: " + g.AwaitUnready(n, readyWait, "heartbeat"))
	t.Logf("/readyz said so after %s", time.Since(stopped).Round(time.Millisecond))
	c.Restart(t, 1)
	restarted = time.Now()
	load.await(200)
	kafka.Wait(t, readyWait, "it to deliver again", func() bool { return len(h.all(accepted, since(restarted))) > 0 })
	t.Logf("delivered again %s after the broker was back", time.Since(restarted).Round(time.Millisecond))
	g.AwaitReady()
	a = book.settle(t, append(records, load.stop()...))
	a.only(t, h, "", stopped)
	a.atMost(t, concurrency)
}
