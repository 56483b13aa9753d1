package kafka

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// SetGroup sets settings of a share group, which need not exist yet: name,
// value, name, value.
func (c *Cluster) SetGroup(tb testing.TB, group string, namesAndValues ...string) {
	tb.Helper()
	c.alter(tb, kmsg.ConfigResourceTypeGroupConfig, group, namesAndValues)
}

// GroupSettings are the settings of a group, defaults included.
func (c *Cluster) GroupSettings(tb testing.TB, group string) map[string]string {
	tb.Helper()
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(context.Background(), c.client)
	if err != nil {
		tb.Fatalf("describe the settings of group %s: %v", group, err)
	}
	settings := make(map[string]string)
	for _, config := range resp.Resources[0].Configs {
		settings[config.Name] = deref(config.Value)
	}
	return settings
}

// GroupLag is the number of records of a topic that a share group has not
// finished; -1 while that is unknown, as before the first member's first
// fetch.
func (c *Cluster) GroupLag(tb testing.TB, group, topic string) int64 {
	tb.Helper()
	lag := int64(-1)
	for _, o := range c.groupOffsets(tb, group)[topic] {
		if o.Err != nil || o.Lag < 0 {
			return -1
		}
		lag = max(lag, 0) + o.Lag
	}
	return lag
}

// GroupStarts are the start offsets of a share group on a topic, by
// partition. After records were accepted they may lag behind: trust the lag.
func (c *Cluster) GroupStarts(tb testing.TB, group, topic string) map[int32]int64 {
	tb.Helper()
	starts := make(map[int32]int64)
	for partition, o := range c.groupOffsets(tb, group)[topic] {
		starts[partition] = o.StartOffset
	}
	return starts
}

func (c *Cluster) groupOffsets(tb testing.TB, group string) kadm.ShareOffsets {
	tb.Helper()
	described, err := c.admin.DescribeShareGroupOffsets(context.Background(), group)
	if err != nil && !noCoordinator(err) {
		tb.Fatalf("describe the offsets of group %s: %v", group, err)
	}
	return described[group].Offsets // empty while the group is unknown
}

// WaitGroupLag waits until a share group's lag on a topic is what it should be.
func (c *Cluster) WaitGroupLag(tb testing.TB, group, topic string, lag int64, timeout time.Duration) {
	tb.Helper()
	Wait(tb, timeout, fmt.Sprintf("the lag of group %s on %s to be %d", group, topic, lag), func() bool {
		return c.GroupLag(tb, group, topic) == lag
	})
}

// GroupMembers are the ids of a share group's members; none while the group
// is unknown.
func (c *Cluster) GroupMembers(tb testing.TB, group string) []string {
	tb.Helper()
	described, err := c.admin.DescribeShareGroups(context.Background(), group)
	if err != nil && !noCoordinator(err) {
		tb.Fatalf("describe group %s: %v", group, err)
	}
	var ids []string
	for _, m := range described[group].Members {
		ids = append(ids, m.MemberID)
	}
	return ids
}

// noCoordinator: nobody answers for the group, as before a new cluster's first
// group, and while the coordinator moves. What is asked then is unknown.
func noCoordinator(err error) bool {
	return errors.Is(err, kerr.CoordinatorNotAvailable) || errors.Is(err, kerr.NotCoordinator) ||
		errors.Is(err, kerr.CoordinatorLoadInProgress)
}
