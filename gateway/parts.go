package gateway

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/gateway/cluster"
	"github.com/sharehook/sharehook/gateway/deadletter"
	"github.com/sharehook/sharehook/gateway/telemetry"
)

// parts are what the endpoints share. None of it can be held up by one of
// them.
type parts struct {
	version    string
	instance   instance
	clientID   string // of the configuration, without the instance
	log        *slog.Logger
	telemetry  *telemetry.Telemetry
	kafka      []kgo.Opt
	client     *kgo.Client // for cluster
	cluster    *cluster.Cluster
	letters    letters
	dial       dialer
	onDelivery func(Delivery)
	once       said
}

// said remembers what was said, so that it is not said again every minute.
type said struct{ what sync.Map }

func (s *said) first(what string) bool {
	_, again := s.what.LoadOrStore(what, true)
	return !again
}

func newParts(o Options) (*parts, error) {
	log := orDiscard(o.Logger)
	if o.Version == "" {
		o.Version = "devel" // brokers refuse a client whose version is empty
	}
	p := &parts{
		version: o.Version, instance: newInstance(o.InstanceID), clientID: o.Config.Kafka.ClientID,
		log: log, dial: o.Dial, onDelivery: o.OnDelivery,
	}
	var err error
	if p.kafka, err = kafkaOptions(o.Config.Kafka, p.instance, o.Version, log); err != nil {
		return nil, err
	}
	p.kafka = append(p.kafka, o.KafkaOptions...)
	if p.client, err = kgo.NewClient(p.kafka...); err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	p.cluster = cluster.New(p.client, log)
	p.telemetry, err = telemetry.New(backgroundContext, telemetry.Options{Version: o.Version, InstanceID: o.InstanceID, Logger: log})
	if err != nil {
		p.close()
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	return p, nil
}

func orDiscard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}

// close closes the clients.
func (p *parts) close() {
	p.letters.close()
	p.client.Close()
}

// letters is the writer of dead letters, made for the first endpoint that
// needs it.
type letters struct {
	mu     sync.Mutex
	client *kgo.Client
	writer *deadletter.Writer
}

func (l *letters) get(kafka []kgo.Opt) (*deadletter.Writer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writer != nil {
		return l.writer, nil
	}
	client, err := kgo.NewClient(append(slices.Clone(kafka), deadletter.ProducerOpts()...)...)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	l.client, l.writer = client, deadletter.New(client)
	return l.writer, nil
}

func (l *letters) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client != nil {
		l.client.Close()
	}
}
