package webhooks

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Format is what the body of a request is made like.
type Format string

// The formats.
const (
	// FormatRaw: the body is the record's value, its headers are HTTP headers.
	FormatRaw Format = "raw"
	// FormatJSON: one object with all of the record.
	FormatJSON Format = "json"
	// FormatCloudEventsBinary and FormatCloudEventsStructured are the content
	// modes of the HTTP binding of CloudEvents 1.0.
	FormatCloudEventsBinary     Format = "cloudevents-binary"
	FormatCloudEventsStructured Format = "cloudevents-structured"
)

// formatter writes what depends on the format.
//
// A body is made at each attempt and lives no longer: made once for a delivery,
// the bodies of all records that wait for a retry would double the memory of
// what is held, to save a few microseconds of an attempt. It depends on the
// message alone, so a retry sends the same bytes, but for the delivery count.
type formatter interface {
	// format sets the headers that depend on the format and returns the body.
	format(b *headerBuilder, m *Message) []byte
	// headerCount is about how many headers format sets.
	headerCount(m *Message) int
}

// newFormatter makes the formatter that checked options ask for.
func newFormatter(o *Options) formatter {
	forward := newForwarder(*o.Forward, o.headersOf())
	switch o.Format {
	case FormatJSON:
		return &jsonFormat{contentType: orDefault(o.ContentType, "application/json"), forward: forward}
	case FormatCloudEventsBinary, FormatCloudEventsStructured:
		return newCloudEvents(o, forward)
	default:
		return &rawFormat{contentType: o.ContentType, forward: forward}
	}
}

// checkFormat reports a format that there is not, and keys that contradict it.
func (o *Options) checkFormat() error {
	switch o.Format {
	case FormatRaw, FormatJSON:
		return nil
	case FormatCloudEventsBinary, FormatCloudEventsStructured:
		if parseMediaType(o.ContentType).event {
			return errors.New("content type is that of an event, which the format sets; use the media type of the data, or none")
		}
		return errors.Join(o.CloudEvents.check(), o.checkEventHeaders())
	default:
		return fmt.Errorf("format %q is unknown; use %s, %s, %s or %s", o.Format,
			FormatRaw, FormatJSON, FormatCloudEventsBinary, FormatCloudEventsStructured)
	}
}

// checkEventHeaders reports headers that would pass for attributes.
func (o *Options) checkEventHeaders() error {
	for name := range o.Headers {
		if strings.HasPrefix(strings.ToLower(name), "ce-") {
			return fmt.Errorf("header %q is that of an attribute of events, which the format sets; remove it", name)
		}
	}
	return nil
}

// rawFormat leaves the value as it is and makes HTTP headers of the record's.
type rawFormat struct {
	contentType string // empty: the record's
	named       mediaTypes
	forward     *forwarder
}

func (f *rawFormat) headerCount(m *Message) int { return 1 + len(m.Headers) }

func (f *rawFormat) format(b *headerBuilder, m *Message) []byte {
	contentType := f.contentType
	if contentType == "" {
		contentType = orDefault(f.named.of(m.Headers).text, DefaultContentType)
	}
	b.set("Content-Type", contentType)
	for _, h := range m.Headers {
		if h.Value != nil {
			b.addRecordHeader(f.forward.name(h.Name), h.Value)
		}
	}
	return m.Value
}

// appendTimestamp writes t as RFC 3339 with milliseconds in UTC, or nothing if
// it has no such form: Kafka's "none", and years that need more than four digits.
func appendTimestamp(text []byte, t time.Time) []byte {
	if t = t.UTC(); t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return text
	}
	return t.AppendFormat(text, "2006-01-02T15:04:05.000Z")
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
