package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Where a new group starts; byDuration is followed by an ISO 8601 duration.
const (
	startLatest   = "latest"
	startEarliest = "earliest"
	byDuration    = "by_duration:"
)

const readCommitted = "read_committed"

// PinStart gives a new share group its start offsets for topics (named as in
// [Wishes]) as they are now: latest is the end of each partition at this
// moment (with isolation read_committed the last stable offset, so that
// transactions still open are delivered), earliest the beginning,
// by_duration:PT1H the first record of the last hour. Without it Kafka picks
// the start when the first member has joined, seconds later, and what was
// produced meanwhile is never delivered. It must come before the first join.
//
// A group is new until somebody has joined it, or it was provisioned: its
// reset is earliest. Whatever a known group lacks belongs to topics that came,
// or were made again, later: that is left to share.auto.offset.reset, as their
// end now is not where the group stopped. Of a new group only partitions
// without an offset are set, so that pinning can be called again after a
// failure, and pinning twice does not move the start.
//
// It reports whether it set anything. Topics that do not exist, a group that
// has its offsets, and another replica that was faster are no errors. It needs
// DESCRIBE and READ on the group and on the topics (KIP-932).
func (c *Cluster) PinStart(ctx context.Context, group string, topics []string, start, isolation string) (bool, error) {
	unpinned, err := c.unpinned(ctx, group, topics)
	if err != nil || len(unpinned) == 0 {
		return false, err
	}
	offsets, err := c.startOffsets(ctx, unpinned, start, isolation)
	if err != nil {
		return false, fmt.Errorf("find the start of share group %q: %w", group, err)
	}
	pinned, err := c.alterStart(ctx, group, offsets)
	if err != nil {
		return false, fmt.Errorf("pin the start of share group %q: %w", group, err)
	}
	return pinned, nil
}

// partitions are the partitions of topics, ascending.
type partitions map[string][]int32

func (ps partitions) count() (n int) {
	for _, list := range ps {
		n += len(list)
	}
	return n
}

// unpinned returns the partitions of topics that have no start offset in a
// new group; none of a known group.
func (c *Cluster) unpinned(ctx context.Context, group string, topics []string) (partitions, error) {
	m, err := c.resolve(ctx, topics)
	if err != nil || len(m.topics) == 0 {
		return nil, err
	}
	isNew, err := c.isNew(ctx, group)
	if err != nil || !isNew {
		return nil, err
	}
	offsets, err := c.offsets(ctx, group)
	if err != nil {
		return nil, err
	}
	has := make(map[string]map[int32]bool)
	for _, o := range offsets {
		if o.start >= 0 && o.err == nil { // -1: known to the group, but without a start so far
			if has[o.topic] == nil {
				has[o.topic] = make(map[int32]bool)
			}
			has[o.topic][o.partition] = true
		}
	}
	lacking := make(partitions)
	for name, t := range m.topics {
		for _, p := range t.partitions {
			if !has[name][p] {
				lacking[name] = append(lacking[name], p)
			}
		}
	}
	return lacking, nil
}

// lastUnjoinedEpoch is the greatest epoch of a group that nobody ever joined:
// setting its offsets makes it with epoch 1. Every join and leave adds one.
const lastUnjoinedEpoch = 1

// isNew says whether group still lacks its start: there is none, or somebody
// began to pin it and nobody has joined since. Offsets alone do not tell: a
// known group has none once its topics were deleted and made again.
func (c *Cluster) isNew(ctx context.Context, group string) (bool, error) {
	g, err := c.describeGroup(ctx, group)
	if missingGroup(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("describe share group %q: %w", group, err)
	}
	if len(g.Members) > 0 || g.GroupEpoch > lastUnjoinedEpoch {
		return false, nil
	}
	// Pinned by somebody. With reset earliest all of it was, as that is set
	// after the last offset; what has no offset came since.
	s, err := c.Settings(ctx, group)
	if denied(err) {
		return true, nil
	}
	return s.OffsetReset != startEarliest, err
}

func (c *Cluster) describeGroup(ctx context.Context, group string) (kmsg.ShareGroupDescribeResponseGroup, error) {
	req := kmsg.NewPtrShareGroupDescribeRequest()
	req.GroupIDs = []string{group}
	var g kmsg.ShareGroupDescribeResponseGroup
	err := persist(ctx, func(ctx context.Context) error {
		resp, err := req.RequestWith(ctx, c.client)
		if err != nil {
			return err
		}
		if len(resp.Groups) != 1 {
			return errShortAnswer
		}
		g = resp.Groups[0]
		return brokerError(g.ErrorCode, g.ErrorMessage)
	})
	return g, err
}

var errShortAnswer = errors.New("the broker's answer lacks what was asked for")

// alterStart sets start offsets (AlterShareGroupOffsets), making the group if
// there is none. Setting a part of them again, as after a failure, does not
// move them.
func (c *Cluster) alterStart(ctx context.Context, group string, offsets kadm.Offsets) (pinned bool, err error) {
	err = persist(ctx, func(ctx context.Context) error {
		answers, err := c.admin.AlterShareGroupOffsets(ctx, group, offsets)
		if err != nil {
			return err
		}
		return firstOfEach(answers)
	})
	switch {
	case errors.Is(err, kerr.NonEmptyGroup):
		// Another replica has joined since we looked, after it pinned.
		return false, nil
	case missingGroup(err):
		return false, fmt.Errorf("%w; a group of another kind has this name: choose another share_group.name", err)
	}
	return err == nil, err
}

// firstOfEach is one error for each topic that has any: they are alike. One
// of them may be that the group's coordinator has not heard of a new topic
// yet, which is worth asking again.
func firstOfEach(answers kadm.AlterShareGroupOffsetsResponses) error {
	var errs []error
	seen := make(map[string]bool)
	answers.EachError(func(topic string, p int32, err error) {
		if !seen[topic] {
			seen[topic] = true
			errs = append(errs, fmt.Errorf("partition %d of topic %q: %w", p, topic, err))
		}
	})
	return errors.Join(errs...)
}
