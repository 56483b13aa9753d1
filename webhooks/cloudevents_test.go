package webhooks

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cloudevents/sdk-go/v2/binding"
	"github.com/cloudevents/sdk-go/v2/event"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"
)

// visible is ASCII without blanks and control characters.
var visible = func() string {
	var b strings.Builder
	for c := byte('!'); c <= '~'; c++ {
		b.WriteByte(c)
	}
	return b.String()
}()

var eventFormats = []Format{FormatCloudEventsBinary, FormatCloudEventsStructured}

// eventOf reads what is sent as the public SDK does. It leaves out one thing that
// the specification demands, so that is done for it: the percent-encoding of
// attributes in headers (HTTP binding, 3.1.3.2).
func eventOf(t testing.TB, p parcel) *event.Event {
	t.Helper()
	header := p.header.Clone()
	for name, values := range header {
		if strings.HasPrefix(name, "Ce-") {
			plain, err := url.PathUnescape(values[0])
			if err != nil || len(values) != 1 || strings.Trim(values[0], visible) != "" {
				t.Fatalf("%s: %q, %v", name, values, err)
			}
			values[0] = plain
		}
	}
	message := cehttp.NewMessage(header, io.NopCloser(bytes.NewReader(p.body)))
	got, err := binding.ToEvent(t.Context(), message)
	if err != nil {
		t.Fatalf("no event: %v\n%v\n%.300s", err, p.header, p.body)
	}
	if err := got.Validate(); err != nil {
		t.Fatalf("no valid event: %v\n%v\n%.300s", err, p.header, p.body)
	}
	return got
}

func TestEventOfARecord(t *testing.T) {
	for _, format := range eventFormats {
		m := message()
		m.Key = []byte(`größe "7" 100%`)
		m.Value = []byte(`{"b":1.0,"a":"\u00e9"}`)
		m.Headers = []Header{
			{"Tenant", []byte("größe 7")},
			{"content-type", []byte("application/json; v=1")},
			{"traceparent", []byte("00-1-2-01")},
			{"Null", nil},
			// Not lawful, not free, no text.
			{"x-tenant", []byte("a")},
			{"tenant", []byte("b")},
			{"id", []byte("c")},
			{"Data", []byte("c")},
			{"raw", []byte{0xff}},
			{"nul", []byte{0}},
			{"averyveryverylongname", []byte("d")},
			{"", []byte("e")},
			{"dataschema", []byte("http://x")},
		}
		p := packed(t, newEndpoint(t, "http://localhost", inFormat(format)), m)
		got := eventOf(t, p)
		if got.SpecVersion() != "1.0" || got.ID() != "m-1" || got.Source() != "/kafka/orders" || got.Type() != "kafka.record" ||
			got.Subject() != string(m.Key) || !got.Time().Equal(m.Timestamp) || got.DataContentType() != "application/json; v=1" {
			t.Errorf("%s: got %v", format, got)
		}
		if want := map[string]any{"tenant": "größe 7", "traceparent": "00-1-2-01"}; !maps.Equal(got.Extensions(), want) {
			t.Errorf("%s: extensions %v", format, got.Extensions())
		}
		if !bytes.Equal(got.Data(), m.Value) {
			t.Errorf("%s: data %s", format, got.Data())
		}
		if p.dropped != 9 || p.header.Get("sharehook-headers-dropped") != "9" {
			t.Errorf("%s: %d dropped, want 9", format, p.dropped)
		}
		for name := range p.header {
			if strings.HasPrefix(name, "Kafka-Header-") {
				t.Errorf("%s: header %s", format, name)
			}
		}
		if p.header.Get("webhook-id") != "m-1" || p.header.Get("kafka-offset") != "42" {
			t.Errorf("%s: header %v", format, p.header)
		}
	}
}

// The very bytes, so that a change of order or form is seen.
func TestStructuredEventForm(t *testing.T) {
	e := newEndpoint(t, "http://localhost", inFormat(FormatCloudEventsStructured))
	m := message()
	m.Value = []byte(`{ "x":1.0, "y":1e2 }`)
	p := packed(t, e, m)
	want := `{"specversion":"1.0","id":"m-1","source":"/kafka/orders","type":"kafka.record","subject":"k",` +
		`"time":"2026-05-04T03:02:01.007Z","datacontenttype":"application/json","data":{ "x":1.0, "y":1e2 }}`
	if string(p.body) != want || p.header.Get("content-type") != "application/cloudevents+json" {
		t.Errorf("got  %s\nwant %s\n%v", p.body, want, p.header)
	}
	p = packed(t, e, &Message{ID: "m-1", Topic: "orders", Key: []byte{0xff}})
	if want := `{"specversion":"1.0","id":"m-1","source":"/kafka/orders","type":"kafka.record"}`; string(p.body) != want {
		t.Errorf("tombstone: got %s", p.body)
	}
	p = packed(t, e, &Message{ID: "m-1", Topic: "orders", Value: []byte("\xff")})
	if want := `"datacontenttype":"application/octet-stream","data_base64":"/w=="}`; !strings.HasSuffix(string(p.body), want) {
		t.Errorf("bytes: got %s", p.body)
	}
}

func TestBinaryEventForm(t *testing.T) {
	e := newEndpoint(t, "http://localhost", inFormat(FormatCloudEventsBinary))
	m := message()
	m.Key, m.Headers = []byte(`a b"%ü`), []Header{{"tenant", []byte("7")}}
	p := packed(t, e, m)
	for name, want := range map[string]string{
		"Ce-Specversion": "1.0", "Ce-Id": "m-1", "Ce-Source": "/kafka/orders", "Ce-Type": "kafka.record", "Ce-Tenant": "7",
		"Ce-Subject": "a%20b%22%25%C3%BC", "Ce-Time": "2026-05-04T03:02:01.007Z", "Content-Type": "application/octet-stream",
	} {
		if got := p.header[name]; len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if !bytes.Equal(p.body, m.Value) {
		t.Errorf("body %q", p.body)
	}
	p = packed(t, e, &Message{ID: "m-1", Topic: "orders"})
	if _, ok := p.header["Content-Type"]; ok || len(p.body) != 0 || p.header.Get("kafka-tombstone") != "true" {
		t.Errorf("tombstone: header %v", p.header)
	}
}

// Data that is said to be something else than JSON is not embedded: by the
// specification it would have to be a string.
func TestEventData(t *testing.T) {
	for _, test := range []struct{ contentType, named, value, want string }{
		{"", "", `7`, `"datacontenttype":"application/json","data":7`},
		{"", "text/plain", `7`, `"datacontenttype":"text/plain","data_base64":"Nw=="`},
		{"", "application/json", `x`, `"datacontenttype":"application/json","data_base64":"eA=="`},
		{"", "application/x+json", `null`, `"datacontenttype":"application/x+json","data":null`},
		{"", "nonsense", ``, `"datacontenttype":"application/octet-stream","data_base64":""`},
		{"application/json", "text/plain", `7`, `"datacontenttype":"application/json","data":7`},
		{"text/csv", "application/json", `7`, `"datacontenttype":"text/csv","data_base64":"Nw=="`},
		{"", "", "\"\xff\"", `"datacontenttype":"application/octet-stream","data_base64":"Iv8i"`},
	} {
		e := newEndpoint(t, "http://localhost", func(o *Options) {
			o.Format, o.ContentType = FormatCloudEventsStructured, test.contentType
		})
		m := &Message{ID: "m-1", Topic: "orders", Value: []byte(test.value), Headers: []Header{{"Content-Type", []byte(test.named)}}}
		if got := string(packed(t, e, m).body); !strings.HasSuffix(got, test.want+"}") {
			t.Errorf("%+v: got %s", test, got)
		}
	}
}

func TestAttributesOfTheFile(t *testing.T) {
	for _, format := range eventFormats {
		e := newEndpoint(t, "http://localhost", func(o *Options) {
			o.Format, o.CloudEvents = format, CloudEvents{Type: "com.example.größe", Source: "https://example.com/a?b=c", Subject: "all 7"}
		})
		got := eventOf(t, packed(t, e, message()))
		if got.Type() != "com.example.größe" || got.Source() != "https://example.com/a?b=c" || got.Subject() != "all 7" {
			t.Errorf("%s: got %v", format, got)
		}
	}
}

func TestEventOptionsFaults(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"unknown format":    func(o *Options) { o.Format = "xml" },
		"control character": func(o *Options) { o.CloudEvents.Subject = "a\nb" },
		"no utf-8":          func(o *Options) { o.CloudEvents.Type = "\xff" },
		"long":              func(o *Options) { o.CloudEvents.Type = strings.Repeat("a", 1025) },
		"no reference":      func(o *Options) { o.CloudEvents.Source = "a b" },
		"broken reference":  func(o *Options) { o.CloudEvents.Source = "http://[" },
		"type of an event":  func(o *Options) { o.ContentType = "application/cloudevents+json" },
		"attribute":         func(o *Options) { o.Headers = map[string]string{"CE-Id": "1"} },
	} {
		o := Options{Name: "orders", URL: "http://localhost", Format: FormatCloudEventsBinary}
		change(&o)
		if e, err := New(o); err == nil {
			e.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

// A record that is a whole event passes in either format as it is.
func TestBinaryEventPasses(t *testing.T) {
	for _, format := range eventFormats {
		m := message()
		m.Value = []byte(`{"a":1.0}`)
		m.Headers = []Header{
			{"ce_specversion", []byte("1.0")},
			{"ce_id", []byte("A 1")},
			{"ce_source", []byte("/mine")},
			{"ce_type", []byte("größe")},
			{"ce_time", []byte("2026-01-02T03:04:05Z")},
			{"ce_extension", []byte("100%")},
			{"content-type", []byte("application/json")},
			{"traceparent", []byte("00-1-2-01")},
			{"other", []byte("x")},
			{"ce_extension", []byte("again")},
			{"ce_bad", []byte{0xff}},
		}
		p := packed(t, newEndpoint(t, "http://localhost", inFormat(format)), m)
		got := eventOf(t, p)
		if got.ID() != "A 1" || got.Source() != "/mine" || got.Type() != "größe" || got.Subject() != "" ||
			!got.Time().Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) || got.DataContentType() != "application/json" {
			t.Errorf("%s: got %v", format, got)
		}
		if want := map[string]any{"extension": "100%"}; !maps.Equal(got.Extensions(), want) {
			t.Errorf("%s: extensions %v", format, got.Extensions())
		}
		if !bytes.Equal(p.body, m.Value) || p.dropped != 3 || p.header.Get("webhook-id") != "m-1" {
			t.Errorf("%s: body %s, dropped %d", format, p.body, p.dropped)
		}
	}
}

func TestStructuredEventPasses(t *testing.T) {
	const contentType = "application/cloudevents+json; charset=UTF-8"
	for _, format := range eventFormats {
		m := message()
		m.Value = []byte("{ \"type\":\"t\", \"specversion\":\"1.0\", \"id\":\"A1\", \"source\":\"/mine\",\r\n \"data\": 9007199254740993 }")
		m.Headers = []Header{{"content-type", []byte(contentType)}, {"baggage", []byte("a=b")}, {"other", []byte("x")}}
		p := packed(t, newEndpoint(t, "http://localhost", inFormat(format)), m)
		if got := eventOf(t, p); got.ID() != "A1" || got.Source() != "/mine" || string(bytes.TrimSpace(got.Data())) != "9007199254740993" {
			t.Errorf("%s: got %v", format, got)
		}
		if !bytes.Equal(p.body, m.Value) || p.header.Get("content-type") != contentType || p.header.Get("ce-id") != "" || p.dropped != 1 {
			t.Errorf("%s: body %s, header %v", format, p.body, p.header)
		}
	}
}

// What is not a whole event is a record like any other.
func TestHalfEventsDoNotPass(t *testing.T) {
	whole := []Header{
		{"ce_specversion", []byte("1.0")}, {"ce_id", []byte("A1")}, {"ce_source", []byte("/mine")}, {"ce_type", []byte("t")},
	}
	with := func(h Header) []Header { return append(slices.Clone(whole), h) }
	without := func(i int) []Header { return slices.Delete(slices.Clone(whole), i, i+1) }
	asJSON := []Header{{"content-type", []byte("application/cloudevents+json")}}
	for name, m := range map[string]*Message{
		"no version":         {Headers: without(0)},
		"no id":              {Headers: without(1)},
		"no source":          {Headers: without(2)},
		"no type":            {Headers: without(3)},
		"two ids":            {Headers: with(Header{"ce_id", []byte("A2")})},
		"another version":    {Headers: with(Header{"ce_specversion", []byte("0.3")})},
		"null id":            {Headers: append(without(1), Header{"ce_id", nil})},
		"id is no text":      {Headers: append(without(1), Header{"ce_id", []byte{0}})},
		"endless id":         {Headers: append(without(1), Header{"ce_id", bytes.Repeat([]byte("a"), 9000)})},
		"names in capitals":  {Headers: []Header{{"CE_specversion", []byte("1.0")}, {"CE_id", []byte("A1")}, {"CE_source", []byte("/")}, {"CE_type", []byte("t")}}},
		"no json":            {Headers: asJSON, Value: []byte("x")},
		"no object":          {Headers: asJSON, Value: []byte("[]")},
		"no such id":         {Headers: asJSON, Value: []byte(`{"specversion":"1.0","ID":"A1","source":"/","type":"t"}`)},
		"numeric id":         {Headers: asJSON, Value: []byte(`{"specversion":"1.0","id":1,"source":"/","type":"t"}`)},
		"empty type":         {Headers: asJSON, Value: []byte(`{"specversion":"1.0","id":"1","source":"/","type":""}`)},
		"version as number":  {Headers: asJSON, Value: []byte(`{"specversion":1.0,"id":"1","source":"/","type":"t"}`)},
		"data twice":         {Headers: asJSON, Value: []byte(`{"specversion":"1.0","id":"1","source":"/","type":"t","data":1,"data_base64":""}`)},
		"no utf-8":           {Headers: asJSON, Value: []byte("{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"/\",\"type\":\"\xff\"}")},
		"tombstone":          {Headers: asJSON},
		"batch":              {Headers: []Header{{"content-type", []byte("application/cloudevents-batch+json")}}, Value: []byte("[]")},
		"event, type avro":   {Headers: []Header{{"content-type", []byte("application/cloudevents+avro")}}, Value: []byte("x")},
		"structured by name": {Headers: append(slices.Clone(whole), asJSON...), Value: []byte("x")},
	} {
		m.ID, m.Topic = "m-1", "orders"
		for _, format := range eventFormats {
			got := eventOf(t, packed(t, newEndpoint(t, "http://localhost", inFormat(format)), m))
			if got.ID() != "m-1" || got.Type() != "kafka.record" || !bytes.Equal(got.Data(), m.Value) {
				t.Errorf("%s, %s: got %v", name, format, got)
			}
		}
	}
}

// Whatever a record has in it, the request stays within bounds, and its event
// has what it cannot be without.
func TestEventsAreBounded(t *testing.T) {
	m := message()
	m.Key = bytes.Repeat([]byte("k"), 8000)
	for i := range 50_000 {
		m.Headers = append(m.Headers, Header{"h" + string(rune('a'+i%26)) + strings.Repeat("x", i%17), bytes.Repeat([]byte("v"), 300)})
	}
	whole := []Header{
		{"ce_specversion", []byte("1.0")}, {"ce_id", bytes.Repeat([]byte("i"), 8000)}, {"ce_source", []byte("/mine")}, {"ce_type", []byte("t")},
	}
	for i := range 200 {
		whole = append(whole, Header{"ce_x" + strings.Repeat("y", i), bytes.Repeat([]byte("v"), 300)})
	}
	passed := message()
	passed.Key, passed.Headers = m.Key, append(slices.Clone(whole[4:]), whole[:4]...)
	for _, m := range []*Message{m, passed} {
		p := packed(t, newEndpoint(t, "http://localhost", inFormat(FormatCloudEventsBinary)), m)
		size := 0
		for name, values := range p.header {
			size += len(name) + len(values[0])
		}
		if got := eventOf(t, p); size > 34<<10 || p.dropped == 0 || got.Type() == "" {
			t.Errorf("%d bytes of header, dropped %d", size, p.dropped)
		}
	}
}

// A fixed header is never set by a record.
func TestRecordWinsNoFixedAttribute(t *testing.T) {
	e := newEndpoint(t, "http://localhost", func(o *Options) { o.Headers = map[string]string{"ce-tenant": "ours"} })
	m := message()
	m.Headers = []Header{{"ce-tenant", []byte("theirs")}}
	if got := packed(t, e, m).header["Ce-Tenant"]; len(got) != 1 || got[0] != "ours" {
		t.Errorf("got %q", got)
	}
}

// FuzzEvents holds for any record: what is sent is an event by the public SDK,
// with the record's bytes in it, and the structured one is one JSON object.
func FuzzEvents(f *testing.F) {
	for _, value := range oddValues() {
		if len(value) < 100 {
			f.Add([]byte("key"), value, "name", []byte("header"), uint(1))
			f.Add(value, []byte(`{"specversion":"1.0","id":"1","source":"/","type":"t"}`), "ce_id", value, uint(3))
		}
	}
	// Not any: the SDK takes fewer media types for JSON than the specification.
	contentTypes := []string{"", "text/plain", "application/json; charset=utf-8", structuredType, "application/cloudevents", ";"}
	endpoints := map[Format]*Endpoint{}
	for _, format := range eventFormats {
		endpoints[format] = newEndpoint(f, "http://localhost", inFormat(format))
	}
	f.Fuzz(func(t *testing.T, key, value []byte, name string, header []byte, contentType uint) {
		m := message()
		m.Key, m.Value = key, value
		m.Headers = []Header{{name, header}, {"content-type", []byte(contentTypes[contentType%uint(len(contentTypes))])}, {"ce_specversion", []byte("1.0")}, {name, value}}
		for format, e := range endpoints {
			p := packed(t, e, m)
			passed := p.header.Get("ce-id") == "" && bytes.Equal(p.body, value)
			if strings.HasPrefix(p.header.Get("content-type"), structuredType) && (!json.Valid(p.body) || !utf8.Valid(p.body)) {
				t.Errorf("%s: no JSON: %q", format, p.body)
			}
			if err := (&http.Request{Header: p.header}).Header.Write(io.Discard); err != nil {
				t.Error(err)
			}
			if passed {
				continue // as it came
			}
			if got := eventOf(t, p); got.ID() != "m-1" || !bytes.Equal(bytes.TrimSpace(got.Data()), bytes.TrimSpace(value)) {
				t.Errorf("%s: got %v of %q", format, got, value)
			}
		}
	})
}
