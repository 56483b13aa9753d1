package kafka

import (
	"syscall"
	"testing"
)

// Stop ends a node in order; it keeps its place and data for Restart.
func (c *Cluster) Stop(tb testing.TB, id int32) {
	tb.Helper()
	c.node(tb, id).stop()
}

// Kill ends a node as a power cut would (SIGKILL).
func (c *Cluster) Kill(tb testing.TB, id int32) {
	tb.Helper()
	c.node(tb, id).kill()
}

// Restart starts a node that was stopped or killed, and waits until it is
// ready.
func (c *Cluster) Restart(tb testing.TB, id int32) {
	tb.Helper()
	n := c.node(tb, id)
	n.kill()
	if err := n.start(); err != nil {
		tb.Fatal(err)
	}
	if err := n.waitReady(1); err != nil {
		tb.Fatal(err)
	}
}

// Pause freezes a node (SIGSTOP): its connections stay open and are silent.
func (c *Cluster) Pause(tb testing.TB, id int32) {
	tb.Helper()
	c.node(tb, id).proc.signal(syscall.SIGSTOP)
}

// Continue lets a paused node go on.
func (c *Cluster) Continue(tb testing.TB, id int32) {
	tb.Helper()
	c.node(tb, id).proc.signal(syscall.SIGCONT)
}

// Log is the path of a node's log, all its starts in one file. It lives as
// long as the cluster.
func (c *Cluster) Log(tb testing.TB, id int32) string {
	tb.Helper()
	return c.node(tb, id).logPath()
}

// Pid is the process id of a node, for measurements.
func (c *Cluster) Pid(tb testing.TB, id int32) int {
	tb.Helper()
	return c.node(tb, id).proc.cmd.Process.Pid
}

// node finds a node by its id, which starts at 1.
func (c *Cluster) node(tb testing.TB, id int32) *node {
	tb.Helper()
	if id < 1 || int(id) > len(c.nodes) {
		tb.Fatalf("kafka has nodes 1 to %d, none with id %d", len(c.nodes), id)
	}
	return c.nodes[id-1]
}
