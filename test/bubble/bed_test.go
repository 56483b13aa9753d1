package bubble

import (
	"context"
	"maps"
	"net"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// scenario runs a test in a bubble, beside others.
func scenario(t *testing.T, run func(b *bed)) {
	t.Helper()
	scenarioOn(t, broker{}, run)
}

// scenarioOn is scenario with a broker of its own kind.
func scenarioOn(t *testing.T, br broker, run func(b *bed)) {
	t.Helper()
	t.Parallel()
	scenarioHere(t, br, run)
}

// scenarioHere is scenarioOn, and returns when the scenario is over.
func scenarioHere(t *testing.T, br broker, run func(b *bed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { run(newBed(t, br)) })
}

// broker says how the broker is set up. Its zero value has the gateway's own
// defaults and the topic orders with one partition.
type broker struct {
	lock   time.Duration // of acquired records; 0 means 30 s
	limit  int           // deliveries; 0 means 10
	topics []string      // nil means orders
	real   bool          // outside of a bubble: on sockets, in real time
}

// bed is what a scenario lies in.
type bed struct {
	t      *testing.T
	begun  time.Time
	real   bool
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	listen func(network, address string) (net.Listener, error)
	port   int // the next free one of the network in memory

	broker *kfake.Cluster
	client *kgo.Client // the test's own
	admin  *kadm.Client

	hooks    []*hook
	gateways []*gatewayRun
	produced map[coordinates]*kgo.Record
}

// coordinates name a record.
type coordinates struct {
	topic     string
	partition int32
	offset    int64
}

func newBed(t *testing.T, br broker) *bed {
	t.Helper()
	b := &bed{t: t, begun: time.Now(), real: br.real, produced: map[coordinates]*kgo.Record{}}
	if br.real {
		b.dial, b.listen = (&net.Dialer{}).DialContext, net.Listen
	} else {
		network := &kfake.VirtualNetwork{}
		b.dial, b.listen, b.port = network.DialContext, network.Listen, firstPort
	}
	if br.topics == nil {
		br.topics = []string{"orders"}
	}
	settings := map[string]string{
		"share.record.lock.sweep.interval.ms": "100",
		"group.share.heartbeat.interval.ms":   "1000",
		"group.share.delivery.count.limit":    "10",
		"message.max.bytes":                   "8000000",
	}
	if br.lock != 0 {
		settings["group.share.record.lock.duration.ms"] = strconv.FormatInt(br.lock.Milliseconds(), 10)
	}
	if br.limit != 0 {
		settings["group.share.delivery.count.limit"] = strconv.Itoa(br.limit)
	}
	var err error
	b.broker, err = kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.Ports(b.nextPort()),
		kfake.ListenFn(b.listen),
		kfake.SeedTopics(1, br.topics...),
		kfake.BrokerConfigs(settings),
	)
	if err != nil {
		t.Fatalf("start the broker: %v", err)
	}
	t.Cleanup(b.broker.Close)
	b.connect()
	return b
}

// firstPort is the first port of the network in memory, the broker's.
const firstPort = 8000

// nextPort is a port to listen on; on sockets 0, which is any free one.
func (b *bed) nextPort() int {
	if b.real {
		return 0
	}
	b.port++
	return b.port - 1
}

// connect makes the test's client, anew where the old one remembers a topic
// that has been made again.
func (b *bed) connect() {
	b.t.Helper()
	b.client = b.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	b.admin = kadm.NewClient(b.client)
}

// newClient is a client of the broker that ends with the scenario.
func (b *bed) newClient(opts ...kgo.Opt) *kgo.Client {
	b.t.Helper()
	opts = append(opts, kgo.SeedBrokers(b.broker.ListenAddrs()...), kgo.Dialer(b.dial), kgo.ProducerBatchMaxBytes(8<<20))
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(cl.Close)
	return cl
}

// topic makes a topic with one partition.
func (b *bed) topic(name string) {
	b.t.Helper()
	if err := b.broker.CreateTopic(name, 1, nil); err != nil {
		b.t.Fatalf("create topic %q: %v", name, err)
	}
}

// produce writes records, all to be accounted for.
func (b *bed) produce(records ...*kgo.Record) {
	b.t.Helper()
	if err := b.client.ProduceSync(b.t.Context(), records...).FirstErr(); err != nil {
		b.t.Fatalf("produce: %v", err)
	}
	for _, r := range records {
		b.produced[coordinates{r.Topic, r.Partition, r.Offset}] = r
	}
}

// keyed produces a record for each key, in order. The key is what scripts and
// expectations know a record by.
func (b *bed) keyed(topic string, keys ...string) {
	b.t.Helper()
	records := make([]*kgo.Record, len(keys))
	for i, key := range keys {
		records[i] = &kgo.Record{Topic: topic, Key: []byte(key), Value: []byte("value of " + key)}
	}
	b.produce(records...)
}

// since is the time that has passed in the bubble.
func (b *bed) since() time.Duration { return time.Since(b.begun) }

// pass lets time pass.
func (b *bed) pass(d time.Duration) {
	<-time.After(d)
	b.rest()
}

// rest waits until nothing happens any more before time passes.
func (b *bed) rest() {
	if !b.real {
		synctest.Wait()
	}
}

// patience is above all waits of the scenarios. It is fake time.
const patience = 20 * time.Minute

// await lets time pass until cond holds.
func (b *bed) await(what string, cond func() bool) {
	b.t.Helper()
	b.awaitEach(10*time.Millisecond, what, cond)
}

// awaitEach is await with a look after each step.
func (b *bed) awaitEach(step time.Duration, what string, cond func() bool) {
	b.t.Helper()
	for began := time.Now(); ; b.pass(step) {
		b.rest()
		if cond() {
			return
		}
		if time.Since(began) > patience {
			for _, g := range b.gateways {
				b.t.Logf("log of the gateway:\n%s", g.log)
			}
			b.t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// lag is what the group of an endpoint has not settled, -1 if it is not known.
func (b *bed) lag(endpoint string) int64 {
	b.t.Helper()
	group := "sharehook." + endpoint
	all, err := b.admin.DescribeShareGroupOffsets(b.t.Context(), group)
	if err != nil {
		b.t.Fatalf("read the lag of %q: %v", group, err)
	}
	var lag int64
	for _, partitions := range all[group].Offsets {
		for p := range maps.Values(partitions) {
			if p.Err != nil || p.Lag < 0 {
				return -1
			}
			lag += p.Lag
		}
	}
	return lag
}

// settled waits until the groups of all these endpoints have lag 0, and the
// gateways know it.
func (b *bed) settled(endpoints ...string) {
	b.t.Helper()
	for _, name := range endpoints {
		b.awaitEach(250*time.Millisecond, "lag 0 of "+name, func() bool { return b.lag(name) == 0 })
	}
	// The broker's answer to an acknowledgement may come with a fetch that is
	// parked there.
	b.pass(time.Second)
}
