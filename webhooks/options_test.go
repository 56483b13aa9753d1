package webhooks

import (
	"strings"
	"testing"
	"time"
)

func TestNewFindsFaults(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"no url":             func(o *Options) { o.URL = "" },
		"no scheme":          func(o *Options) { o.URL = "localhost:8000" },
		"no host":            func(o *Options) { o.URL = "http:///hooks" },
		"other scheme":       func(o *Options) { o.URL = "ftp://localhost" },
		"userinfo":           func(o *Options) { o.URL = "http://u:s3cret@localhost" },
		"port":               func(o *Options) { o.URL = "http://localhost:70000" },
		"port 0":             func(o *Options) { o.URL = "http://localhost:0" },
		"fragment":           func(o *Options) { o.URL = "http://localhost/#a" },
		"control character":  func(o *Options) { o.URL = "http://localhost/s3cret\n" },
		"own header":         func(o *Options) { o.Headers = map[string]string{"Webhook-Id": "x"} },
		"framing header":     func(o *Options) { o.Headers = map[string]string{"content-length": "3"} },
		"no header name":     func(o *Options) { o.Headers = map[string]string{"a b": "x"} },
		"line end in header": func(o *Options) { o.Headers = map[string]string{"a": "s3cret\r\nb: c"} },
		"blank at the end":   func(o *Options) { o.Headers = map[string]string{"a": "s3cret "} },
		"no media type":      func(o *Options) { o.ContentType = "json;;" },
		"negative timeout":   func(o *Options) { o.Timeout = -1 },
		"negative number":    func(o *Options) { o.Concurrency = -1 },
		"odd version":        func(o *Options) { o.Version = "1\n" },
		"odd glob":           func(o *Options) { o.Forward = &ForwardRules{Include: []string{"[a"}} },
		"odd prefix":         func(o *Options) { o.Forward = &ForwardRules{Prefix: "a b"} },
	} {
		o := Options{Name: "orders", URL: "http://localhost:8000"}
		change(&o)
		e, err := New(o)
		if err == nil {
			e.Close()
			t.Errorf("%s: no error", name)
			continue
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error tells a secret: %v", name, err)
		}
	}
}

func TestNewDefaults(t *testing.T) {
	e := newEndpoint(t, "https://localhost", nil)
	o := e.options
	if o.Timeout != 10*time.Second || o.Concurrency != 64 || o.MaxRetryAfter != 5*time.Minute || o.Forward.Prefix != "kafka-header-" {
		t.Errorf("got %+v", o)
	}
}

func TestReservedHeader(t *testing.T) {
	for name, reserved := range map[string]bool{
		"Webhook-Signature": true, "HOST": true, "sharehook-x": true, "Content-Type": true, "kafka-key": true, "traceparent": true, "Authorization": true,
		"cookie": false, "x-api-key": false, "kafka-header-x": false, "kafka-keys": false,
	} {
		if got := ReservedHeader(name); got != reserved {
			t.Errorf("%s: %v, want %v", name, got, reserved)
		}
	}
}

func TestMemoIsBounded(t *testing.T) {
	var m memo[int]
	decided := 0
	decide := func(s string) int { decided++; return len(s) }
	for range 2 {
		for i := range 2 * memoSize {
			if key := strings.Repeat("k", i); m.get(key, decide) != i {
				t.Fatalf("%d: wrong value", i)
			}
		}
	}
	if n := len(*m.known.Load()); n != memoSize {
		t.Errorf("%d entries", n)
	}
	if decided < 3*memoSize || decided > 3*memoSize+1 {
		t.Errorf("decided %d times", decided)
	}
}
