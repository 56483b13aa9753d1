package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Leader is the id of the node that leads a partition; -1: none.
func (c *Cluster) Leader(tb testing.TB, topic string, partition int32) int32 {
	tb.Helper()
	p, ok := c.topic(tb, topic).Partitions[partition]
	if !ok {
		tb.Fatalf("there is no partition %d of topic %s", partition, topic)
	}
	return p.Leader
}

// MoveLeader hands a partition to another node in order, and waits until that
// leads. A node that has no replica gets one in the place of the leader's.
func (c *Cluster) MoveLeader(tb testing.TB, topic string, partition, to int32) {
	tb.Helper()
	c.node(tb, to) // or the test ends
	old := c.topic(tb, topic).Partitions[partition]
	if old.Leader == to {
		return
	}
	replicas := slices.Clone(old.Replicas)
	if at := slices.Index(replicas, to); at >= 0 {
		replicas = slices.Delete(replicas, at, at+1)
	} else if at := slices.Index(replicas, old.Leader); at >= 0 {
		replicas = slices.Delete(replicas, at, at+1)
	}
	// The first replica is the one that leads when it can.
	c.reassign(tb, topic, partition, slices.Insert(replicas, 0, to))
	Wait(tb, WaitTimeout, fmt.Sprintf("node %d to lead partition %d of %s", to, partition, topic), func() bool {
		return c.elect(tb, topic, partition) && c.Leader(tb, topic, partition) == to
	})
}

// reassign changes the replicas of a partition and waits until they have its
// records.
func (c *Cluster) reassign(tb testing.TB, topic string, partition int32, replicas []int32) {
	tb.Helper()
	var req kadm.AlterPartitionAssignmentsReq
	req.Assign(topic, partition, replicas)
	resp, err := c.admin.AlterPartitionAssignments(context.Background(), req)
	if err == nil {
		err = resp.Error()
	}
	if err != nil {
		tb.Fatalf("move partition %d of %s to nodes %v: %v", partition, topic, replicas, err)
	}
	set := make(kadm.TopicsSet)
	set.Add(topic, partition)
	Wait(tb, WaitTimeout, fmt.Sprintf("partition %d of %s to be on nodes %v", partition, topic, replicas), func() bool {
		moving, err := c.admin.ListPartitionReassignments(context.Background(), set)
		return err == nil && len(moving[topic]) == 0
	})
}

// elect makes the first replica of a partition its leader; false: not yet,
// for it is down or lacks records.
func (c *Cluster) elect(tb testing.TB, topic string, partition int32) bool {
	tb.Helper()
	set := make(kadm.TopicsSet)
	set.Add(topic, partition)
	results, err := c.admin.ElectLeaders(context.Background(), kadm.ElectPreferredReplica, set)
	if err == nil {
		err = results[topic][partition].Err
	}
	switch {
	case err == nil, errors.Is(err, kerr.ElectionNotNeeded):
		return true
	case errors.Is(err, kerr.PreferredLeaderNotAvailable):
		return false
	default:
		tb.Fatalf("elect the leader of partition %d of %s: %v", partition, topic, err)
		return false
	}
}
