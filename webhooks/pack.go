package webhooks

import (
	"net/http"
	"strconv"
	"time"
)

// parcel is what one attempt sends.
type parcel struct {
	header http.Header
	// body is only read, also after the attempt has ended.
	body []byte
	// dropped is how many of the record's headers, the key counted in, are not
	// in it though the rules include them.
	dropped int
}

// pack makes of a message what this attempt sends.
func (e *Endpoint) pack(m *Message, a Attempt, now time.Time) (parcel, error) {
	if !isPrintable(m.ID) || m.ID == "" || !isPrintable(m.Topic) {
		return parcel{}, errNotCarried
	}
	b := newHeaderBuilder(len(e.fixed) + ownHeaderCount + e.tracing.headerCount() + e.signer.headerCount() + e.formatter.headerCount(m))
	for _, f := range e.fixed {
		b.header[f.name] = f.value
	}
	b.set("Webhook-Id", m.ID)
	b.set("Idempotency-Key", m.ID)
	b.set("Kafka-Topic", m.Topic)
	timestamp := b.setNumbers(m, a, now)
	if m.Value == nil {
		b.set("Kafka-Tombstone", "true")
	}
	b.addKey(m.Key)
	body := e.formatter.format(b, m)
	if b.dropped > 0 {
		b.set("Sharehook-Headers-Dropped", strconv.Itoa(b.dropped))
	}
	if len(e.signer.keys) > 0 {
		b.set("Webhook-Signature", e.signer.sign(m.ID, timestamp, body))
	}
	return parcel{b.header, body, b.dropped}, nil
}
