package webhooks

// structuredType is the media type of one event as JSON.
const structuredType = "application/cloudevents+json"

// makeStructured makes the body one JSON object that holds event and data.
func (f *eventsFormat) makeStructured(b *headerBuilder, m *Message, named mediaType) []byte {
	b.set("Content-Type", structuredType)
	data, embed := f.dataType(m.Value, named)

	// Base64 takes a third more, as does a short text with its escapes.
	const names = 200
	body := make([]byte, 0, names+len(m.ID)+2*len(m.Topic)+len(m.Key)+len(m.Value)*4/3)
	body = append(body, `{"specversion":"1.0","id":`...)
	body = appendString(body, m.ID)
	body = append(body, `,"source":`...)
	body = appendString(body, f.source(m))
	body = append(body, `,"type":`...)
	body = appendString(body, f.attributes.Type)
	if subject := f.subject(m); subject != "" {
		body = append(body, `,"subject":`...)
		body = appendString(body, subject)
	}
	if time := appendTimestamp(nil, m.Timestamp); time != nil {
		body = append(body, `,"time":`...)
		body = appendString(body, time)
	}
	if data.text != "" {
		body = append(body, `,"datacontenttype":`...)
		body = appendString(body, data.text)
	}
	f.eachExtension(b, m.Headers, func(name string, value []byte) {
		body = append(body, ',')
		body = appendString(body, name)
		body = append(body, ':')
		body = appendString(body, value)
	})
	switch {
	case m.Value == nil: // an event without data
	case embed:
		body = append(body, `,"data":`...)
		body = append(body, m.Value...)
	default:
		body = append(body, `,"data_base64":`...)
		body = appendBase64(body, m.Value)
	}
	return append(body, '}')
}

// makeBinary leaves the value as it is and makes HTTP headers of the attributes.
func (f *eventsFormat) makeBinary(b *headerBuilder, m *Message, named mediaType) []byte {
	if named.event {
		// Under that name receivers would take the value itself for the event.
		named = mediaType{}
	}
	if data, _ := f.dataType(m.Value, named); data.text != "" {
		b.set("Content-Type", data.text)
	}
	b.set("Ce-Specversion", "1.0")
	b.set("Ce-Id", percentEncoded(m.ID))
	b.set("Ce-Source", percentEncoded(f.source(m)))
	b.set("Ce-Type", percentEncoded(f.attributes.Type))
	if subject := f.subject(m); subject != "" {
		b.addAttribute("Ce-Subject", []byte(subject))
	}
	if time := appendTimestamp(nil, m.Timestamp); time != nil {
		b.set("Ce-Time", string(time))
	}
	f.eachExtension(b, m.Headers, func(name string, value []byte) {
		b.addAttribute(canonical("ce-"+name), value)
	})
	return m.Value
}

// addAttribute adds the header of an attribute, unless there is one already or no
// room for it.
func (b *headerBuilder) addAttribute(name string, value []byte) {
	if _, taken := b.header[name]; taken {
		b.dropped++
	} else if b.take(name, percentEncodedLen(value)) {
		b.set(name, percentEncoded(value))
	}
}

// isPlainByte says whether a byte stands for itself in the header of an
// attribute (CloudEvents 1.0.2, HTTP binding, 3.1.3.2).
func isPlainByte(c byte) bool { return c > ' ' && c <= '~' && c != '"' && c != '%' }

func percentEncodedLen[T string | []byte](s T) int {
	n := len(s)
	for i := range len(s) {
		if !isPlainByte(s[i]) {
			n += len("%00") - 1
		}
	}
	return n
}

// percentEncoded is the value of an attribute as a header has it.
func percentEncoded[T string | []byte](s T) string {
	const hex = "0123456789ABCDEF"
	size := percentEncodedLen(s)
	if size == len(s) {
		return string(s)
	}
	text := make([]byte, 0, size)
	for i := range len(s) {
		if c := s[i]; isPlainByte(c) {
			text = append(text, c)
		} else {
			text = append(text, '%', hex[c>>4], hex[c&0xf])
		}
	}
	return string(text)
}
