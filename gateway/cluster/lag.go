package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Lag is how many records of a topic a share group has not finished
// (KIP-1226): those never acquired, and those acquired and not accepted or
// archived.
type Lag struct {
	Topic   string
	Records int64
	Known   bool // false: the broker did not tell it for every partition, Records means nothing
}

// Lag reads the lag of a share group, by topic. A group that does not exist,
// or has no topics, has none. Brokers before Kafka 4.2 tell no lag.
func (c *Cluster) Lag(ctx context.Context, group string) ([]Lag, error) {
	offsets, err := c.offsets(ctx, group)
	if err != nil {
		return nil, err
	}
	return lags(offsets), nil
}

func lags(offsets []shareOffset) []Lag {
	sums := make(map[string]*Lag)
	for _, o := range offsets {
		l := sums[o.topic]
		if l == nil {
			l = &Lag{Topic: o.topic, Known: true}
			sums[o.topic] = l
		}
		if o.lag < 0 || o.err != nil { // -1: not told, for example before the first use
			l.Known = false
			continue
		}
		l.Records += o.lag
	}
	list := make([]Lag, 0, len(sums))
	for _, l := range sums {
		if !l.Known {
			l.Records = 0 // a part of the sum would look like the whole
		}
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b Lag) int { return strings.Compare(a.Topic, b.Topic) })
	return list
}

// shareOffset is what the broker tells of one share partition.
type shareOffset struct {
	topic      string
	partition  int32
	start, lag int64 // -1: none, not known
	err        error
}

// offsets reads what the broker tells of the share partitions of group; none
// if there is no such group.
func (c *Cluster) offsets(ctx context.Context, group string) ([]shareOffset, error) {
	req := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	g := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
	g.GroupID = group
	g.Topics = nil // null: all that the group has
	req.Groups = append(req.Groups, g)

	var offsets []shareOffset
	err := persist(ctx, func(ctx context.Context) error {
		resp, err := req.RequestWith(ctx, c.client)
		if err != nil {
			return err
		}
		if len(resp.Groups) != 1 {
			return errShortAnswer
		}
		offsets = offsetsFrom(resp.Groups[0])
		return brokerError(resp.Groups[0].ErrorCode, resp.Groups[0].ErrorMessage)
	})
	if missingGroup(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the offsets of share group %q: %w", group, err)
	}
	return offsets, nil
}

func offsetsFrom(g kmsg.DescribeShareGroupOffsetsResponseGroup) []shareOffset {
	var offsets []shareOffset
	for _, t := range g.Topics {
		for _, p := range t.Partitions {
			offsets = append(offsets, shareOffset{
				topic: t.Topic, partition: p.Partition, start: p.StartOffset, lag: p.Lag,
				err: brokerError(p.ErrorCode, p.ErrorMessage),
			})
		}
	}
	return offsets
}
