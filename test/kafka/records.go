package kafka

import (
	"context"
	"maps"
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Produce writes records, each to the partition that it names, and waits
// until all replicas have them. It fills in their offsets and timestamps.
func (c *Cluster) Produce(tb testing.TB, records ...*kgo.Record) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	defer cancel()
	// A client of its own for each call: one that knew an earlier topic of
	// the same name would go on writing to that one's id.
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Seeds...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		tb.Fatalf("produce: %v", err)
	}
	defer cl.Close()
	if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
		tb.Fatalf("produce: %v", err)
	}
}

// ProduceNumbered writes n records whose keys and values are the numbers from
// first on, spread over the topic's partitions in turn, and answers them.
func (c *Cluster) ProduceNumbered(tb testing.TB, topic string, first, n int) []*kgo.Record {
	tb.Helper()
	partitions := len(c.topic(tb, topic).Partitions)
	if partitions == 0 {
		tb.Fatalf("produce to %s: there is no such topic", topic)
	}
	records := make([]*kgo.Record, 0, n)
	for i := first; i < first+n; i++ {
		number := []byte(strconv.Itoa(i))
		records = append(records, &kgo.Record{Topic: topic, Partition: int32(i % partitions), Key: number, Value: number})
	}
	c.Produce(tb, records...)
	return records
}

// Count is how many records were ever written to a topic.
func (c *Cluster) Count(tb testing.TB, topic string) int {
	tb.Helper()
	ends, err := c.admin.ListEndOffsets(context.Background(), topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		tb.Fatalf("list the end offsets of %s: %v", topic, err)
	}
	count := 0
	ends.Each(func(o kadm.ListedOffset) { count += int(o.Offset) })
	return count
}

// ReadTopic waits until a topic has at least n records and answers all that
// it has, each partition in order. It reads by itself, without any group.
func (c *Cluster) ReadTopic(tb testing.TB, topic string, n int) []*kgo.Record {
	tb.Helper()
	Wait(tb, WaitTimeout, strconv.Itoa(n)+" records on "+topic, func() bool { return c.Count(tb, topic) >= n })
	ends, err := c.admin.ListEndOffsets(context.Background(), topic)
	if err != nil {
		tb.Fatalf("list the end offsets of %s: %v", topic, err)
	}
	// Partitions that hold anything, and the offset that each is read to.
	unread := make(map[int32]int64)
	from := make(map[int32]kgo.Offset)
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			unread[o.Partition] = o.Offset
			from[o.Partition] = kgo.NewOffset().AtStart()
		}
	})
	cl, err := kgo.NewClient(
		kgo.SeedBrokers(c.Seeds...),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: maps.Clone(from)}),
		kgo.KeepControlRecords(), // they have offsets too; without them a transaction's end is never seen
	)
	if err != nil {
		tb.Fatalf("read %s: %v", topic, err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	defer cancel()
	var records []*kgo.Record
	for len(unread) > 0 {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			tb.Fatalf("read %s: %v", topic, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				records = append(records, r)
			}
			if r.Offset+1 >= unread[r.Partition] {
				delete(unread, r.Partition)
			}
		})
	}
	return records
}
