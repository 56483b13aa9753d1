package deadletter

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestWriteOnKfake(t *testing.T) {
	t.Parallel()
	fake, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "dlq.orders"))
	if err != nil {
		t.Fatal(err)
	}
	defer fake.Close()
	client, err := kgo.NewClient(append(ProducerOpts(), kgo.SeedBrokers(fake.ListenAddrs()...))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	w, l := New(client), example()
	if err := w.Write(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	l.Topic = "dlq.missing"
	if err := w.Write(t.Context(), l); !errors.Is(err, ErrRefused) {
		t.Errorf("Write to a missing topic: %v", err)
	}

	reader, err := kgo.NewClient(kgo.SeedBrokers(fake.ListenAddrs()...), kgo.ConsumeTopics("dlq.orders"), kgo.FetchMaxWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	rs := reader.PollRecords(t.Context(), 1).Records()
	if len(rs) != 1 || len(rs[0].Headers) != len(example().record().Headers) {
		t.Errorf("read back %v", rs)
	}
}
