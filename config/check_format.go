package config

import (
	"fmt"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strings"
)

// maxAttribute bounds an attribute of CloudEvents: it may have to fit into an
// HTTP header.
const maxAttribute = 1024

// checkAttribute checks an attribute of CloudEvents. Control characters are
// refused for all texts.
func checkAttribute(value string) string {
	if len(value) > maxAttribute {
		return fmt.Sprintf("is longer than %d bytes; shorten it", maxAttribute)
	}
	return ""
}

func checkEventSource(source string) string {
	if _, err := url.Parse(source); err != nil || strings.Contains(source, " ") {
		return "is no URI reference; write one such as /shop/orders or https://example.com/shop"
	}
	return checkAttribute(source)
}

// format checks the format against the keys that only some formats know.
func (c endpointCheck) format() {
	if !c.sound("format") {
		return
	}
	if !c.makesEvents() {
		c.noEvents()
		return
	}
	if form, _, err := mime.ParseMediaType(c.ContentType); err == nil && c.sound("content_type") && strings.HasPrefix(form, "application/cloudevents") {
		c.fault("is that of an event, which the format sets itself; write the media type of the data, or remove it", "content_type")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		if path := join("headers", label(name)); strings.HasPrefix(strings.ToLower(name), "ce-") && c.sound(path) {
			c.fault("is an attribute of CloudEvents, which the format sets itself; rename it", path)
		}
	}
}

// noEvents refuses attributes of events that nobody makes.
func (c endpointCheck) noEvents() {
	for path, value := range c.CloudEvents.attributes {
		if *value != "" && c.sound(path) {
			c.fault("is set, but "+c.show("format", c.Format)+" makes no CloudEvents; set a format cloudevents-*, or remove it", path)
		}
	}
}

// attributes yields the attributes by their paths.
func (e *CloudEvents) attributes(yield func(path string, value *string) bool) {
	_ = yield("cloudevents.type", &e.Type) && yield("cloudevents.source", &e.Source) && yield("cloudevents.subject", &e.Subject)
}

// dropEvents forgets attributes of events that come from defaults to an endpoint
// that makes none. Written at the endpoint itself they are a mistake, and kept
// to be reported.
func (e *Endpoint) dropEvents(s *section) {
	if e.makesEvents() {
		return
	}
	for path, value := range e.CloudEvents.attributes {
		if _, own := s.places[path]; !own {
			*value = ""
			delete(s.hidden, path)
		}
	}
}

func (e *Endpoint) makesEvents() bool {
	return e.Format == FormatCloudEventsBinary || e.Format == FormatCloudEventsStructured
}
