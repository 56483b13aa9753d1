package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// fakeCluster is kfake with the topic orders of two partitions, and a client
// of it.
func fakeCluster(t *testing.T, brokers int) (*Cluster, *kgo.Client, []string) {
	t.Helper()
	fake, err := kfake.NewCluster(kfake.NumBrokers(brokers), kfake.SeedTopics(2, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(fake.ListenAddrs()...), kgo.DefaultProduceTopic("orders"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return New(client, nil), client, fake.ListenAddrs()
}

func fakeWishes() Wishes {
	return Wishes{
		Endpoint: "orders", Group: "sharehook.orders", Topics: []string{"orders"},
		Start: startLatest, Isolation: readCommitted, Lock: 30 * time.Second, MaxDeliveries: 10, MaxRecordLocks: 4000,
		DeadLetterBy: ByGateway, DeadLetterTopic: "dlq.sharehook.orders",
	}
}

func TestProvisionOnKfake(t *testing.T) {
	t.Parallel()
	c, _, _ := fakeCluster(t, 3)
	w := fakeWishes()
	fs, err := c.CheckDeadLetters(t.Context(), w)
	if err != nil || len(fs.Faults()) != 1 {
		t.Errorf("before: want the missing topic, have %v, %v", fs, err)
	}
	plan, err := c.Plan(t.Context(), w, PlanOptions{Partitions: 2, Replication: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	again, err := c.Plan(t.Context(), w, PlanOptions{})
	if err != nil || len(again) != 0 {
		t.Errorf("the second plan: %v, %v", again, err)
	}
	if fs, err := c.CheckDeadLetters(t.Context(), w); err != nil || len(fs) != 0 {
		t.Errorf("after: %v, %v", fs, err)
	}
	s, err := c.Settings(t.Context(), w.Group)
	if err != nil {
		t.Fatal(err)
	}
	if ds := Compare(w, s); len(ds) != 0 {
		t.Errorf("differences: %v", ds)
	}
	if s.KnowsDeadLetters() || !s.Renew {
		t.Errorf("settings %+v", s)
	}
}

// kfake is without KIP-1191, though it says share.version=2.
func TestByBrokerOnKfake(t *testing.T) {
	t.Parallel()
	c, _, _ := fakeCluster(t, 1)
	w := fakeWishes()
	w.DeadLetterBy = ByBroker
	fs, err := c.CheckDeadLetters(t.Context(), w)
	if err != nil || len(fs.Faults()) != 1 {
		t.Errorf("findings: %v, %v", fs, err)
	}
	if _, err := c.Plan(t.Context(), w, PlanOptions{}); err == nil {
		t.Error("planned what the broker cannot do")
	}
}

// A group that has set nothing has the brokers' defaults.
func TestDefaultsOnKfake(t *testing.T) {
	t.Parallel()
	c, _, _ := fakeCluster(t, 1)
	s, err := c.Settings(t.Context(), "nobody")
	if err != nil {
		t.Fatal(err)
	}
	if s.OffsetReset != "latest" || s.Isolation != "read_uncommitted" || s.Lock == 0 || s.MaxDeliveries == 0 {
		t.Errorf("settings %+v", s)
	}
	t.Logf("%+v", s)
}

func TestPinStartOnKfake(t *testing.T) {
	t.Parallel()
	c, client, seeds := fakeCluster(t, 3)
	w := fakeWishes()
	produce := func(value string) {
		t.Helper()
		if err := client.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	pin := func(want bool) {
		t.Helper()
		pinned, err := c.PinStart(t.Context(), w.Group, w.Topics, w.Start, w.Isolation)
		if err != nil || pinned != want {
			t.Errorf("PinStart: %t, %v; want %t", pinned, err, want)
		}
	}
	produce("before")
	pin(true)
	produce("after")
	pin(false)
	lag, err := c.Lag(t.Context(), w.Group)
	if err != nil || len(lag) != 1 || lag[0] != (Lag{Topic: "orders", Records: 1, Known: true}) {
		t.Errorf("lag %v, %v", lag, err)
	}

	m, err := kgo.NewClient(kgo.SeedBrokers(seeds...), kgo.ShareGroup(w.Group), kgo.ConsumeTopics("orders"), kgo.FetchMaxWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	rs := m.PollRecords(ctx, 10).Records()
	if len(rs) != 1 || string(rs[0].Value) != "after" {
		t.Errorf("received %v", rs)
	}
	pin(false) // a member lives
}

func TestNotThere(t *testing.T) {
	t.Parallel()
	c, _, _ := fakeCluster(t, 3)
	if lag, err := c.Lag(t.Context(), "nobody"); err != nil || len(lag) != 0 {
		t.Errorf("Lag: %v, %v", lag, err)
	}
	pinned, err := c.PinStart(t.Context(), "nobody", []string{"missing", "^none"}, startLatest, "")
	if err != nil || pinned {
		t.Errorf("PinStart: %t, %v", pinned, err)
	}
	leading, brokers, err := c.Leaders(t.Context(), []string{"missing"})
	if err != nil || leading != 0 || brokers != 3 {
		t.Errorf("Leaders: %d of %d, %v", leading, brokers, err)
	}
	leading, _, err = c.Leaders(t.Context(), []string{"^ord"})
	if err != nil || leading < 1 || leading > 2 {
		t.Errorf("Leaders: %d, %v", leading, err)
	}
	ids, err := c.TopicIDs(t.Context(), []string{"orders", "missing"})
	if err != nil || len(ids) != 1 {
		t.Errorf("TopicIDs: %v, %v", ids, err)
	}
}

// Every question ends with its context.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	client, err := kgo.NewClient(kgo.SeedBrokers("127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c, w := New(client, nil), fakeWishes()
	for name, ask := range map[string]func(context.Context) error{
		"Settings": func(ctx context.Context) error { _, err := c.Settings(ctx, w.Group); return err },
		"Check":    func(ctx context.Context) error { _, err := c.CheckDeadLetters(ctx, w); return err },
		"Plan":     func(ctx context.Context) error { _, err := c.Plan(ctx, w, PlanOptions{}); return err },
		"Lag":      func(ctx context.Context) error { _, err := c.Lag(ctx, w.Group); return err },
		"PinStart": func(ctx context.Context) error {
			_, err := c.PinStart(ctx, w.Group, w.Topics, w.Start, w.Isolation)
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := ask(ctx); err == nil {
			t.Errorf("%s: no error", name)
		}
		cancel()
	}
}
