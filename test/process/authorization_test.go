//go:build kafka

package process

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/sharehook/sharehook/test/kafka"
	"github.com/sharehook/sharehook/test/rig"
)

// TestAuthorization: an endpoint whose group or topic it may not read says so
// and goes on when it may, and the other one of the process delivers all the
// time.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	c, address := rig.Secured(t)
	h := newHook(t, ok)
	free, bound := name("free"), name("bound")
	for _, n := range []string{free, bound} {
		c.CreateTopic(t, n, 1, nil)
		c.CreateTopic(t, letters(n), 1, admits(nil))
		c.SetGroup(t, group(n), groupLetters, letters(n), "share.auto.offset.reset", "earliest")
	}
	readTopic := func(n string) *kadm.ACLBuilder { return rig.Rights().Topics(n).Operations(kadm.OpRead) }
	readGroup := func(n string) *kadm.ACLBuilder { return rig.Rights().Groups(group(n)).Operations(kadm.OpRead) }
	rig.Grant(t, c, rig.Rights().Topics(letters(free), letters(bound)).Operations(kadm.OpDescribe, kadm.OpDescribeConfigs))
	rig.Grant(t, c, rig.Rights().Groups(group(free), group(bound)).Operations(kadm.OpDescribeConfigs))
	rig.Grant(t, c, rig.Rights().Clusters().Operations(kadm.OpDescribeConfigs))
	rig.Grant(t, c, readTopic(free))
	rig.Grant(t, c, readGroup(free))

	settings := func(password string) keys {
		return configuration(c, endpoint(free, h, nil), endpoint(bound, h, nil)).with(keys{"kafka": keys{
			"brokers": []string{address}, "sasl": keys{"mechanism": "SCRAM-SHA-512", "username": rig.User, "password": password},
		}})
	}
	wrong := start(t, write(t, settings("guess")))
	t.Log("wrong password: " + wrong.AwaitUnready(free, readyWait, "SASL", "kafka.sasl"))
	wrong.Kill()

	g := start(t, write(t, settings(rig.Quoted)))
	delivers(t, c, g, h, free, "first")
	t.Log("nothing granted: " + g.AwaitUnready(bound, readyWait, "AUTHORIZATION", "grant"))
	rig.Grant(t, c, readGroup(bound))
	t.Log("group granted: " + g.AwaitUnready(bound, readyWait, "TOPIC_AUTHORIZATION", bound, "grant READ on the topic"))
	rig.Grant(t, c, readTopic(bound))
	g.AwaitReady()
	delivers(t, c, g, h, bound, "granted")

	rig.Withdraw(t, c, readTopic(bound))
	t.Log("topic withdrawn: " + g.AwaitUnready(bound, readyWait, "TOPIC_AUTHORIZATION", bound, "grant READ on the topic"))
	delivers(t, c, g, h, free, "second")
	rig.Grant(t, c, readTopic(bound))
	g.AwaitReady()
	delivers(t, c, g, h, bound, "topic again")

	rig.Withdraw(t, c, readGroup(bound))
	t.Log("group withdrawn: " + g.AwaitUnready(bound, readyWait, "GROUP_AUTHORIZATION", "grant READ on the share group"))
	delivers(t, c, g, h, free, "third")
	rig.Grant(t, c, readGroup(bound))
	g.AwaitReady()
	delivers(t, c, g, h, bound, "group again")

	plain := settings(rig.Quoted)
	plain["kafka"].(keys)["sasl"].(keys)["mechanism"] = "PLAIN" //nolint:forcetypeassert // made so above
	g.Kill()
	start(t, write(t, plain)).AwaitReady()
	if d := h.duplicates(free); len(d) > 0 {
		t.Errorf("the endpoint beside has duplicates:\n%s", describe(d))
	}
}

// delivers proves that an endpoint does.
func delivers(t *testing.T, c *kafka.Cluster, g *gateway, h *hook, n, key string) {
	t.Helper()
	g.AwaitEndpoint(n, readyWait)
	c.Produce(t, keyed(n, key)...)
	kafka.Wait(t, readyWait, n+" to deliver "+key, func() bool { return len(h.all(accepted, withKey(key))) == 1 })
}
