package cluster

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
)

// kafkaSince is the release that brought a group's setting.
var kafkaSince = map[string]string{
	groupReset:         "4.1",
	groupIsolation:     "4.2",
	groupLock:          "4.1",
	groupMaxDeliveries: "4.3",
	groupMaxLocks:      "4.3",
	groupRenew:         "4.3",
	groupDeadLetters:   "4.4",
	groupCopyRecord:    "4.4",
}

// brokerBounds are the brokers' settings that bind a group's setting. They
// are not dynamic.
var brokerBounds = map[string]string{
	groupLock:          "group.share.min.record.lock.duration.ms and group.share.max.record.lock.duration.ms",
	groupMaxDeliveries: "group.share.min.delivery.count.limit and group.share.max.delivery.count.limit",
	groupMaxLocks:      "group.share.min.partition.max.record.locks and group.share.max.partition.max.record.locks",
}

// explain says what was refused and what to do about it.
func explain(c Change, err error) error {
	if advice := advice(c, err); advice != "" {
		return fmt.Errorf("%s: %w; %s", c.doing(), err, advice)
	}
	return fmt.Errorf("%s: %w", c.doing(), err)
}

// doing is the change as something that is being done.
func (c Change) doing() string {
	switch {
	case c.Resource == NewTopic:
		return fmt.Sprintf("create topic %q", c.Name)
	case c.Resource == StartOffsets:
		return fmt.Sprintf("set the start of %s %q to %s", c.Resource, c.Name, c.New)
	case c.New == "":
		return fmt.Sprintf("clear %s of %s %q", c.Setting, c.Resource, c.Name)
	}
	return fmt.Sprintf("set %s of %s %q to %s", c.Setting, c.Resource, c.Name, c.New)
}

func advice(c Change, err error) string {
	switch {
	case errors.Is(err, errSkipped):
		return fmt.Sprintf("first %s", c.needs.doing())
	case denied(err):
		return "grant " + operation(c)
	case errors.Is(err, kerr.InvalidConfig) && c.unknown:
		return fmt.Sprintf("the broker has no such setting for a group: it came with Kafka %s; upgrade it, or set group.%s on the brokers where there is one", kafkaSince[c.Setting], c.Setting)
	case errors.Is(err, kerr.InvalidConfig) && brokerBounds[c.Setting] != "":
		return fmt.Sprintf("change the file, or on the brokers %s", brokerBounds[c.Setting])
	case errors.Is(err, kerr.InvalidReplicationFactor):
		return "ask for no more replicas than the cluster has brokers"
	case errors.Is(err, kerr.InvalidPartitions):
		return "ask for at least one partition"
	case errors.Is(err, kerr.InvalidTopicException):
		return "choose a dead_letter.topic of letters, digits, '.', '_' and '-', at most 249"
	case errors.Is(err, kerr.PolicyViolation):
		return "the cluster has a rule against it; let its operators make the topic"
	case errors.Is(err, kerr.UnsupportedVersion):
		return "the brokers are too old for share groups; Kafka 4.2 or later is needed"
	}
	return ""
}

// operation is the permission that a change needs.
func operation(c Change) string {
	switch c.Resource {
	case NewTopic:
		return fmt.Sprintf("CREATE on topic %q, or let somebody else make it", c.Name)
	case TopicSetting:
		return fmt.Sprintf("ALTER_CONFIGS on topic %q", c.Name)
	case StartOffsets:
		return fmt.Sprintf("READ on group %q and on its topics", c.Name)
	case GroupSetting:
		return fmt.Sprintf("ALTER_CONFIGS on group %q", c.Name)
	case ResourceInvalid:
	}
	return "what is missing"
}
