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
	b := newHeaderBuilder(len(e.fixed) + ownHeaderCount + e.tracing.headerCount() + len(m.Headers))
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
	body := e.raw(b, m)
	if b.dropped > 0 {
		b.set("Sharehook-Headers-Dropped", strconv.Itoa(b.dropped))
	}
	if len(e.signer.keys) > 0 {
		b.set("Webhook-Signature", e.signer.sign(m.ID, timestamp, body))
	}
	return parcel{b.header, body, b.dropped}, nil
}

// raw makes the record's headers HTTP headers and leaves the value as it is.
func (e *Endpoint) raw(b *headerBuilder, m *Message) []byte {
	if e.options.ContentType == "" {
		b.set("Content-Type", e.contentType(m.Headers))
	}
	for _, h := range m.Headers {
		if h.Value != nil {
			b.addRecordHeader(e.forward.name(h.Name), h.Value)
		}
	}
	return m.Value
}
