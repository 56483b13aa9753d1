package cluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// position is a place in a partition as ListOffsets asks for it: a time in
// milliseconds, or one of Kafka's special numbers, and for the end the
// isolation that decides which end.
type position struct {
	timestamp int64
	isolation int8
}

const (
	endTimestamp       = -1
	beginningTimestamp = -2
)

// positionOf reads share_group.start.
func (c *Cluster) positionOf(start, isolation string) (position, error) {
	end := position{timestamp: endTimestamp}
	if isolation == readCommitted {
		// The last stable offset: what open transactions wrote is after it.
		end.isolation = 1
	}
	ago, isDuration := strings.CutPrefix(start, byDuration)
	switch {
	case start == startLatest:
		return end, nil
	case start == startEarliest:
		return position{timestamp: beginningTimestamp}, nil
	case isDuration:
		d, err := parseISO8601(ago)
		if err != nil {
			return position{}, fmt.Errorf("start %q: %w", start, err)
		}
		// Times before 1970 would be special numbers.
		end.timestamp = max(c.now().Add(-d).UnixMilli(), 0)
		return end, nil
	}
	return position{}, fmt.Errorf("start %q is none of latest, earliest, by_duration:PT1H", start)
}

// startOffsets finds where start is in each of the partitions now. It is all
// of them or an error: a group pinned in part would begin elsewhere in the
// rest.
func (c *Cluster) startOffsets(ctx context.Context, of partitions, start, isolation string) (kadm.Offsets, error) {
	at, err := c.positionOf(start, isolation)
	if err != nil {
		return nil, err
	}
	offsets := make(kadm.Offsets)
	after, err := c.listOffsets(ctx, of, at, offsets)
	if err == nil && len(after) > 0 {
		// No record is that new; those to come are.
		at.timestamp = endTimestamp
		_, err = c.listOffsets(ctx, after, at, offsets)
	}
	if err != nil {
		return nil, err
	}
	for name, ps := range of {
		if len(offsets[name]) != len(ps) {
			return nil, fmt.Errorf("the brokers did not tell the offsets of all partitions of topic %q", name)
		}
	}
	return offsets, nil
}

// listOffsets adds the offset of each partition's position to offsets, and
// returns the partitions that have no record as late as it.
func (c *Cluster) listOffsets(ctx context.Context, of partitions, at position, offsets kadm.Offsets) (without partitions, err error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.IsolationLevel = at.isolation
	for name, ps := range of {
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = name
		for _, p := range ps {
			rp := kmsg.NewListOffsetsRequestTopicPartition()
			rp.Partition, rp.Timestamp = p, at.timestamp
			t.Partitions = append(t.Partitions, rp)
		}
		req.Topics = append(req.Topics, t)
	}
	err = persist(ctx, func(ctx context.Context) error {
		without = make(partitions)
		for _, shard := range c.client.RequestSharded(ctx, req) { // one for each leader
			if shard.Err != nil {
				return shard.Err
			}
			for _, t := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
				for _, p := range t.Partitions {
					if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
						return fmt.Errorf("partition %d of topic %q: %w", p.Partition, t.Topic, err)
					}
					if p.Offset < 0 {
						without[t.Topic] = append(without[t.Topic], p.Partition)
						continue
					}
					offsets.AddOffset(t.Topic, p.Partition, p.Offset, -1)
				}
			}
		}
		return nil
	})
	return without, err
}
