package webhooks

import (
	"bytes"
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Defaults of CloudEvents.
const (
	DefaultEventType         = "kafka.record"
	DefaultEventSourcePrefix = "/kafka/" // the topic follows
)

// CloudEvents are attributes of the events that are made of records. Records
// that are CloudEvents already keep their own.
type CloudEvents struct {
	// Type is the attribute type. Default: DefaultEventType.
	Type string
	// Source is the attribute source, a URI reference. Default: the topic
	// behind DefaultEventSourcePrefix.
	Source string
	// Subject is the attribute subject. Default: the record's key if it is
	// text, else none.
	Subject string
}

// maxAttribute bounds an attribute that is the same for all events.
const maxAttribute = 1024

func (c *CloudEvents) check() error {
	var problems []error
	for _, attribute := range []struct{ name, value string }{{"type", c.Type}, {"source", c.Source}, {"subject", c.Subject}} {
		if len(attribute.value) > maxAttribute || !isEventText(attribute.value) {
			problems = append(problems, errors.New("cloudevents "+attribute.name+" is too long or has control characters; shorten or correct it"))
		}
	}
	if _, err := url.Parse(c.Source); err != nil || strings.Contains(c.Source, " ") {
		problems = append(problems, errors.New("cloudevents source is no URI reference; write it as /shop/orders"))
	}
	return errors.Join(problems...)
}

// eventsFormat makes a CloudEvent 1.0 of a record, for the HTTP binding. A
// record that is one already passes through as it is, in its own content mode:
// to turn one mode into the other would mean writing its data anew.
type eventsFormat struct {
	structured  bool
	attributes  CloudEvents
	contentType mediaType // of the data; zero: the record's
	named       mediaTypes
	forward     *forwarder
	extensions  memo[string]
	attributeOf memo[string]
}

func newCloudEvents(o *Options, forward *forwarder) *eventsFormat {
	f := &eventsFormat{
		structured:  o.Format == FormatCloudEventsStructured,
		attributes:  o.CloudEvents,
		contentType: parseMediaType(o.ContentType),
		forward:     forward,
	}
	f.attributes.Type = orDefault(f.attributes.Type, DefaultEventType)
	return f
}

func (f *eventsFormat) headerCount(m *Message) int {
	if f.structured {
		return 1
	}
	const attributes = 6 // and the media type
	return 1 + attributes + len(m.Headers)
}

func (f *eventsFormat) format(b *headerBuilder, m *Message) []byte {
	named := f.named.of(m.Headers)
	switch {
	case named.jsonEvent && isWholeEvent(m.Value):
		return f.passStructured(b, m, named)
	case !named.event && f.isWholeBinary(m.Headers):
		return f.passBinary(b, m, named)
	case f.structured:
		return f.makeStructured(b, m, named)
	default:
		return f.makeBinary(b, m, named)
	}
}

// dataType is the media type of a value: what the file says, what the record
// says, or what it looks like. It is zero for a tombstone of which nobody says
// anything. Embed says whether the value can stand in JSON as data: not so, by
// the specification, if it is said to be something else.
func (f *eventsFormat) dataType(value []byte, named mediaType) (data mediaType, embed bool) {
	if f.contentType.text != "" {
		named = f.contentType
	}
	switch {
	case named.text != "":
		return named, named.json && isJSON(value)
	case value == nil:
		return mediaType{}, false
	case isJSON(value):
		return mediaType{text: "application/json", json: true}, true
	default:
		return mediaType{text: DefaultContentType}, false
	}
}

// source is the attribute source of a record's event.
func (f *eventsFormat) source(m *Message) string {
	if f.attributes.Source != "" {
		return f.attributes.Source
	}
	return DefaultEventSourcePrefix + m.Topic
}

// subject is the attribute subject of a record's event; empty: none.
func (f *eventsFormat) subject(m *Message) string {
	if f.attributes.Subject != "" || isBlank(m.Key) || !isEventText(m.Key) {
		return f.attributes.Subject
	}
	return string(m.Key)
}

// eventAttributes are the names that an extension must not have (CloudEvents
// 1.0.2, 2; JSON format 1.0.2, 3).
var eventAttributes = nameSet("id", "source", "specversion", "type", "datacontenttype", "dataschema", "subject", "time", "data")

// maxExtension is how long the name of an extension should be at most.
const maxExtension = 20

// extension is the name of the extension that a record header becomes; empty:
// none.
func (f *eventsFormat) extension(header string) string {
	return f.extensions.get(header, func(header string) string {
		name := strings.ToLower(header)
		if name == "" || len(name) > maxExtension || !isAttributeName(name) || eventAttributes[name] {
			return ""
		}
		return name
	})
}

// eachExtension yields the record headers that become extensions, and counts
// those that are left out. Of a name that comes twice the first counts.
func (f *eventsFormat) eachExtension(b *headerBuilder, headers []Header, yield func(name string, value []byte)) {
	var taken map[string]bool
	for _, h := range headers {
		if !f.isSought(h) {
			continue
		}
		name := f.extension(h.Name)
		if name == "" || taken[name] || !isEventText(h.Value) {
			b.dropped++
			continue
		}
		if taken == nil {
			taken = make(map[string]bool)
		}
		taken[name] = true
		yield(name, h.Value)
	}
}

// isSought says whether somebody may look for a record header in the event: it
// has a value, the rules include it and it is not the media type.
func (f *eventsFormat) isSought(h Header) bool {
	return h.Value != nil && !isNamed(h.Name, "content-type") && f.forward.includes(h.Name)
}

// isAttributeName says whether s can name an attribute (CloudEvents 1.0.2, 3).
func isAttributeName(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// isNamed says whether a header has this lower-case name.
func isNamed(header, name string) bool {
	return len(header) == len(name) && strings.EqualFold(header, name)
}

// isBlank says whether s is blanks alone, which receivers take for nothing.
func isBlank[T string | []byte](s T) bool { return len(bytes.TrimSpace([]byte(s))) == 0 }

// isEventText says whether s can be the value of an attribute: CloudEvents has
// no control characters and no noncharacters in its strings.
func isEventText[T string | []byte](s T) bool {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			if s[i] < ' ' || s[i] == 0x7f {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		if r == utf8.RuneError && size == 1 || r < 0xa0 || r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe {
			return false
		}
		i += size
	}
	return true
}
