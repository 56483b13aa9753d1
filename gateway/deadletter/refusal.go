package deadletter

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
)

// remedies say what to do about what time alone does not mend.
var remedies = []struct {
	cause  error
	remedy string
}{
	{kerr.UnknownTopicOrPartition, "create the topic: run `sharehook provision`"},
	{kerr.UnknownTopicID, "create the topic: run `sharehook provision`"},
	{kerr.InvalidTopicException, "choose a dead_letter.topic that Kafka takes as a name"},
	{kerr.MessageTooLarge, "raise max.message.bytes of the topic: run `sharehook provision`"},
	{kerr.RecordListTooLarge, "raise segment.bytes of the topic"},
	{kerr.TopicAuthorizationFailed, "grant DESCRIBE and WRITE on the topic"},
	{kerr.ClusterAuthorizationFailed, "grant IDEMPOTENT_WRITE on the cluster"},
	{kerr.InvalidRecord, "set cleanup.policy=delete on the topic: a compacted one takes no record without a key"},
	{kerr.PolicyViolation, "ask the cluster's operators which rule it is"},
	{kerr.InvalidRequiredAcks, "build the client with ProducerOpts"},
}

// classify marks an error that wants a person, with what they have to do.
func classify(err error) error {
	for _, r := range remedies {
		if errors.Is(err, r.cause) {
			return fmt.Errorf("%w: %w; %s", ErrRefused, err, r.remedy)
		}
	}
	return err
}
