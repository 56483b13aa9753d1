package sharegroup

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const beat = int16(kmsg.ShareGroupHeartbeat)
		refused := errors.New("connection refused")
		var h health
		step := func(what string, want error) {
			t.Helper()
			if err := h.err(); !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		step("before the first heartbeat", errNotJoined)
		h.OnBrokerE2E(kgo.BrokerMetadata{}, beat, kgo.BrokerE2E{})
		step("answered", nil)
		time.Sleep(silence - time.Second)
		step("not answered for a while", nil)
		h.OnBrokerE2E(kgo.BrokerMetadata{}, beat, kgo.BrokerE2E{WriteErr: refused})
		time.Sleep(2 * time.Second)
		step("the brokers are gone", errSilence)
		h.OnBrokerE2E(kgo.BrokerMetadata{}, beat, kgo.BrokerE2E{})
		step("they are back", nil)
		time.Sleep(time.Second)
		h.OnGroupManageError(kerr.GroupAuthorizationFailed)
		step("refused", kerr.GroupAuthorizationFailed)
		time.Sleep(time.Second)
		h.OnBrokerE2E(kgo.BrokerMetadata{}, beat, kgo.BrokerE2E{})
		h.failed("topic", kerr.TopicAuthorizationFailed)
		step("a topic is refused", kerr.TopicAuthorizationFailed)
		time.Sleep(errorFades + time.Second)
		step("and is not any more", nil)
		h.setMissing(kerr.UnknownTopicOrPartition)
		step("a topic is missing", kerr.UnknownTopicOrPartition)
		h.setMissing(nil)
		step("it was made", nil)
	})
}
