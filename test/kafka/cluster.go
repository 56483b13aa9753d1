package kafka

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Options shape a cluster. The zero value is one node with short times.
type Options struct {
	// Brokers is the number of nodes, each broker and controller at once:
	// 1 (also for 0) or 3.
	Brokers int
	// Settings are lines of server.properties, added to ours or in their
	// place. A value that is empty takes our line away.
	Settings map[string]string
	// Listeners are added to ours, as NAME://host:port, on the first node.
	// Settings say what protocol they speak.
	Listeners []string
	// Production leaves the share-group settings at Kafka's defaults: 45 s
	// session, 5 s heartbeat, 30 s lock, and the bounds on what a group may
	// choose. Otherwise the session is 6 s, the heartbeat 500 ms, and a group
	// may choose a lock from 1 s on.
	Production bool
}

// Cluster is a running Kafka. Its methods are for one goroutine at a time,
// but those that only talk to it as a client are free of that.
type Cluster struct {
	// Seeds are the nodes' addresses, in the order of their ids.
	Seeds []string

	dir    string
	nodes  []*node
	client *kgo.Client // of the helpers
	admin  *kadm.Client
	close  sync.Once
}

// Start runs a cluster for one test and stops it at the test's end. When the
// test failed, the ends of the nodes' logs are part of its output.
func Start(tb testing.TB, o Options) *Cluster {
	tb.Helper()
	c, err := Run(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Log(c.logTails())
		}
		c.Close()
	})
	return c
}

// startTries bounds how often a cluster is tried whose nodes end at once: a
// free port may be taken between our look at it and the node's.
const startTries = 3

// Run runs a cluster that the caller closes: for TestMain and for programs
// that are no test. The error holds the end of the log of the node that did
// not start.
func Run(o Options) (*Cluster, error) {
	if o.Brokers == 0 {
		o.Brokers = 1
	}
	if o.Brokers != 1 && o.Brokers != 3 {
		return nil, fmt.Errorf("start kafka: %d brokers; 1 and 3 are possible", o.Brokers)
	}
	inst, err := prepareInstallation()
	if err != nil {
		return nil, fmt.Errorf("start kafka: %w", err)
	}
	for try := 1; ; try++ {
		c, err := launch(inst, o)
		if err == nil {
			return c, nil
		}
		if try == startTries || !errors.Is(err, errNodeEnded) {
			return nil, fmt.Errorf("start kafka: %w", err)
		}
	}
}

// launch starts all nodes and waits until each of them sees all others.
func launch(inst *installation, o Options) (_ *Cluster, err error) {
	ports, err := freePorts(2 * o.Brokers)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sharehook-kafka-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()

	layout := newLayout(ports)
	for _, place := range layout {
		n, err := newNode(inst, filepath.Join(dir, fmt.Sprintf("node-%d", place.id)), place, serverProperties(layout, place, o))
		if err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, n)
		c.Seeds = append(c.Seeds, n.place.broker())
		if err := n.start(); err != nil {
			return nil, err
		}
	}
	for _, n := range c.nodes {
		if err := n.waitReady(len(c.nodes)); err != nil {
			return nil, err
		}
	}
	// Helpers wait for leaders and topics: what the client knows of them must
	// not be older than a look.
	c.client, err = kgo.NewClient(kgo.SeedBrokers(c.Seeds...), kgo.MetadataMinAge(waitInterval))
	if err != nil {
		return nil, err
	}
	c.admin = kadm.NewClient(c.client)
	return c, nil
}

// Close kills the nodes and removes their data. It does not stop them in
// order: the last nodes of a cluster without a quorum never end on SIGTERM.
func (c *Cluster) Close() {
	c.close.Do(func() {
		if c.client != nil {
			c.client.Close()
		}
		for _, n := range c.nodes {
			n.kill()
		}
		// What is left behind lies in the temporary folder; nothing depends on it.
		_ = os.RemoveAll(c.dir)
	})
}

// logTails is the end of every node's log, for the output of a failed test.
func (c *Cluster) logTails() string {
	var b strings.Builder
	for _, n := range c.nodes {
		fmt.Fprintf(&b, "--- the end of the log of kafka node %d\n%s\n", n.place.id, n.logTail())
	}
	return b.String()
}
