package deadletter

import (
	"encoding/base64"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Letter is a record that is given up, and the story of its last delivery. A
// zero value in the story is "not known", but for Partition and Offset.
type Letter struct {
	Topic string // where the letter goes

	Source Source

	Endpoint      string
	ShareGroup    string
	WebhookID     string
	Verdict       string
	Reason        string
	Status        int    // 0: no answer
	Cause         string // never holds a secret, nor a URL's path or query
	Attempts      int
	DeliveryCount int32
	TraceID       string
	Time          time.Time // when the record was given up
	Answer        []byte    // start of the last answer's body
}

// Source is the record that is given up.
type Source struct {
	Topic     string
	Partition int32
	Offset    int64
	Timestamp time.Time // zero: none
	Key       []byte    // nil: null
	Value     []byte    // nil: null
	Headers   []Header
}

// Header is a record header; a nil Value is null.
type Header struct {
	Name  string
	Value []byte
}

// HeaderPrefix begins the names of the story's headers.
const HeaderPrefix = "sharehook.dead_letter."

// Names of the story's headers. They are promises; see the package
// documentation for the values.
const (
	HeaderEndpoint      = HeaderPrefix + "endpoint"
	HeaderShareGroup    = HeaderPrefix + "share_group"
	HeaderTopic         = HeaderPrefix + "topic"
	HeaderPartition     = HeaderPrefix + "partition"
	HeaderOffset        = HeaderPrefix + "offset"
	HeaderTimestamp     = HeaderPrefix + "timestamp"
	HeaderWebhookID     = HeaderPrefix + "webhook_id"
	HeaderVerdict       = HeaderPrefix + "verdict"
	HeaderReason        = HeaderPrefix + "reason"
	HeaderStatus        = HeaderPrefix + "status"
	HeaderCause         = HeaderPrefix + "cause"
	HeaderAttempts      = HeaderPrefix + "attempts"
	HeaderDeliveryCount = HeaderPrefix + "delivery_count"
	HeaderTraceID       = HeaderPrefix + "trace_id"
	HeaderTime          = HeaderPrefix + "time"
	HeaderAnswer        = HeaderPrefix + "answer"
)

// record is the letter as it is produced. Its timestamp is left to the time
// of writing: with the source's, retention could take an old record's letter
// away at once.
func (l Letter) record() *kgo.Record {
	s := l.Source
	headers := make([]kgo.RecordHeader, 0, len(s.Headers)+storyLen)
	for _, h := range s.Headers {
		headers = append(headers, kgo.RecordHeader{Key: h.Name, Value: h.Value})
	}
	return &kgo.Record{Topic: l.Topic, Key: s.Key, Value: s.Value, Headers: append(headers, l.story()...)}
}

const storyLen = 16

// story has every name, also those whose value is not known: see the package
// documentation.
func (l Letter) story() []kgo.RecordHeader {
	return []kgo.RecordHeader{
		{Key: HeaderEndpoint, Value: text(l.Endpoint)},
		{Key: HeaderShareGroup, Value: text(l.ShareGroup)},
		{Key: HeaderTopic, Value: text(l.Source.Topic)},
		{Key: HeaderPartition, Value: integer(l.Source.Partition)},
		{Key: HeaderOffset, Value: integer(l.Source.Offset)},
		{Key: HeaderTimestamp, Value: instant(l.Source.Timestamp)},
		{Key: HeaderWebhookID, Value: text(l.WebhookID)},
		{Key: HeaderVerdict, Value: text(l.Verdict)},
		{Key: HeaderReason, Value: text(l.Reason)},
		{Key: HeaderStatus, Value: count(l.Status)},
		{Key: HeaderCause, Value: text(l.Cause)},
		{Key: HeaderAttempts, Value: integer(l.Attempts)},
		{Key: HeaderDeliveryCount, Value: count(l.DeliveryCount)},
		{Key: HeaderTraceID, Value: text(l.TraceID)},
		{Key: HeaderTime, Value: instant(l.Time)},
		{Key: HeaderAnswer, Value: base64Text(l.Answer)},
	}
}

func text(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

func integer[N int | int32 | int64](n N) []byte {
	return strconv.AppendInt(nil, int64(n), 10)
}

// count is n, where 0 is not known.
func count[N int | int32](n N) []byte {
	if n == 0 {
		return nil
	}
	return integer(n)
}

// instant is t in RFC 3339; null if there is none or it has no such form.
func instant(t time.Time) []byte {
	t = t.UTC()
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return nil
	}
	return []byte(t.Format("2006-01-02T15:04:05.000Z07:00"))
}

func base64Text(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return base64.StdEncoding.AppendEncode(nil, b)
}
