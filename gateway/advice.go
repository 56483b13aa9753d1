package gateway

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
)

// advised is the text of what keeps an endpoint from running, and what to do
// about it where that is plain.
func advised(err error) string {
	for _, a := range advice {
		if errors.Is(err, a.on) {
			return err.Error() + "; " + a.do
		}
	}
	return err.Error()
}

var advice = []struct {
	on error
	do string
}{
	{kerr.UnknownTopicOrPartition, "create the topic, or take it out of the endpoint's topics"},
	{kerr.TopicAuthorizationFailed, "grant READ on the topic to the gateway's user"},
	{kerr.GroupAuthorizationFailed, "grant READ on the share group to the gateway's user"},
	{kerr.ClusterAuthorizationFailed, "grant DESCRIBE_CONFIGS on the cluster to the gateway's user"},
	{kerr.SaslAuthenticationFailed, "correct kafka.sasl, or make that user on the cluster"},
	{kerr.UnsupportedSaslMechanism, "set kafka.sasl.mechanism to one that the brokers offer"},
}
