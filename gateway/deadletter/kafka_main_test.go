//go:build kafka

package deadletter

import (
	"os"
	"testing"

	"github.com/sharehook/sharehook/test/kafka"
)

// broker is the one Kafka of these tests.
var broker *kafka.Cluster

func TestMain(m *testing.M) { os.Exit(kafka.Main(m, kafka.Options{}, &broker)) }
