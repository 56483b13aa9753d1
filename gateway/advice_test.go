package gateway

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
)

func TestAdvised(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("connection refused"), "connection refused"},
		{fmt.Errorf("topic %q: %w", "orders", kerr.UnknownTopicOrPartition), "create the topic"},
		{fmt.Errorf("join the share group: %w", kerr.GroupAuthorizationFailed), "grant READ on the share group"},
		{errors.Join(errors.New("other"), kerr.TopicAuthorizationFailed), "grant READ on the topic"},
		{kerr.SaslAuthenticationFailed, "kafka.sasl"},
	} {
		got := advised(c.err)
		if !strings.HasPrefix(got, c.err.Error()) || !strings.Contains(got, c.want) {
			t.Errorf("%v: %q, want %q in it", c.err, got, c.want)
		}
	}
}
