//go:build kafka

package process

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/sharehook/sharehook/test/kafka"
)

const (
	user     = "gateway"
	password = `p@s$w0rd: "0123"`
	quoted   = `p@s$$w0rd: "0123"` // in a configuration, where $$ is a dollar sign
)

// secured is a cluster with a second listener, whose clients have a name and a
// password and may do what was granted to them. The first one is for the test
// and the node itself, which may do everything.
func secured(t *testing.T) (c *kafka.Cluster, address string) {
	t.Helper()
	address = unusedAddress(t)
	const listener = "listener.name.secured."
	c = kafka.Start(t, kafka.Options{
		Listeners: []string{"SECURED://" + address},
		Settings: map[string]string{
			"listener.security.protocol.map":            "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURED:SASL_PLAINTEXT",
			"authorizer.class.name":                     "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
			"super.users":                               "User:ANONYMOUS",
			listener + "sasl.enabled.mechanisms":        "PLAIN,SCRAM-SHA-512",
			listener + "scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
			listener + "plain.sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required user_` + user +
				`="p@s$w0rd: \\"0123\\"";`,
		},
	})
	results, err := c.Admin().AlterUserSCRAMs(context.Background(), nil, []kadm.UpsertSCRAM{{
		User: user, Mechanism: kadm.ScramSha512, Iterations: 4096, Password: password,
	}})
	if err == nil {
		err = results.Error()
	}
	if err != nil {
		t.Fatalf("make the user: %v", err)
	}
	return c, address
}

// rights are what the gateway's user may do.
func rights() *kadm.ACLBuilder {
	return kadm.NewACLs().ResourcePatternType(kadm.ACLPatternLiteral).Allow("User:" + user).AllowHosts("*")
}

func grant(t *testing.T, c *kafka.Cluster, b *kadm.ACLBuilder) {
	t.Helper()
	results, err := c.Admin().CreateACLs(context.Background(), b)
	if err != nil {
		t.Fatalf("grant: %v", err)
	}
	for _, r := range results {
		if r.Err != nil {
			t.Fatalf("grant: %v: %s", r.Err, r.ErrMessage)
		}
	}
}

func withdraw(t *testing.T, c *kafka.Cluster, b *kadm.ACLBuilder) {
	t.Helper()
	results, err := c.Admin().DeleteACLs(context.Background(), b)
	if err != nil {
		t.Fatalf("withdraw: %v", err)
	}
	for _, r := range results {
		if r.Err != nil || len(r.Deleted) == 0 {
			t.Fatalf("withdraw: %d deleted, %v: %s", len(r.Deleted), r.Err, r.ErrMessage)
		}
	}
}

// TestAuthorization: an endpoint whose group or topic it may not read says so
// and goes on when it may, and the other one of the process delivers all the
// time.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	c, address := secured(t)
	h := newHook(t, ok)
	free, bound := name("free"), name("bound")
	for _, n := range []string{free, bound} {
		c.CreateTopic(t, n, 1, nil)
		c.CreateTopic(t, letters(n), 1, admits(nil))
		c.SetGroup(t, group(n), groupLetters, letters(n), "share.auto.offset.reset", "earliest")
	}
	readTopic := func(n string) *kadm.ACLBuilder { return rights().Topics(n).Operations(kadm.OpRead) }
	readGroup := func(n string) *kadm.ACLBuilder { return rights().Groups(group(n)).Operations(kadm.OpRead) }
	grant(t, c, rights().Topics(letters(free), letters(bound)).Operations(kadm.OpDescribe, kadm.OpDescribeConfigs))
	grant(t, c, rights().Groups(group(free), group(bound)).Operations(kadm.OpDescribeConfigs))
	grant(t, c, rights().Clusters().Operations(kadm.OpDescribeConfigs))
	grant(t, c, readTopic(free))
	grant(t, c, readGroup(free))

	settings := func(password string) keys {
		return configuration(c, endpoint(free, h, nil), endpoint(bound, h, nil)).with(keys{"kafka": keys{
			"brokers": []string{address}, "sasl": keys{"mechanism": "SCRAM-SHA-512", "username": user, "password": password},
		}})
	}
	wrong := start(t, write(t, settings("guess")))
	t.Log("wrong password: " + wrong.awaitReason(free, readyWait, "SASL", "kafka.sasl"))
	wrong.kill()

	g := start(t, write(t, settings(quoted)))
	delivers(t, c, g, h, free, "first")
	t.Log("nothing granted: " + g.awaitReason(bound, readyWait, "AUTHORIZATION", "grant"))
	grant(t, c, readGroup(bound))
	t.Log("group granted: " + g.awaitReason(bound, readyWait, "TOPIC_AUTHORIZATION", bound, "grant READ on the topic"))
	grant(t, c, readTopic(bound))
	g.awaitReady()
	delivers(t, c, g, h, bound, "granted")

	withdraw(t, c, readTopic(bound))
	t.Log("topic withdrawn: " + g.awaitReason(bound, readyWait, "TOPIC_AUTHORIZATION", bound, "grant READ on the topic"))
	delivers(t, c, g, h, free, "second")
	grant(t, c, readTopic(bound))
	g.awaitReady()
	delivers(t, c, g, h, bound, "topic again")

	withdraw(t, c, readGroup(bound))
	t.Log("group withdrawn: " + g.awaitReason(bound, readyWait, "GROUP_AUTHORIZATION", "grant READ on the share group"))
	delivers(t, c, g, h, free, "third")
	grant(t, c, readGroup(bound))
	g.awaitReady()
	delivers(t, c, g, h, bound, "group again")

	plain := settings(quoted)
	plain["kafka"].(keys)["sasl"].(keys)["mechanism"] = "PLAIN" //nolint:forcetypeassert // made so above
	g.kill()
	start(t, write(t, plain)).awaitReady()
	if d := h.duplicates(free); len(d) > 0 {
		t.Errorf("the endpoint beside has duplicates:\n%s", describe(d))
	}
}

// delivers proves that an endpoint does.
func delivers(t *testing.T, c *kafka.Cluster, g *gateway, h *hook, n, key string) {
	t.Helper()
	g.awaitEndpoint(n, readyWait)
	c.Produce(t, keyed(n, key)...)
	kafka.Wait(t, readyWait, n+" to deliver "+key, func() bool { return len(h.all(accepted, withKey(key))) == 1 })
}
