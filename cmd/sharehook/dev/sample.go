package dev

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/config"
)

// sampleYAML is the sample's configuration; the verbs are the broker's address,
// the admin server's and the receiver's.
const sampleYAML = `kafka:
  brokers: ["%s"]
admin:
  listen: "%s"
shutdown:
  grace: 5s
endpoints:
  - name: orders
    topics: [orders]
    url: http://%s/hooks/orders
    timeout: 2s
    share_group:
      start: earliest
    retry:
      # Short waits, so that a person sees what happens.
      attempts: 3
      initial_interval: 200ms
      max_interval: 2s
    dead_letter:
      # The embedded broker writes none. On Kafka 4.4 leave this out: there the
      # broker writes them.
      by: gateway
`

// SampleFile is the sample's configuration with the addresses that a Kafka and
// a receiver of one's own would have.
func SampleFile() string {
	return fmt.Sprintf(sampleYAML, "localhost:9092", defaultAdmin, "localhost:8000")
}

// sampleConfig is the configuration of the sample, read as a user's is.
func sampleConfig(broker, admin, receiver string) (*config.Config, error) {
	return config.Parse("the sample", fmt.Appendf(nil, sampleYAML, broker, admin, receiver), config.Options{})
}

// order is the value of a sample record.
type order struct {
	Order    int    `json:"order"`
	Customer string `json:"customer"`
	Items    int    `json:"items"`
	Total    string `json:"total"`
	Currency string `json:"currency"`
}

const (
	customers = 12
	// One order in so many is empty, which the receiver rejects for good.
	emptyEvery, emptyAt = 25, 7
)

// sampleOrder is the order of that number, from 1.
func sampleOrder(n int) order {
	items := 1 + n%4
	if n%emptyEvery == emptyAt {
		items = 0
	}
	cents := items * 1995
	return order{
		Order:    n,
		Customer: fmt.Sprintf("customer-%d", 1+n*7%customers),
		Items:    items,
		Total:    fmt.Sprintf("%d.%02d", cents/100, cents%100),
		Currency: "EUR",
	}
}

// tracedEvery: one record in so many comes from a producer that traces.
const tracedEvery = 3

// sampleRecord is the record of that number for a topic.
func sampleRecord(topic string, n int) *kgo.Record {
	o := sampleOrder(n)
	r := &kgo.Record{
		Topic: topic,
		Key:   []byte(o.Customer),
		Value: o.json(),
		Headers: []kgo.RecordHeader{
			{Key: "content-type", Value: []byte("application/json")},
			{Key: "channel", Value: []byte([]string{"web", "app", "phone"}[n%3])},
		},
	}
	if n%tracedEvery == 0 {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: "traceparent", Value: []byte(traceparent())})
	}
	return r
}

// json is the order as a producer would write it.
func (o order) json() []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic("dev: order: " + err.Error()) // plain values always marshal
	}
	return text
}

// traceparent is that of a new, sampled trace (W3C Trace Context).
func traceparent() string {
	var id [24]byte
	for i := range id {
		id[i] = byte(1 + rand.N(255)) //nolint:gosec // not a secret; an id of zeros only is not lawful
	}
	return "00-" + hex.EncodeToString(id[:16]) + "-" + hex.EncodeToString(id[16:]) + "-01"
}
