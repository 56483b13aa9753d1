//go:build kafka

package process

import (
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/test/kafka"
	"github.com/sharehook/sharehook/test/rig"
)

// TestReload: a changed, an added and a removed endpoint come into force, and
// one that did not change keeps its POSTs and its connections.
func TestReload(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	calm := newHook(t, func(p *post) reply {
		if p.key == "held" {
			return reply{when: answer}
		}
		return reply{}
	})
	old, fresh := newHook(t, ok), newHook(t, ok)
	same, changed, gone, added := name("same"), name("changed"), name("gone"), name("added")
	for _, n := range []string{same, changed, gone, added} {
		shared.CreateTopic(t, n, 1, nil)
	}
	plain := keys{"share_group": keys{"start": "earliest"}, "dead_letter": keys{"by": "none"}}
	patient := plain.with(keys{"timeout": "2m"})
	path := write(t, configuration(shared, endpoint(same, calm, patient), endpoint(changed, old, plain), endpoint(gone, old, plain)))
	g := start(t, path)
	g.AwaitReady()
	shared.Produce(t, keyed(same, "held", "held", "held")...)
	shared.Produce(t, append(keyed(changed, "one"), keyed(gone, "one")...)...)
	kafka.Wait(t, readyWait, "the first deliveries", func() bool {
		return len(calm.all(underWay)) == 3 && len(old.all(accepted)) == 2
	})

	rewrite(t, path, configuration(shared, endpoint(same, calm, patient), endpoint(changed, fresh, plain), endpoint(added, fresh, plain)))
	g.Signal(syscall.SIGHUP)
	kafka.Wait(t, readyWait, "the reload", func() bool { return len(g.Lines("configuration reloaded")) > 0 })
	g.AwaitReady()
	if _, conditions := g.Readiness(); len(conditions) != 3 || !conditions[added].Ready {
		t.Errorf("/readyz says %v, want %s, %s and %s", conditions, same, changed, added)
	}
	shared.Produce(t, append(keyed(changed, "two"), append(keyed(added, "two"), keyed(gone, "two")...)...)...)
	kafka.Wait(t, readyWait, "the new endpoints to deliver", func() bool { return len(fresh.all(accepted)) == 2 })
	if n := len(old.all()); n != 2 {
		t.Errorf("the old URL has %d POSTs, want the 2 of before", n)
	}
	unmoved(t, g, calm, same, answer)
	faults(t, g, path, fresh, added)
}

// unmoved proves that an endpoint was not touched by the reload.
func unmoved(t *testing.T, g *gateway, h *hook, n string, answer chan struct{}) {
	t.Helper()
	close(answer)
	shared.WaitGroupLag(t, group(n), n, 0, settleWait)
	conns := make(map[string]bool)
	for _, p := range h.all() {
		conns[p.conn] = true
	}
	if posts := h.all(); len(posts) != 3 || len(h.all(accepted)) != 3 {
		t.Errorf("the POSTs of the endpoint that did not change are\n%swant three, accepted", describe(posts))
	}
	shared.Produce(t, keyed(n, "after")...)
	kafka.Wait(t, readyWait, "a record after the reload", func() bool { return len(h.all(accepted)) == 4 })
	if last := h.all(withKey("after"))[0]; !conns[last.conn] {
		t.Errorf("after the reload it POSTs on connection %s, not on one of %v", last.conn, conns)
	}
	if n := g.Metric("sharehook_config_last_reload_successful"); n != 1 {
		t.Errorf("sharehook_config_last_reload_successful is %v, want 1", n)
	}
}

// faults proves that a faulty file, and one that asks for what needs a
// restart, change nothing.
func faults(t *testing.T, g *gateway, path string, h *hook, n string) {
	t.Helper()
	replace(t, path, "endpoints: [{name: only}]\n")
	g.Signal(syscall.SIGHUP)
	kafka.Wait(t, readyWait, "the log to say what is wrong", func() bool {
		return len(g.Lines("configuration has a fault: the old one goes on")) > 0
	})
	kafka.Wait(t, readyWait, "the metric to be 0", func() bool { return g.Metric("sharehook_config_last_reload_successful") == 0 })

	rewrite(t, path, configuration(shared, endpoint(n, h, nil)).with(keys{"admin": keys{"listen": rig.UnusedAddress(t)}}))
	g.Signal(syscall.SIGHUP)
	kafka.Wait(t, readyWait, "the log to name what needs a restart", func() bool {
		for _, line := range g.Lines("configuration is not reloaded: the old one goes on") {
			if text, _ := line["error"].(string); strings.Contains(text, "admin.listen") {
				return true
			}
		}
		return false
	})
	before := len(h.all())
	shared.Produce(t, &kgo.Record{Topic: n, Key: []byte("three")})
	kafka.Wait(t, readyWait, "the old configuration to go on", func() bool { return len(h.all(accepted)) == before+1 })
	g.AwaitReady()
	g.Signal(syscall.SIGTERM)
	if code := g.Exit(readyWait); code != 0 {
		t.Errorf("exits %d after SIGTERM, want 0", code)
	}
}
