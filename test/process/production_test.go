//go:build kafka

package process

import (
	"testing"

	"github.com/sharehook/sharehook/test/kafka"
)

// TestProduction tries again, with Kafka's own share-group settings (45 s
// session, 5 s heartbeat, 30 s lock), what depends on them.
func TestProduction(t *testing.T) {
	t.Parallel()
	c := kafka.Start(t, kafka.Options{Production: true, Settings: patient})
	for name, scenario := range map[string]func(*testing.T, *kafka.Cluster){
		"mapping": mapping, "drain": drain, "kill -9": killTheOnlyOne,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, c)
		})
	}
}
