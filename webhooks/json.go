package webhooks

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"
)

// jsonFormat makes one object of all that is known of the record.
type jsonFormat struct {
	contentType string
	forward     *forwarder
}

func (f *jsonFormat) headerCount(*Message) int { return 1 }

func (f *jsonFormat) format(b *headerBuilder, m *Message) []byte {
	b.set("Content-Type", f.contentType)
	// Written by hand, as values must not pass through an encoder: it would
	// write numbers and escapes anew.
	body := make([]byte, 0, f.size(m))
	body = append(body, `{"id":`...)
	body = appendString(body, m.ID)
	body = append(body, `,"topic":`...)
	body = appendString(body, m.Topic)
	body = append(body, `,"partition":`...)
	body = strconv.AppendInt(body, int64(m.Partition), 10)
	body = append(body, `,"offset":`...)
	body = strconv.AppendInt(body, m.Offset, 10)
	body = append(body, `,"timestamp":`...)
	body = appendTimestampString(body, m)
	body = append(body, `,"key":`...)
	body = appendValue(body, m.Key)
	body = append(body, `,"value":`...)
	body = appendValue(body, m.Value)
	body = append(body, `,"headers":`...)
	body = f.appendHeaders(body, m.Headers)
	body = append(body, `,"delivery":`...)
	body = strconv.AppendInt(body, int64(m.DeliveryCount), 10)
	return append(body, '}')
}

// size is room for the body of a record that is JSON or text.
func (f *jsonFormat) size(m *Message) int {
	const names, numbers, perHeader = 100, 80, 8
	size := names + numbers + len(m.ID) + len(m.Topic) + len(m.Key) + len(m.Value)
	for _, h := range m.Headers {
		size += perHeader + len(h.Name) + len(h.Value)
	}
	return size
}

// appendHeaders writes the record's headers in order, repeats and nulls kept,
// but for those that the rules exclude.
func (f *jsonFormat) appendHeaders(to []byte, headers []Header) []byte {
	to = append(to, '[')
	first := true
	for _, h := range headers {
		if !f.forward.includes(h.Name) {
			continue
		}
		if !first {
			to = append(to, ',')
		}
		first = false
		to = append(to, '[')
		// Kafka's names are strings, but nothing keeps a producer from others.
		to = appendString(to, strings.ToValidUTF8(h.Name, "\ufffd"))
		to = append(to, ',')
		to = appendText(to, h.Value)
		to = append(to, ']')
	}
	return append(to, ']')
}

// appendTimestampString writes the record's timestamp, or null.
func appendTimestampString(to []byte, m *Message) []byte {
	const quote = 1
	start := len(to)
	to = appendTimestamp(append(to, '"'), m.Timestamp)
	if len(to) == start+quote {
		return append(to[:start], "null"...)
	}
	return append(to, '"')
}

// appendValue writes a key or a value as JSON: its own bytes, untouched, if they
// are JSON, else as appendText does.
func appendValue(to, value []byte) []byte {
	if isJSON(value) {
		return append(to, value...)
	}
	return appendText(to, value)
}

// appendText writes bytes as a string if they are UTF-8, else as an object that
// holds them in base64; nil as null.
func appendText(to, value []byte) []byte {
	switch {
	case value == nil:
		return append(to, "null"...)
	case utf8.Valid(value):
		return appendString(to, value)
	default:
		to = append(to, `{"base64":`...)
		return append(appendBase64(to, value), '}')
	}
}

func appendBase64(to, value []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(to, '"'), value), '"')
}

// appendString writes a string, which is UTF-8. Only what JSON wants escaped is
// escaped.
func appendString[T string | []byte](to []byte, s T) []byte {
	const hex = "0123456789abcdef"
	to = append(to, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		to = append(to, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			to = append(to, '\\', c)
		case '\n':
			to = append(to, '\\', 'n')
		case '\r':
			to = append(to, '\\', 'r')
		case '\t':
			to = append(to, '\\', 't')
		default:
			to = append(to, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
	}
	to = append(to, s[start:]...)
	return append(to, '"')
}
