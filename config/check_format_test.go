package config

import "testing"

// TestEventsOfDefaultsMeetOtherFormats holds that attributes in defaults are
// for the endpoints that make events, and nothing to the others.
func TestEventsOfDefaultsMeetOtherFormats(t *testing.T) {
	t.Parallel()
	c, err := Parse("a.yaml", []byte(`
kafka: {brokers: [localhost]}
defaults: {format: cloudevents-binary, cloudevents: {type: a, source: "/${env:WORD}"}}
endpoints:
  - {name: events, topics: [a], url: "http://h/", cloudevents: {subject: c}}
  - {name: other, topics: [a], url: "http://h/", format: json}
`), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Endpoints[0].CloudEvents, (CloudEvents{Type: "a", Source: "/hunter2", Subject: "c"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := c.Endpoints[1].CloudEvents; got != (CloudEvents{}) {
		t.Errorf("got %+v, want nothing", got)
	}
	if _, err := Parse("a.yaml", []byte(printed(t, c)), testOptions()); err != nil {
		t.Errorf("what is printed does not read back: %v", err)
	}
}
