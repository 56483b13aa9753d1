package rig

import (
	"context"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/sharehook/sharehook/test/kafka"
)

// User and Password are what a secured cluster knows the gateway by; Quoted is
// the password in a configuration, where $$ is a dollar sign.
const (
	User     = "gateway"
	Password = `p@s$w0rd: "0123"`
	Quoted   = `p@s$$w0rd: "0123"`
)

// Secured is a cluster with a second listener, whose clients have a name and a
// password and may do what was granted to them. The first one is for the test
// and the node itself, which may do everything.
func Secured(tb testing.TB) (c *kafka.Cluster, address string) {
	tb.Helper()
	address = UnusedAddress(tb)
	const listener = "listener.name.secured."
	c = kafka.Start(tb, kafka.Options{
		Listeners: []string{"SECURED://" + address},
		Settings: map[string]string{
			"listener.security.protocol.map":            "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURED:SASL_PLAINTEXT",
			"authorizer.class.name":                     "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
			"super.users":                               "User:ANONYMOUS",
			listener + "sasl.enabled.mechanisms":        "PLAIN,SCRAM-SHA-512",
			listener + "scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
			listener + "plain.sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required user_` + User +
				`="p@s$w0rd: \\"0123\\"";`,
		},
	})
	results, err := c.Admin().AlterUserSCRAMs(context.Background(), nil, []kadm.UpsertSCRAM{{
		User: User, Mechanism: kadm.ScramSha512, Iterations: 4096, Password: Password,
	}})
	if err == nil {
		err = results.Error()
	}
	if err != nil {
		tb.Fatalf("make the user: %v", err)
	}
	return c, address
}

// Rights are what the gateway's user may do.
func Rights() *kadm.ACLBuilder {
	return kadm.NewACLs().ResourcePatternType(kadm.ACLPatternLiteral).Allow("User:" + User).AllowHosts("*")
}

// Grant gives rights.
func Grant(tb testing.TB, c *kafka.Cluster, b *kadm.ACLBuilder) {
	tb.Helper()
	results, err := c.Admin().CreateACLs(context.Background(), b)
	if err != nil {
		tb.Fatalf("grant: %v", err)
	}
	for _, r := range results {
		if r.Err != nil {
			tb.Fatalf("grant: %v: %s", r.Err, r.ErrMessage)
		}
	}
}

// Withdraw takes rights back, each of which was granted.
func Withdraw(tb testing.TB, c *kafka.Cluster, b *kadm.ACLBuilder) {
	tb.Helper()
	results, err := c.Admin().DeleteACLs(context.Background(), b)
	if err != nil {
		tb.Fatalf("withdraw: %v", err)
	}
	for _, r := range results {
		if r.Err != nil || len(r.Deleted) == 0 {
			tb.Fatalf("withdraw: %d deleted, %v: %s", len(r.Deleted), r.Err, r.ErrMessage)
		}
	}
}

// UnusedAddress is a loopback address that answers nothing, below the
// ephemeral range.
func UnusedAddress(tb testing.TB) string {
	tb.Helper()
	l := listen(tb, "")
	defer l.Close()
	return l.Addr().String()
}

// Mute is an address that takes connections and never says a word.
func Mute(tb testing.TB) string {
	tb.Helper()
	l := listen(tb, "")
	done := make(chan struct{})
	go func() {
		defer close(done)
		var open []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break // closed
			}
			open = append(open, c)
		}
		for _, c := range open {
			c.Close()
		}
	}()
	tb.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String()
}
