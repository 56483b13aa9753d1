package webhooks

import (
	"net/http"
	"strings"
	"testing"
)

func TestStaticCredentials(t *testing.T) {
	for name, test := range map[string]struct {
		auth   Auth
		header string
		want   string
	}{
		"basic":         {Auth{Basic: &BasicAuth{"größe", " p:ss "}}, "authorization", "Basic Z3LDtsOfZTogcDpzcyA="},
		"only a user":   {Auth{Basic: &BasicAuth{"sk_live", ""}}, "authorization", "Basic c2tfbGl2ZTo="},
		"bearer":        {Auth{Bearer: &BearerAuth{"abc.d=="}}, "authorization", "Bearer abc.d=="},
		"header":        {Auth{Header: &HeaderAuth{"x-api-key", "k"}}, "X-Api-Key", "k"},
		"authorization": {Auth{Header: &HeaderAuth{"Authorization", "Token t"}}, "authorization", "Token t"},
	} {
		e := newEndpoint(t, "http://localhost", func(o *Options) {
			o.Auth, o.Forward = test.auth, &ForwardRules{Include: []string{"*"}}
		})
		m := message()
		m.Headers = []Header{{"Authorization", []byte("theirs")}, {"X-API-Key", []byte("theirs")}, {"x-api-key-base64", []byte("theirs")}}
		if got := packed(t, e, m).header.Values(test.header); len(got) != 1 || got[0] != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestAuthFaultsTellNoSecret(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"two":                 func(o *Options) { o.Auth = Auth{Basic: &BasicAuth{"u", "s3cret"}, Bearer: &BearerAuth{"s3cret"}} },
		"colon":               func(o *Options) { o.Auth.Basic = &BasicAuth{"a:b", "s3cret"} },
		"control in password": func(o *Options) { o.Auth.Basic = &BasicAuth{"a", "s3cret\n"} },
		"empty token":         func(o *Options) { o.Auth.Bearer = &BearerAuth{} },
		"blank in token":      func(o *Options) { o.Auth.Bearer = &BearerAuth{"s3cret s3cret"} },
		"control in token":    func(o *Options) { o.Auth.Bearer = &BearerAuth{"s3cret\r\nx: y"} },
		"header of Sharehook": func(o *Options) { o.Auth.Header = &HeaderAuth{"webhook-id", "s3cret"} },
		"no header":           func(o *Options) { o.Auth.Header = &HeaderAuth{"", "s3cret"} },
		"control in header":   func(o *Options) { o.Auth.Header = &HeaderAuth{"authorization", "s3cret\x00"} },
		"header twice": func(o *Options) {
			o.Auth.Header, o.Headers = &HeaderAuth{"X-Key", "s3cret"}, map[string]string{"x-key": "s3cret"}
		},
		"authorization header": func(o *Options) { o.Headers = map[string]string{"Authorization": "s3cret"} },
		"no region":            func(o *Options) { o.Auth.AWSSigV4 = &AWSSigV4{Service: "s3"} },
		"no audience":          func(o *Options) { o.Auth.GCPIDToken = &GCPIDToken{} },
		"no client":            func(o *Options) { o.Auth.OAuth2 = &OAuth2{TokenURL: "http://localhost", ClientSecret: "s3cret"} },
		"no token url":         func(o *Options) { o.Auth.OAuth2 = &OAuth2{ClientID: "a", TokenURL: "localhost/s3cret"} },
	} {
		o := Options{Name: "orders", URL: "http://localhost"}
		change(&o)
		e, err := New(o)
		if err == nil {
			e.Close()
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Credentials that stay the same are not had anew: a 401 is an answer like any.
func TestStaticCredentialsRefused(t *testing.T) {
	asked := 0
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { asked++; w.WriteHeader(http.StatusUnauthorized) })
	e := newEndpoint(t, url, func(o *Options) { o.Auth.Bearer = &BearerAuth{"t"} })
	want(t, post(t, e, message()), Reject, ReasonStatus4xx, http.StatusUnauthorized)
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}
