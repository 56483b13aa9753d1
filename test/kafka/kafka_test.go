//go:build kafka

package kafka

import (
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

var shared *Cluster

func TestMain(m *testing.M) { os.Exit(Main(m, Options{}, &shared)) }

func TestRecordsComeBack(t *testing.T) {
	topic := Name("records")
	shared.CreateTopic(t, topic, 4, map[string]string{"retention.ms": "-1"})
	shared.ProduceNumbered(t, topic, 0, 100)
	if got := shared.ReadTopic(t, topic, 100); len(got) != 100 {
		t.Errorf("read %d records, want 100", len(got))
	}
}

func TestDataOutlivesTheNode(t *testing.T) {
	tests := map[string]func(*Cluster, testing.TB, int32){
		"stopped": (*Cluster).Stop,
		"killed":  (*Cluster).Kill,
	}
	for name, end := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Start(t, Options{})
			topic := Name("records")
			c.CreateTopic(t, topic, 1, nil)
			c.ProduceNumbered(t, topic, 0, 10)
			end(c, t, 1)
			c.Restart(t, 1)
			c.ProduceNumbered(t, topic, 10, 10)
			if got := c.ReadTopic(t, topic, 20); len(got) != 20 {
				t.Errorf("read %d records, want 20", len(got))
			}
		})
	}
}

func TestPausedNodeIsSilentAndComesBack(t *testing.T) {
	c := Start(t, Options{})
	topic := Name("records")
	c.CreateTopic(t, topic, 1, nil)
	c.Pause(t, 1)
	produced := make(chan error, 1)
	c.Client(t).Produce(t.Context(), &kgo.Record{Topic: topic}, func(_ *kgo.Record, err error) { produced <- err })
	select {
	case err := <-produced:
		t.Errorf("a paused node answered: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	c.Continue(t, 1)
	if err := <-produced; err != nil {
		t.Errorf("produce after the pause: %v", err)
	}
}
