package webhooks

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"
	"unicode/utf8"
)

// packed is what an endpoint makes of a message.
func packed(t testing.TB, e *Endpoint, m *Message) parcel {
	t.Helper()
	p, err := e.pack(m, Attempt{Number: 1}, time.Unix(1700000000, 5))
	if err != nil {
		t.Fatalf("pack: %v", err)
	}
	return p
}

func inFormat(f Format) func(*Options) { return func(o *Options) { o.Format = f } }

func TestJSONIsWhole(t *testing.T) {
	e := newEndpoint(t, "http://localhost", inFormat(FormatJSON))
	m := message()
	m.Value = []byte(`{"b":1.0,"a":"\u00e9"}`)
	m.DeliveryCount = 3
	m.Headers = []Header{
		{"b", []byte("1")},
		{"a", []byte("größe")},
		{"b", []byte("2")},
		{"null", nil},
		{"empty", []byte{}},
		{"raw", []byte{0, 255}},
		{"Content-Type", []byte("text/x")},
		{"bad\xffname", []byte("\t\"\\")},
	}
	p := packed(t, e, m)
	want := `{"id":"m-1","topic":"orders","partition":3,"offset":42,"timestamp":"2026-05-04T03:02:01.007Z","key":"k",` +
		`"value":{"b":1.0,"a":"\u00e9"},"headers":[["b","1"],["a","größe"],["b","2"],["null",null],["empty",""],` +
		`["raw",{"base64":"AP8="}],["Content-Type","text/x"],["bad` + "\ufffd" + `name","\t\"\\"]],"delivery":3}`
	if string(p.body) != want {
		t.Errorf("got  %s\nwant %s", p.body, want)
	}
	if got := p.header.Get("content-type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
	if len(p.header["Kafka-Header-A"]) != 0 || p.dropped != 0 || p.header.Get("kafka-key") != "k" || p.header.Get("kafka-offset") != "42" {
		t.Errorf("dropped %d, header %v", p.dropped, p.header)
	}
}

func TestJSONOfLittle(t *testing.T) {
	e := newEndpoint(t, "http://localhost", inFormat(FormatJSON))
	p := packed(t, e, &Message{ID: "m-1", Topic: "orders", DeliveryCount: 1})
	want := `{"id":"m-1","topic":"orders","partition":0,"offset":0,"timestamp":null,"key":null,"value":null,"headers":[],"delivery":1}`
	if string(p.body) != want || p.header.Get("kafka-tombstone") != "true" {
		t.Errorf("got %s, header %v", p.body, p.header)
	}
}

func TestJSONValues(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1,"a":"é"}`:            `{"b":1,"a":"é"}`,
		`{"x":1.0,"y":1e2}`:          `{"x":1.0,"y":1e2}`,
		`9007199254740993`:           `9007199254740993`,
		"\"<>&\u2028\"":              "\"<>&\u2028\"",
		"<>&\u2028":                  "\"<>&\u2028\"",
		`{"a":1,"a":2}`:              `{"a":1,"a":2}`,
		"{\r\n\"a\":1}\r\n":          "{\r\n\"a\":1}\r\n",
		`"\ud800"`:                   `"\ud800"`,
		"\ufeff1":                    "\"\ufeff1\"",
		"a\r\n\tb":                   `"a\r\n\tb"`,
		"\x00\x1f\x7f":               "\"\\u0000\\u001f\x7f\"",
		`say "\"`:                    `"say \"\\\""`,
		"":                           `""`,
		"null":                       "null",
		"01":                         `"01"`,
		"1 2":                        `"1 2"`,
		"NaN":                        `"NaN"`,
		"\"\xff\"":                   `{"base64":"Iv8i"}`,
		"\xff":                       `{"base64":"/w=="}`,
		"{\"a\":\"\xed\xa0\x80\"}":   `{"base64":"eyJhIjoi7aCAIn0="}`, // a surrogate in UTF-8
		"größe":                      `"größe"`,
		`{"base64":"not from here"}`: `{"base64":"not from here"}`,
	} {
		if got := string(appendValue(nil, []byte(in))); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	if got := string(appendValue(nil, nil)); got != "null" {
		t.Errorf("nil: got %s", got)
	}
}

// Exclude keeps a record header from leaving, in whatever format.
func TestJSONLeavesOutExcludedHeaders(t *testing.T) {
	e := newEndpoint(t, "http://localhost", func(o *Options) {
		o.Format = FormatJSON
		o.Forward = &ForwardRules{Include: []string{"*"}, Exclude: []string{"secret*"}, Prefix: ""}
	})
	m := message()
	m.Headers = []Header{{"Secret-Token", []byte("s3cret")}, {"host", []byte("a")}}
	p := packed(t, e, m)
	if !bytes.Contains(p.body, []byte(`"headers":[["host","a"]]`)) || p.dropped != 0 || p.header.Get("host") != "" {
		t.Errorf("got %s, dropped %d", p.body, p.dropped)
	}
}

func TestContentTypeOfJSON(t *testing.T) {
	e := newEndpoint(t, "http://localhost", func(o *Options) { o.Format, o.ContentType = FormatJSON, "application/vnd.example+json" })
	if got := packed(t, e, message()).header["Content-Type"]; len(got) != 1 || got[0] != "application/vnd.example+json" {
		t.Errorf("got %q", got)
	}
}

// Each format sends every value so that it arrives and verifies.
func TestFormatsArriveAndVerify(t *testing.T) {
	r := newReceiver(t)
	secrets := []string{newSecret, asymmetricSecret(seed)}
	for _, format := range []Format{FormatRaw, FormatJSON, FormatCloudEventsBinary, FormatCloudEventsStructured} {
		e := newEndpoint(t, r.URL, func(o *Options) { o.Format, o.SigningSecrets = format, secrets })
		for name, value := range oddValues() {
			m := message()
			m.Value = value
			want(t, post(t, e, m), Accept, ReasonOK, http.StatusOK)
			got := r.last(t)
			for i, secret := range secrets {
				if err := verifies(secret, got); err != nil {
					t.Errorf("%s, %s, secret %d: %v", format, name, i, err)
				}
			}
			if format == FormatJSON {
				checkJSONBody(t, got.body, m)
			}
			r.forget()
		}
	}
}

// checkJSONBody holds that a body is one JSON object in UTF-8 that gives back
// key, value and headers of the record.
func checkJSONBody(t *testing.T, body []byte, m *Message) {
	t.Helper()
	if !utf8.Valid(body) {
		t.Errorf("the body is no UTF-8: %.200q", body)
	}
	var got struct {
		ID, Topic        string
		Partition        int32
		Offset, Delivery int64
		Key, Value       json.RawMessage
		Headers          [][2]json.RawMessage
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("the body is no JSON: %v, %.200q", err, body)
	}
	if got.ID != m.ID || got.Topic != m.Topic || got.Partition != m.Partition || got.Offset != m.Offset || got.Delivery != int64(m.DeliveryCount) {
		t.Errorf("got %+v", got)
	}
	checkEmbedded(t, "key", got.Key, m.Key, true)
	checkEmbedded(t, "value", got.Value, m.Value, true)
	if len(got.Headers) != len(m.Headers) {
		t.Fatalf("%d headers of %d", len(got.Headers), len(m.Headers))
	}
	for i, h := range m.Headers {
		checkEmbedded(t, "header", got.Headers[i][1], h.Value, false)
	}
}

// checkEmbedded holds that what stands in the JSON gives back the bytes. The
// decoder has cut blanks off its ends.
func checkEmbedded(t *testing.T, what string, got json.RawMessage, value []byte, mayBeJSON bool) {
	t.Helper()
	var back []byte
	var text string
	var wrapped map[string]string
	switch {
	case mayBeJSON && json.Valid(value) && utf8.Valid(value):
		if !bytes.Equal(got, bytes.Trim(value, " \t\r\n")) {
			t.Errorf("%s: got %.200q, want %.200q untouched", what, got, value)
		}
		return
	case value == nil:
		if string(got) != "null" {
			t.Errorf("%s: got %.200q, want null", what, got)
		}
		return
	case json.Unmarshal(got, &text) == nil:
		back = []byte(text)
	case json.Unmarshal(got, &wrapped) == nil && len(wrapped) == 1:
		var err error
		if back, err = base64.StdEncoding.DecodeString(wrapped["base64"]); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !bytes.Equal(back, value) {
		t.Errorf("%s: %.200q gives back %.200q, want %.200q", what, got, back, value)
	}
}

// FuzzJSON holds for any record: the body is one JSON object, and gives back the
// record's bytes.
func FuzzJSON(f *testing.F) {
	for _, value := range oddValues() {
		if len(value) < 100 {
			f.Add([]byte("key"), value, "name", []byte("header"))
			f.Add(value, []byte("value"), string(value), value)
		}
	}
	e := newEndpoint(f, "http://localhost", inFormat(FormatJSON))
	f.Fuzz(func(t *testing.T, key, value []byte, name string, header []byte) {
		m := message()
		m.Key, m.Value, m.Headers = key, value, []Header{{name, header}, {name, nil}, {"again", value}}
		checkJSONBody(t, packed(t, e, m).body, m)
	})
}
