//go:build kafka

package cluster

import (
	"os"
	"testing"

	"github.com/sharehook/sharehook/test/kafka"
)

// broker is the one Kafka of these tests. Access control is on, so that a
// test can forbid things; what has no rule is permitted.
var broker *kafka.Cluster

func TestMain(m *testing.M) {
	os.Exit(kafka.Main(m, kafka.Options{Settings: map[string]string{
		"authorizer.class.name":                "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"allow.everyone.if.no.acl.found":       "true",
		"transaction.state.log.num.partitions": "1",
	}}, &broker))
}
