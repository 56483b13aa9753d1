package webhooks

import "time"

// Message is what an attempt carries: one record. An attempt only reads it, and
// the transport may go on reading Key, Value and Headers after the attempt has
// ended, so they must never be changed or reused.
type Message struct {
	// ID names the record, the same at every attempt, different for every
	// record. It is sent as webhook-id and idempotency-key.
	ID string

	Topic     string
	Partition int32
	Offset    int64
	// Timestamp is the record's. Zero: it has none.
	Timestamp time.Time

	// Key may be nil: the record has none.
	Key []byte
	// Value is sent byte for byte. Nil is a tombstone: an empty body and
	// kafka-tombstone: true.
	Value []byte
	// Headers are the record's, in order, repeats kept.
	Headers []Header

	// DeliveryCount is Kafka's (KIP-932), from 1.
	DeliveryCount int32
}

// Header is one header of a record.
type Header struct {
	Name string
	// Value may be nil, Kafka's null: such a header is left out.
	Value []byte
}

// Attempt says which attempt this is.
type Attempt struct {
	// Number counts the attempts of one delivery, from 1.
	Number int
}

// Result is what became of an attempt.
type Result struct {
	Verdict Verdict
	Reason  Reason
	// Held says that no request was made, as we have no credentials
	// (ReasonAuth): the record is to be held and this not to count as an
	// attempt. RetryAfter is when it is worth trying again, then.
	Held bool
	// Status is the final status code. 0: no answer.
	Status int
	// RetryAfter is how long the endpoint asked to be left alone, capped by
	// Options.MaxRetryAfter. 0: it did not ask.
	RetryAfter time.Duration
	// HoldEndpoint says that RetryAfter is meant for all records of the
	// endpoint, not only for this one: it came with 429 or 503.
	HoldEndpoint bool
	// Gone says that the endpoint answered 410 and no rule names that code: it
	// is to be paused and the record kept.
	Gone bool
	// Elapsed is the time from making the request to having read the answer.
	Elapsed time.Duration
	// Excerpt is the beginning of the answer's body, at most 2 KiB.
	Excerpt []byte
	// Cause says why there was no answer. It is for logs, never for control
	// flow, and holds no path, query or secret.
	Cause error
}
