package config

import (
	"reflect"
	"strings"
	"testing"
)

// TestAuthOfDefaults holds that a way to authenticate of an endpoint's own
// takes the place of that of defaults, and that the halves of one way merge.
func TestAuthOfDefaults(t *testing.T) {
	t.Parallel()
	c, err := Parse("a.yaml", []byte(`
kafka: {brokers: [localhost]}
defaults: {auth: {basic: {username: "${env:WORD}", password: p}}}
endpoints:
  - {name: inherits, topics: [a], url: "http://h/"}
  - {name: completes, topics: [a], url: "http://h/", auth: {basic: {password: q}}}
  - {name: own, topics: [a], url: "http://h/", auth: {bearer: {token: t}}}
  - {name: nothing, topics: [a], url: "http://h/", auth: }
`), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Auth{
		{Basic: &BasicAuth{"hunter2", "p"}}, {Basic: &BasicAuth{"hunter2", "q"}}, {Bearer: &BearerAuth{"t"}}, {Basic: &BasicAuth{"hunter2", "p"}},
	} {
		if got := c.Endpoints[i].Auth; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", c.Endpoints[i].Name, got, want)
		}
	}
	text := printed(t, c)
	if _, err := Parse("a.yaml", []byte(text), testOptions()); err != nil || strings.Contains(text, "hunter2") {
		t.Errorf("what is printed does not read back, or tells: %v\n%s", err, text)
	}
}
