//go:build kafka

package kafka

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestThreeNodes(t *testing.T) {
	c := Start(t, Options{Brokers: 3})
	everywhere, busy := Name("everywhere"), Name("busy")
	c.CreateTopic(t, everywhere, 3, nil)
	c.CreateTopicOn(t, busy, [][]int32{{2}, {2}}, nil)

	t.Run("a leader moves between replicas and beyond them", func(t *testing.T) {
		c.ProduceNumbered(t, busy, 0, 10)
		for _, topic := range []string{everywhere, busy} {
			for _, to := range []int32{3, 1, 2} {
				c.MoveLeader(t, topic, 0, to)
			}
		}
		if got := c.ReadTopic(t, busy, 10); len(got) != 10 {
			t.Errorf("read %d records after the moves, want 10", len(got))
		}
	})

	t.Run("a killed leader is replaced and comes back", func(t *testing.T) {
		leader := c.Leader(t, everywhere, 1)
		c.Kill(t, leader)
		Wait(t, WaitTimeout, "another leader", func() bool {
			now := c.Leader(t, everywhere, 1)
			return now >= 0 && now != leader
		})
		c.ProduceNumbered(t, everywhere, 0, 30)
		c.Restart(t, leader)
		c.MoveLeader(t, everywhere, 1, leader)
		if got := c.ReadTopic(t, everywhere, 30); len(got) != 30 {
			t.Errorf("read %d records, want 30", len(got))
		}
	})
}

func TestOptions(t *testing.T) {
	t.Run("production keeps Kafka's own values", func(t *testing.T) {
		t.Parallel()
		c := Start(t, Options{Production: true, Settings: map[string]string{"group.share.max.size": "7"}})
		want := map[string]string{
			"group.share.session.timeout.ms":         "45000",
			"group.share.heartbeat.interval.ms":      "5000",
			"group.share.record.lock.duration.ms":    "30000",
			"group.share.max.size":                   "7",
			"group.share.partition.max.record.locks": "2000",
		}
		configs, err := c.Admin().DescribeBrokerConfigs(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, config := range configs[0].Configs {
			if value, ok := want[config.Key]; ok && config.MaybeValue() != value {
				t.Errorf("%s = %s, want %s", config.Key, config.MaybeValue(), value)
			}
			delete(want, config.Key)
		}
		if len(want) > 0 {
			t.Errorf("the broker does not know %v", want)
		}
	})
	t.Run("two nodes are refused", func(t *testing.T) {
		t.Parallel()
		if _, err := Run(Options{Brokers: 2}); err == nil {
			t.Error("no error")
		}
	})
}

func TestTopicMadeAgain(t *testing.T) {
	topic := Name("again")
	for range 3 {
		shared.CreateTopic(t, topic, 2, nil)
		shared.ProduceNumbered(t, topic, 0, 4)
		if got := shared.Count(t, topic); got != 4 {
			t.Errorf("%d records, want 4", got)
		}
		shared.DeleteTopic(t, topic)
	}
}

func TestAddedPartition(t *testing.T) {
	topic := Name("growing")
	shared.CreateTopic(t, topic, 1, nil)
	shared.AddPartitions(t, topic, 3)
	Wait(t, WaitTimeout, "three partitions", func() bool {
		return shared.Leader(t, topic, 0) > 0 && len(shared.topic(t, topic).Partitions) == 3
	})
	shared.ProduceNumbered(t, topic, 0, 9)
	per := make([]int, 3)
	for _, r := range shared.ReadTopic(t, topic, 9) {
		per[r.Partition]++
	}
	if !slices.Equal(per, []int{3, 3, 3}) {
		t.Errorf("records per partition %v, want 3 in each", per)
	}
}

func TestGroup(t *testing.T) {
	topic, group := Name("topic"), Name("group")
	shared.CreateTopic(t, topic, 2, nil)
	shared.SetGroup(t, group, "share.auto.offset.reset", "earliest", "share.record.lock.duration.ms", "2000")
	if got := shared.GroupSettings(t, group)["share.record.lock.duration.ms"]; got != "2000" {
		t.Errorf("lock %s, want 2000", got)
	}
	if got := shared.GroupLag(t, group, topic); got != -1 {
		t.Errorf("lag of a group that is not there: %d, want -1", got)
	}
	shared.ProduceNumbered(t, topic, 0, 10)
	cl := shared.Client(t, kgo.ShareGroup(group), kgo.ConsumeTopics(topic))
	for accepted := 0; accepted < 10; {
		fetches := cl.PollFetches(t.Context())
		fetches.EachRecord(func(r *kgo.Record) { r.Ack(kgo.AckAccept); accepted++ })
	}
	if err := cl.FlushAcks(t.Context()); err != nil {
		t.Fatal(err)
	}
	shared.WaitGroupLag(t, group, topic, 0, WaitTimeout)
	if got := shared.GroupMembers(t, group); len(got) != 1 {
		t.Errorf("members %v, want one", got)
	}
	if got := shared.GroupStarts(t, group, topic); len(got) != 2 {
		t.Errorf("start offsets %v, want those of two partitions", got)
	}
}
