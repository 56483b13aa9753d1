package sharegroup

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// onFake starts kfake with short locks.
func onFake(t *testing.T, opts ...kfake.Opt) broker {
	t.Helper()
	const lock = 2 * time.Second
	c, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(1),
		kfake.BrokerConfigs(map[string]string{
			"group.share.record.lock.duration.ms":   "2000",
			"share.record.lock.sweep.interval.ms":   "100",
			"group.share.heartbeat.interval.ms":     "500",
			"group.share.delivery.count.limit":      "10",
			"group.share.min.heartbeat.interval.ms": "500",
		}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	b := broker{opts: []kgo.Opt{kgo.SeedBrokers(c.ListenAddrs()...)}, lock: lock}
	b.earliest = func(t *testing.T, group string) {
		t.Helper()
		setGroup(t, b.client(t), group, "share.auto.offset.reset", "earliest")
	}
	return b
}

func setGroup(t *testing.T, cl *kgo.Client, group string, kv ...string) {
	t.Helper()
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	for i := 0; i < len(kv); i += 2 {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = kv[i], new(kv[i+1])
		res.Configs = append(res.Configs, c)
	}
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(t.Context(), cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.Resources[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("set %v of group %q: %v", kv, group, err)
	}
}

func TestPromisesOnFake(t *testing.T) {
	for what, promise := range promises {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := onFake(t)
			b.earliest(t, "records")
			promise(t, b, "records")
		})
	}
}
