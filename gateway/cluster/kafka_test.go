//go:build kafka

package cluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sharehook/sharehook/test/kafka"
)

// setup makes a topic, and wishes for a group of a name of its own.
func setup(t *testing.T) (*Cluster, Wishes) {
	t.Helper()
	topic := kafka.Name("orders")
	broker.CreateTopic(t, topic, 3, nil)
	group := kafka.Name("sharehook")
	return New(broker.Client(t), nil), Wishes{
		Endpoint: "orders", Group: group, Topics: []string{topic},
		Start: startLatest, Isolation: readCommitted,
		Lock: 20 * time.Second, MaxDeliveries: 10, MaxRecordLocks: 4000,
		DeadLetterBy: ByBroker, DeadLetterTopic: "dlq." + group, CopyRecord: true,
	}
}

func mustPlan(t *testing.T, c *Cluster, w Wishes) []Change {
	t.Helper()
	plan, err := c.Plan(t.Context(), w, PlanOptions{})
	if err != nil {
		t.Fatalf("Plan: %v", err)
	}
	return plan
}

func mustProvision(t *testing.T, c *Cluster, w Wishes) {
	t.Helper()
	if err := c.Apply(t.Context(), mustPlan(t, c, w)); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	if again := mustPlan(t, c, w); len(again) != 0 {
		t.Fatalf("the second plan is not empty: %v", again)
	}
}

func mustSettings(t *testing.T, c *Cluster, group string) Settings {
	t.Helper()
	s, err := c.Settings(t.Context(), group)
	if err != nil {
		t.Fatalf("Settings: %v", err)
	}
	return s
}

func check(t *testing.T, c *Cluster, w Wishes) Findings {
	t.Helper()
	fs, err := c.CheckDeadLetters(t.Context(), w)
	if err != nil {
		t.Fatalf("CheckDeadLetters: %v", err)
	}
	return fs
}

func TestProvisionFromNothing(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	if len(check(t, c, w).Faults()) == 0 {
		t.Error("no fault before provisioning")
	}
	mustProvision(t, c, w)

	s := mustSettings(t, c, w.Group)
	if ds := Compare(w, s); len(ds) != 0 {
		t.Errorf("differences after provisioning: %v", ds)
	}
	if fs := check(t, c, w); len(fs) != 0 {
		t.Errorf("findings after provisioning: %v", fs)
	}
	if got := len(broker.GroupStarts(t, w.Group, w.Topics[0])); got != 3 {
		t.Errorf("%d partitions are pinned, want 3", got)
	}
	got := broker.GroupSettings(t, w.Group)
	for name, want := range map[string]string{
		groupReset: "earliest", groupIsolation: "read_committed", groupLock: "20000", groupMaxDeliveries: "10",
		groupMaxLocks: "4000", groupDeadLetters: w.DeadLetterTopic, groupCopyRecord: "true",
	} {
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
	}
}

// What the check calls sound does keep a rejected record.
func TestProvisionedRejectBecomesADeadLetter(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	mustProvision(t, c, w)
	broker.ProduceNumbered(t, w.Topics[0], 0, 3)
	m := join(t, w)
	rejected := 0
	kafka.Wait(t, 20*time.Second, "3 records", func() bool {
		for _, r := range poll(t, m) {
			r.Ack(kgo.AckReject)
			rejected++
		}
		return rejected == 3
	})
	if err := m.FlushAcks(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, r := range broker.ReadTopic(t, w.DeadLetterTopic, 3) {
		if len(r.Value) == 0 || len(r.Key) == 0 {
			t.Errorf("a dead letter without its record's key and value: %v", r)
		}
	}
}

func TestProvisionMendsTheTopic(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	broker.CreateTopic(t, w.DeadLetterTopic, 2, map[string]string{topicMaxMessage: "1000"})
	broker.SetGroup(t, w.Group, groupDeadLetters, w.DeadLetterTopic)
	mustProvision(t, c, w)
	if fs := check(t, c, w); len(fs) != 0 {
		t.Errorf("findings after provisioning: %v", fs)
	}
}

func TestProvisionHandsOverToTheGateway(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	mustProvision(t, c, w)
	w.DeadLetterBy = ByGateway
	if fs := check(t, c, w).Faults(); len(fs) != 1 {
		t.Errorf("want one fault while the group names a broker's topic, have %v", fs)
	}
	mustProvision(t, c, w)
	if fs := check(t, c, w); len(fs) != 0 {
		t.Errorf("findings after provisioning: %v", fs)
	}
}

// A wrong set-up that Kafka takes without a word, and what it costs, is in
// each case found.
func TestWrongDeadLetters(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, w *Wishes)
		want  map[Level]int
	}{
		"sound":          {func(*testing.T, *Wishes) {}, map[Level]int{}},
		"no topic named": {func(t *testing.T, w *Wishes) { broker.SetGroup(t, w.Group, groupDeadLetters, "") }, map[Level]int{Fault: 1}},
		"topic missing": {func(t *testing.T, w *Wishes) {
			w.DeadLetterTopic = kafka.Name("dlq.missing")
			broker.SetGroup(t, w.Group, groupDeadLetters, w.DeadLetterTopic)
		}, map[Level]int{Fault: 1}},
		"topic deleted": {func(t *testing.T, w *Wishes) { broker.DeleteTopic(t, w.DeadLetterTopic) }, map[Level]int{Fault: 1}},
		"illegal name": {func(t *testing.T, w *Wishes) {
			w.DeadLetterTopic = "dlq.bad name!"
			broker.SetGroup(t, w.Group, groupDeadLetters, w.DeadLetterTopic)
		}, map[Level]int{Fault: 1}},
		"not enabled": {func(t *testing.T, w *Wishes) { broker.SetTopic(t, w.DeadLetterTopic, topicDeadLetters, "false") }, map[Level]int{Fault: 1}},
		"compacted":   {func(t *testing.T, w *Wishes) { broker.SetTopic(t, w.DeadLetterTopic, topicCleanup, "compact,delete") }, map[Level]int{Fault: 1}},
		"without prefix": {func(t *testing.T, w *Wishes) {
			w.DeadLetterTopic = kafka.Name("plain")
			broker.CreateTopic(t, w.DeadLetterTopic, 1, map[string]string{topicDeadLetters: "true", topicMaxMessage: "2000000"})
			broker.SetGroup(t, w.Group, groupDeadLetters, w.DeadLetterTopic)
		}, map[Level]int{Fault: 1}},
		"too small":     {func(t *testing.T, w *Wishes) { broker.SetTopic(t, w.DeadLetterTopic, topicMaxMessage, "1000") }, map[Level]int{Warning: 1}},
		"other topic":   {func(t *testing.T, w *Wishes) { w.DeadLetterTopic = "dlq.other" }, map[Level]int{Warning: 1}},
		"its own topic": {func(_ *testing.T, w *Wishes) { w.Topics = append(w.Topics, `^dlq\.`) }, map[Level]int{Fault: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, w := setup(t)
			mustProvision(t, c, w)
			tc.spoil(t, &w)
			var fs Findings
			// Metadata may lag a moment behind a change.
			kafka.Wait(t, 10*time.Second, fmt.Sprintf("findings %v", tc.want), func() bool {
				fs = check(t, c, w)
				return len(fs.Faults()) == tc.want[Fault] && len(fs.At(Warning)) == tc.want[Warning] && len(fs.At(Unverified)) == 0
			})
			for _, f := range fs {
				t.Log(f.Level, f)
			}
		})
	}
}

func TestRefusalsAreExplained(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	w.MaxDeliveries = 50
	w.Lock = 2 * time.Hour
	err := c.Apply(t.Context(), mustPlan(t, c, w))
	if !errors.Is(err, kerr.InvalidConfig) {
		t.Fatalf("Apply: %v, want INVALID_CONFIG", err)
	}
	t.Log(err)
	// The rest was done.
	s := mustSettings(t, c, w.Group)
	if s.DeadLetterTopic != w.DeadLetterTopic || s.OffsetReset != startEarliest || s.MaxRecordLocks != 4000 {
		t.Errorf("a refusal cost other settings: %+v", s)
	}
	if got := len(mustPlan(t, c, w)); got != 2 {
		t.Errorf("%d changes are left, want the 2 refused", got)
	}

	w.DeadLetterTopic = "dlq.bad name!"
	err = c.Apply(t.Context(), mustPlan(t, c, w))
	if !errors.Is(err, kerr.InvalidTopicException) || !errors.Is(err, errSkipped) {
		t.Errorf("Apply: %v, want INVALID_TOPIC_EXCEPTION and the group's setting left out", err)
	}
	t.Log(err)

	w.DeadLetterTopic = "letters"
	if _, err := c.Plan(t.Context(), w, PlanOptions{}); err == nil {
		t.Error("a name without the cluster's prefix was planned")
	} else {
		t.Log(err)
	}

	w.DeadLetterTopic = kafka.Name("dlq.many")
	plan, err := c.Plan(t.Context(), w, PlanOptions{Replication: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), plan); !errors.Is(err, kerr.InvalidReplicationFactor) {
		t.Errorf("Apply: %v, want INVALID_REPLICATION_FACTOR", err)
	} else {
		t.Log(err)
	}
}

func TestLagAndLeaders(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	lag, err := c.Lag(t.Context(), w.Group)
	if err != nil || len(lag) != 0 {
		t.Errorf("lag of a group that does not exist: %v, %v", lag, err)
	}
	mustProvision(t, c, w)
	broker.ProduceNumbered(t, w.Topics[0], 0, 9)
	lag, err = c.Lag(t.Context(), w.Group)
	t.Log("lag of a pinned group that nobody joined: ", lag, err)

	m := broker.Client(t, kgo.ShareGroup(w.Group), kgo.ConsumeTopics(w.Topics...), kgo.FetchMaxWait(50*time.Millisecond))
	got := 0
	for got < 9 {
		for _, r := range poll(t, m) {
			r.Ack(kgo.AckAccept)
			got++
		}
		if err := m.FlushAcks(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	kafka.Wait(t, 10*time.Second, "lag 0", func() bool {
		lag, err := c.Lag(t.Context(), w.Group)
		return err == nil && len(lag) == 1 && lag[0] == Lag{Topic: w.Topics[0], Records: 0, Known: true}
	})

	leading, brokers, err := c.Leaders(t.Context(), []string{w.Topics[0], "^" + strings.ReplaceAll(w.Topics[0], ".", `\.`), "missing"})
	if leading != 1 || brokers != 1 || err != nil {
		t.Errorf("Leaders: %d, %d, %v", leading, brokers, err)
	}
	ids, err := c.TopicIDs(t.Context(), append(w.Topics, "missing"))
	if len(ids) != 1 || ids[w.Topics[0]] == [16]byte{} || err != nil {
		t.Errorf("TopicIDs: %v, %v", ids, err)
	}
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	c, w := setup(t)
	mustProvision(t, c, w)

	deny(t, kmsg.ACLResourceTypeGroup, w.Group, kmsg.ACLOperationDescribeConfigs)
	fs := check(t, c, w)
	if len(fs.At(Unverified)) != 1 || len(fs) != 1 {
		t.Errorf("group: want one unverified, have %v", fs)
	}
	if _, err := c.Plan(t.Context(), w, PlanOptions{}); !errors.Is(err, kerr.GroupAuthorizationFailed) {
		t.Errorf("Plan: %v", err)
	} else {
		t.Log(err)
	}

	deny(t, kmsg.ACLResourceTypeTopic, w.DeadLetterTopic, kmsg.ACLOperationDescribeConfigs)
	if fs := check(t, c, w); len(fs) != 2 || len(fs.At(Unverified)) != 2 {
		t.Errorf("settings of the topic: want another unverified, have %v", fs)
	}
	deny(t, kmsg.ACLResourceTypeTopic, w.DeadLetterTopic, kmsg.ACLOperationDescribe)
	if fs := check(t, c, w); len(fs) != 2 || len(fs.At(Unverified)) != 2 {
		t.Errorf("topic: want it unverified, have %v", fs)
	}

	// Changing needs ALTER_CONFIGS.
	c, w = setup(t)
	deny(t, kmsg.ACLResourceTypeGroup, w.Group, kmsg.ACLOperationAlterConfigs)
	err := c.Apply(t.Context(), mustPlan(t, c, w))
	if !errors.Is(err, kerr.GroupAuthorizationFailed) {
		t.Errorf("Apply: %v", err)
	}
	t.Log(err)
	// Pinning needs READ on the group.
	c, w = setup(t)
	deny(t, kmsg.ACLResourceTypeGroup, w.Group, kmsg.ACLOperationRead)
	err = c.Apply(t.Context(), mustPlan(t, c, w))
	if !errors.Is(err, kerr.GroupAuthorizationFailed) || !errors.Is(err, errSkipped) {
		t.Errorf("Apply: %v", err)
	}
	t.Log(err)
	if s := mustSettings(t, c, w.Group); s.OffsetReset != startLatest {
		t.Errorf("the reset went to %s though the start was not pinned", s.OffsetReset)
	}
}

// deny forbids an operation on a resource, and waits until the broker does.
func deny(t *testing.T, kind kmsg.ACLResourceType, name string, op kmsg.ACLOperation) {
	t.Helper()
	// A resource with any rule is closed to all who have none: so one for
	// everybody first.
	all := kadm.NewACLs().Allow("User:*").AllowHosts("*").Operations(kmsg.ACLOperationAll)
	one := kadm.NewACLs().Deny("User:ANONYMOUS").DenyHosts("*").Operations(op)
	for _, b := range []*kadm.ACLBuilder{all, one} {
		b.ResourcePatternType(kadm.ACLPatternLiteral)
		if kind == kmsg.ACLResourceTypeGroup {
			b.Groups(name)
		} else {
			b.Topics(name)
		}
		created, err := broker.Admin().CreateACLs(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range created {
			if r.Err != nil {
				t.Fatal(r.Err, r.ErrMessage)
			}
		}
	}
	kafka.Wait(t, 10*time.Second, "the rule", func() bool {
		rules, err := broker.Admin().DescribeACLs(t.Context(), one)
		return err == nil && len(rules) == 1 && len(rules[0].Described) == 1
	})
}
