//go:build kafka

package cluster

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/test/kafka"
)

func mustPin(t *testing.T, c *Cluster, w Wishes, want bool) {
	t.Helper()
	pinned, err := c.PinStart(t.Context(), w.Group, w.Topics, w.Start, w.Isolation)
	if err != nil || pinned != want {
		t.Fatalf("PinStart: %t, %v; want %t", pinned, err, want)
	}
}

// receive joins the group, accepts records until it has as many, and leaves;
// it answers the records' numbers, sorted.
func receive(t *testing.T, w Wishes, until int) []int {
	t.Helper()
	m := join(t, w)
	var got []int
	kafka.Wait(t, 30*time.Second, strconv.Itoa(until)+" records", func() bool {
		for _, r := range poll(t, m) {
			n, err := strconv.Atoi(string(r.Value))
			if err != nil {
				t.Error(err)
			}
			got = append(got, n)
			r.Ack(kgo.AckAccept)
		}
		return len(got) >= until
	})
	if err := m.FlushAcks(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.LeaveGroupContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	return got
}

// poll answers after a moment, with records or without.
func poll(t *testing.T, m *kgo.Client) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	return m.PollRecords(ctx, 100).Records()
}

func join(t *testing.T, w Wishes) *kgo.Client {
	t.Helper()
	return broker.Client(t, kgo.ShareGroup(w.Group), kgo.ConsumeTopics(w.Topics...), kgo.FetchMaxWait(50*time.Millisecond))
}

func numbers(first, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = first + i
	}
	return list
}

func TestPinLatestMissesNothing(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	broker.ProduceNumbered(t, w.Topics[0], 0, 30)
	mustPin(t, c, w, true)
	// The group's own reset is still latest: without the pin these would be
	// lost, as the first member is still joining.
	broker.ProduceNumbered(t, w.Topics[0], 30, 30)
	var producing sync.WaitGroup
	producing.Go(func() { broker.ProduceNumbered(t, w.Topics[0], 60, 30) })
	if got := receive(t, w, 60); !slices.Equal(got, numbers(30, 60)) {
		t.Errorf("received %v", got)
	}
	producing.Wait()
}

func TestPinEarliest(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	w.Start = startEarliest
	broker.ProduceNumbered(t, w.Topics[0], 0, 30)
	mustPin(t, c, w, true)
	if got := receive(t, w, 30); !slices.Equal(got, numbers(0, 30)) {
		t.Errorf("received %v", got)
	}
}

func TestPinByDuration(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	w.Start = "by_duration:PT1H"
	produce := func(partition int32, n int, ago time.Duration) {
		broker.Produce(t, &kgo.Record{Topic: w.Topics[0], Partition: partition, Value: []byte(strconv.Itoa(n)), Timestamp: time.Now().Add(-ago)})
	}
	produce(0, 0, 3*time.Hour)
	produce(0, 1, 61*time.Minute)
	produce(0, 2, 59*time.Minute)
	produce(0, 3, time.Minute)
	produce(1, 4, 2*time.Hour) // nothing that new here, and nothing at all in partition 2
	mustPin(t, c, w, true)
	produce(1, 5, 2*time.Hour)
	produce(2, 6, 2*time.Hour)
	if got := receive(t, w, 4); !slices.Equal(got, []int{2, 3, 5, 6}) {
		t.Errorf("received %v", got)
	}
}

// What an open transaction has written when the group is pinned is delivered
// once it is committed.
func TestPinLatestInsideATransaction(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	p := broker.Client(t, kgo.TransactionalID(kafka.Name("tx")), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := p.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := p.ProduceSync(t.Context(), &kgo.Record{Topic: w.Topics[0], Value: []byte("7")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	broker.SetGroup(t, w.Group, groupIsolation, readCommitted)
	mustPin(t, c, w, true)
	if err := p.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, w, 1); !slices.Equal(got, []int{7}) {
		t.Errorf("received %v", got)
	}
}

func TestPinTwiceDoesNotMoveTheStart(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	mustPin(t, c, w, true)
	broker.ProduceNumbered(t, w.Topics[0], 0, 30)
	mustPin(t, c, w, false)
	for p, start := range broker.GroupStarts(t, w.Group, w.Topics[0]) {
		if start != 0 {
			t.Errorf("partition %d starts at %d", p, start)
		}
	}
	// A group that nobody has joined gets what it lacks.
	more := kafka.Name("more")
	broker.CreateTopic(t, more, 1, nil)
	w.Topics = append(w.Topics, "^"+regexp.QuoteMeta(more)+"$")
	mustPin(t, c, w, true)
}

func TestPinLeavesAKnownGroupAlone(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	mustProvision(t, c, w)
	broker.ProduceNumbered(t, w.Topics[0], 0, 3)
	receive(t, w, 3)
	mustPin(t, c, w, false)

	// Made again, the topic has no offsets in the group any more. Its end now
	// is not where the group stopped.
	broker.DeleteTopic(t, w.Topics[0])
	mustPin(t, c, w, false)
	broker.CreateTopic(t, w.Topics[0], 3, nil)
	broker.ProduceNumbered(t, w.Topics[0], 100, 6)
	mustPin(t, c, w, false)
	if plan := mustPlan(t, c, w); len(plan) != 0 {
		t.Errorf("planned for a known group: %v", plan)
	}
	if got := receive(t, w, 6); !slices.Equal(got, numbers(100, 6)) {
		t.Errorf("received %v of the topic that was made again", got)
	}
}

// A topic that comes between provisioning and the first join came later: it is
// delivered from its beginning.
func TestPinLeavesAProvisionedGroupAlone(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	later := kafka.Name("later")
	w.Topics = append(w.Topics, later)
	mustProvision(t, c, w)
	broker.CreateTopic(t, later, 1, nil)
	broker.ProduceNumbered(t, later, 0, 5)
	mustPin(t, c, w, false)
	if plan := mustPlan(t, c, w); len(plan) != 0 {
		t.Errorf("planned for a provisioned group: %v", plan)
	}
	if got := receive(t, w, 5); !slices.Equal(got, numbers(0, 5)) {
		t.Errorf("received %v", got)
	}
}

// That somebody set the reset by hand does not make a group known.
func TestPinThoughTheResetIsEarliest(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	broker.SetGroup(t, w.Group, groupReset, startEarliest)
	broker.ProduceNumbered(t, w.Topics[0], 0, 6)
	mustPin(t, c, w, true)
	broker.ProduceNumbered(t, w.Topics[0], 6, 6)
	if got := receive(t, w, 6); !slices.Equal(got, numbers(6, 6)) {
		t.Errorf("received %v", got)
	}
}

// A group whose members are all gone is known all the same.
func TestPinLeavesADesertedGroupAlone(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	m := join(t, w)
	kafka.Wait(t, 20*time.Second, "a member", func() bool { return len(broker.GroupMembers(t, w.Group)) == 1 })
	mustPin(t, c, w, false)
	if err := m.LeaveGroupContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	kafka.Wait(t, 20*time.Second, "no member", func() bool { return len(broker.GroupMembers(t, w.Group)) == 0 })
	mustPin(t, c, w, false)
}

func TestPinNothing(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	w.Topics = []string{"missing", "^missing.*"}
	mustPin(t, c, w, false)
	if _, err := c.PinStart(t.Context(), w.Group, []string{"^("}, w.Start, w.Isolation); err == nil {
		t.Error("a wrong regular expression was taken")
	}
}

func TestPinRace(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	var replicas sync.WaitGroup
	for range 4 {
		replicas.Go(func() {
			if _, err := c.PinStart(t.Context(), w.Group, w.Topics, w.Start, w.Isolation); err != nil {
				t.Errorf("PinStart: %v", err)
			}
		})
	}
	replicas.Wait()
}

func TestPinOfAGroupOfAnotherKind(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	m := broker.Client(t, kgo.ConsumerGroup(w.Group), kgo.ConsumeTopics(w.Topics...))
	kafka.Wait(t, 20*time.Second, "a classic group", func() bool {
		poll(t, m)
		gs, err := broker.Admin().DescribeGroups(t.Context(), w.Group)
		return err == nil && gs[w.Group].State == "Stable"
	})
	_, err := c.PinStart(t.Context(), w.Group, w.Topics, w.Start, w.Isolation)
	if !errors.Is(err, kerr.GroupIDNotFound) {
		t.Errorf("PinStart: %v", err)
	}
	t.Log(err)
}
