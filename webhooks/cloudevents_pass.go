package webhooks

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// attributePrefix is what names of attributes have before them in the headers of
// a record that is an event in binary mode (CloudEvents 1.0.2, Kafka binding,
// 3.2.3.1).
const attributePrefix = "ce_"

// maxIdentity bounds the attributes that no event can be without, so that there
// is always room for them: what is longer no server would take.
const maxIdentity = maxHeaderLine - 100

// isWholeBinary says whether a record is a whole event in binary mode: it has all
// attributes that an event must have.
func (f *eventsFormat) isWholeBinary(headers []Header) bool {
	var id, source, kind, version bool
	size := 0
	for _, h := range headers {
		var has *bool
		switch h.Name {
		case "ce_specversion":
			if string(h.Value) != "1.0" {
				return false
			}
			version = true
			continue
		case "ce_id":
			has = &id
		case "ce_source":
			has = &source
		case "ce_type":
			has = &kind
		default:
			continue
		}
		// Two ids are as good as none: nobody can say which one is meant.
		if *has || isBlank(h.Value) || !isEventText(h.Value) {
			return false
		}
		*has = true
		size += percentEncodedLen(h.Value)
	}
	return version && id && source && kind && size <= maxIdentity
}

// passBinary passes an event in binary mode through: each attribute becomes an
// HTTP header, the data is the value.
func (f *eventsFormat) passBinary(b *headerBuilder, m *Message, named mediaType) []byte {
	if named.text != "" {
		b.set("Content-Type", named.text)
	}
	// First what the event cannot be without, as there is not room without end.
	for _, h := range m.Headers {
		if isIdentity(h.Name) {
			b.addAttribute(f.attributeHeader(h.Name), h.Value)
		}
	}
	for _, h := range m.Headers {
		name := f.attributeHeader(h.Name)
		switch {
		case h.Value == nil || isIdentity(h.Name):
		case name != "" && isEventText(h.Value):
			b.addAttribute(name, h.Value)
		case name != "" || f.isMissed(h):
			b.dropped++
		}
	}
	return m.Value
}

// isMissed says whether somebody may miss a record header that is no part of
// the event.
func (f *eventsFormat) isMissed(h Header) bool {
	return f.isSought(h) && !consumedHeaders[strings.ToLower(h.Name)]
}

// isIdentity says whether a header is an attribute that no event is without.
func isIdentity(header string) bool {
	return header == "ce_specversion" || header == "ce_id" || header == "ce_source" || header == "ce_type"
}

// attributeHeader is the HTTP header of the attribute that a record header is;
// empty if it is none.
func (f *eventsFormat) attributeHeader(header string) string {
	return f.attributeOf.get(header, func(header string) string {
		name, ok := strings.CutPrefix(header, attributePrefix)
		if !ok || !isAttributeName(name) || name == "datacontenttype" || name == "data" {
			return "" // the type of the data is the header content-type
		}
		return canonical("ce-" + name)
	})
}

// passStructured passes an event in structured mode through: it is all in the
// value. Headers of the record are no part of it.
func (f *eventsFormat) passStructured(b *headerBuilder, m *Message, named mediaType) []byte {
	b.set("Content-Type", named.text)
	for _, h := range m.Headers {
		if f.isMissed(h) {
			b.dropped++
		}
	}
	return m.Value
}

// isWholeEvent says whether a value is a whole event as JSON.
func isWholeEvent(value []byte) bool {
	if !utf8.Valid(value) {
		return false
	}
	// A map, as the names of a struct would match in any case.
	var event map[string]json.RawMessage
	if err := json.Unmarshal(value, &event); err != nil {
		return false
	}
	for _, name := range []string{"specversion", "id", "source", "type"} {
		var text string
		if err := json.Unmarshal(event[name], &text); err != nil || isBlank(text) || name == "specversion" && text != "1.0" {
			return false
		}
	}
	_, data := event["data"]
	_, encoded := event["data_base64"]
	return !data || !encoded
}
