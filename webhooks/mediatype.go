package webhooks

import (
	"mime"
	"strings"
)

// maxContentType bounds what a record may name as its media type.
const maxContentType = 255

// mediaType is a media type and what it says of the bytes. The zero mediaType
// is none.
type mediaType struct {
	text string // as it was written, without blanks around it
	// json: application/json and whatever else is JSON (RFC 6839).
	json bool
	// event: a whole CloudEvent, or several. Receivers take a request for one
	// by this alone.
	event bool
	// jsonEvent: one whole CloudEvent as JSON.
	jsonEvent bool
}

// parseMediaType is the media type that value is; zero if it is none.
func parseMediaType(value string) mediaType {
	value = strings.Trim(value, " \t")
	form, _, err := mime.ParseMediaType(value)
	_, subtype, ok := strings.Cut(form, "/")
	// ParseMediaType takes Content-Disposition's lone words as well.
	if err != nil || !ok || !isPrintable(value) {
		return mediaType{}
	}
	return mediaType{
		text:      value,
		json:      subtype == "json" || strings.HasSuffix(subtype, "+json"),
		event:     strings.HasPrefix(form, "application/cloudevents"),
		jsonEvent: form == "application/cloudevents+json",
	}
}

// mediaTypes reads the media types that records name in a header content-type.
type mediaTypes struct{ known memo[mediaType] }

// of is the first lawful one; zero if there is none.
func (t *mediaTypes) of(headers []Header) mediaType {
	for _, h := range headers {
		if len(h.Name) == len("content-type") && strings.EqualFold(h.Name, "content-type") && len(h.Value) <= maxContentType {
			if named := t.known.get(string(h.Value), parseMediaType); named.text != "" {
				return named
			}
		}
	}
	return mediaType{}
}
