package webhooks

import (
	"bytes"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// headerOf is the header that an endpoint makes of a message.
func headerOf(t *testing.T, e *Endpoint, m *Message) (http.Header, int) {
	t.Helper()
	p, err := e.pack(m, Attempt{Number: 2}, time.Unix(1700000000, 5))
	if err != nil {
		t.Fatalf("pack: %v", err)
	}
	return p.header, p.dropped
}

func TestHeaderIsWhole(t *testing.T) {
	e := newEndpoint(t, "http://localhost", func(o *Options) {
		o.Version = "1.2.3"
		o.Headers = map[string]string{"x-team": "orders"}
	})
	m := message()
	m.DeliveryCount = 3
	m.Headers = []Header{{"Trace", []byte("1")}, {"raw", []byte{0, 255}}, {"trace", []byte("2")}, {"null", nil}, {"empty", []byte{}}}
	got, dropped := headerOf(t, e, m)
	want := http.Header{
		"Webhook-Id": {"m-1"}, "Idempotency-Key": {"m-1"}, "Webhook-Timestamp": {"1700000000"},
		"Kafka-Topic": {"orders"}, "Kafka-Partition": {"3"}, "Kafka-Offset": {"42"}, "Kafka-Timestamp": {"2026-05-04T03:02:01.007Z"},
		"Kafka-Key": {"k"}, "Sharehook-Delivery": {"3"}, "Sharehook-Attempt": {"2"},
		"User-Agent": {"sharehook/1.2.3"}, "Content-Type": {"application/octet-stream"}, "X-Team": {"orders"},
		"Kafka-Header-Trace": {"1", "2"}, "Kafka-Header-Raw-Base64": {"AP8="}, "Kafka-Header-Empty": {""},
	}
	if !maps.EqualFunc(got, want, slices.Equal[[]string]) || dropped != 0 {
		t.Errorf("dropped %d\n got %v\nwant %v", dropped, got, want)
	}
}

func TestHeaderKey(t *testing.T) {
	e := newEndpoint(t, "http://localhost", nil)
	for _, test := range []struct {
		name           string
		key            []byte
		plain, encoded string
		dropped        int
	}{
		{"none", nil, "", "", 0},
		{"text", []byte("order 7/"), "order 7/", "", 0},
		{"leading blank", []byte(" a"), "", "IGE=", 0},
		{"trailing blank", []byte("a "), "", "YSA=", 0},
		{"only a blank", []byte(" "), "", "IA==", 0},
		{"tab", []byte("a\tb"), "", "YQli", 0},
		{"line end", []byte("a\r\nx: y"), "", "YQ0KeDogeQ==", 0},
		{"utf-8", []byte("é"), "", "w6k=", 0},
		{"nul", []byte{0}, "", "AA==", 0},
		{"longest line", bytes.Repeat([]byte("k"), maxHeaderLine-len("Kafka-Key")-headerOverhead), strings.Repeat("k", maxHeaderLine-len("Kafka-Key")-headerOverhead), "", 0},
		{"too long", bytes.Repeat([]byte("k"), maxHeaderLine-len("Kafka-Key")-headerOverhead+1), "", "", 1},
		{"512 KiB", bytes.Repeat([]byte("k"), 512<<10), "", "", 1},
		{"512 KiB binary", make([]byte, 512<<10), "", "", 1},
	} {
		m := message()
		m.Key = test.key
		got, dropped := headerOf(t, e, m)
		if got.Get("kafka-key") != test.plain || got.Get("kafka-key-base64") != test.encoded || dropped != test.dropped {
			t.Errorf("%s: got %.40q, %.40q, dropped %d", test.name, got["Kafka-Key"], got["Kafka-Key-Base64"], dropped)
		}
		if told := got.Get("sharehook-headers-dropped"); (told == "1") != (test.dropped == 1) {
			t.Errorf("%s: sharehook-headers-dropped: %q", test.name, told)
		}
	}
	m := message()
	m.Key = []byte{}
	if got, _ := headerOf(t, e, m); len(got["Kafka-Key"]) != 1 {
		t.Error("an empty key is not told from none")
	}
}

func TestHeaderTimestamp(t *testing.T) {
	e := newEndpoint(t, "http://localhost", nil)
	berlin := time.FixedZone("", 7200)
	for _, test := range []struct {
		at   time.Time
		want []string
	}{
		{time.Time{}, nil},
		{time.UnixMilli(0), []string{"1970-01-01T00:00:00.000Z"}},
		{time.UnixMilli(-1), []string{"1969-12-31T23:59:59.999Z"}},
		{time.Date(2026, 1, 1, 0, 30, 0, 0, berlin), []string{"2025-12-31T22:30:00.000Z"}},
		{time.UnixMilli(253402300799999), []string{"9999-12-31T23:59:59.999Z"}},
		{time.UnixMilli(253402300800000), nil},
		{time.UnixMilli(1 << 62), nil},
		{time.UnixMilli(-1 << 62), nil},
	} {
		m := message()
		m.Timestamp = test.at
		if got, _ := headerOf(t, e, m); !slices.Equal(got["Kafka-Timestamp"], test.want) {
			t.Errorf("%v: got %q, want %q", test.at.UnixMilli(), got["Kafka-Timestamp"], test.want)
		}
	}
}

func TestHeaderContentType(t *testing.T) {
	for _, test := range []struct {
		option string
		named  []string
		want   string
	}{
		{"", nil, DefaultContentType},
		{"", []string{"application/json; charset=utf-8"}, "application/json; charset=utf-8"},
		{"", []string{" text/plain\t"}, "text/plain"},
		{"", []string{"json"}, DefaultContentType},
		{"", []string{""}, DefaultContentType},
		{"", []string{"text/plain\r\nx: y"}, DefaultContentType},
		{"", []string{"text/plain; a=\"é\""}, DefaultContentType},
		{"", []string{"text/" + strings.Repeat("p", 300)}, DefaultContentType},
		{"", []string{"nonsense", "text/csv"}, "text/csv"},
		{"text/plain", []string{"application/json"}, "text/plain"},
	} {
		e := newEndpoint(t, "http://localhost", func(o *Options) { o.ContentType = test.option })
		m := message()
		for _, value := range test.named {
			m.Headers = append(m.Headers, Header{"Content-type", []byte(value)})
		}
		if got, _ := headerOf(t, e, m); !slices.Equal(got["Content-Type"], []string{test.want}) {
			t.Errorf("%q, %q: got %q", test.option, test.named, got["Content-Type"])
		}
	}
}

// Nothing a record is called or holds makes it undeliverable: what does not fit
// is left out, said and counted.
func TestHeaderBounds(t *testing.T) {
	counted := 0
	e := newEndpoint(t, "http://localhost", func(o *Options) { o.CountDropped = func(n int) { counted += n } })
	m := message()
	for i := range 300 {
		m.Headers = append(m.Headers, Header{"h" + strconv.Itoa(i), bytes.Repeat([]byte("v"), 200)})
	}
	got, dropped := headerOf(t, e, m)
	block := 0
	for name, values := range got {
		for _, value := range values {
			block += len(name) + len(value) + headerOverhead
		}
	}
	if block > maxHeaderBlock+2048 || dropped == 0 {
		t.Errorf("%d bytes of header, %d dropped", block, dropped)
	}
	if told := got.Get("sharehook-headers-dropped"); told != strconv.Itoa(dropped) {
		t.Errorf("told %q, dropped %d", told, dropped)
	}
	if got.Get("kafka-header-h0") == "" || got.Get("kafka-header-h299") != "" {
		t.Error("the first headers are to stay, the last to go")
	}
}

func TestHeaderOwnFault(t *testing.T) {
	e := newEndpoint(t, "http://localhost", nil)
	for _, change := range []func(*Message){
		func(m *Message) { m.ID = "" },
		func(m *Message) { m.ID = "a\nb" },
		func(m *Message) { m.Topic = "é" },
	} {
		m := message()
		change(m)
		want(t, post(t, e, m), Release, ReasonInternal, 0)
	}
}

func TestHeaderBase64IsStandard(t *testing.T) {
	e := newEndpoint(t, "http://localhost", nil)
	m := message()
	m.Key = []byte{0xfb, 0xff, 0xfe}
	got, _ := headerOf(t, e, m)
	decoded, err := base64.StdEncoding.DecodeString(got.Get("kafka-key-base64"))
	if err != nil || !bytes.Equal(decoded, m.Key) {
		t.Errorf("got %q, %v", decoded, err)
	}
}
