package webhooks

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// forwarding makes an endpoint with these rules.
func forwarding(t testing.TB, url string, rules ForwardRules) *Endpoint {
	return newEndpoint(t, url, func(o *Options) {
		o.Forward = &rules
		o.Headers = map[string]string{"X-Tenant": "ours"}
		o.Auth.Bearer = &BearerAuth{"ours"}
	})
}

func TestForwardGlobs(t *testing.T) {
	for _, test := range []struct {
		include, exclude []string
		name             string
		fate             fate
	}{
		{[]string{"*"}, nil, "any", forwarded},
		{nil, nil, "any", excluded},
		{[]string{"order-*"}, nil, "Order-ID", forwarded},
		{[]string{"Order-*"}, nil, "order-id", forwarded},
		{[]string{"order-*"}, nil, "customer", excluded},
		{[]string{"a?c"}, nil, "abc", forwarded},
		{[]string{"[a-c]x"}, nil, "bx", forwarded},
		{[]string{"*"}, []string{"secret*"}, "SECRET-1", excluded},
		{[]string{"*"}, []string{"*"}, "any", excluded},
		{[]string{"x", "y"}, []string{"y"}, "y", excluded},
		// What is excluded is no loss, though HTTP could not carry it either.
		{[]string{"*"}, []string{"a*"}, "a/b", excluded},
		{[]string{"*b"}, nil, "a/b", dropped},
		{[]string{"*"}, nil, "", dropped},
		{[]string{"*"}, nil, "a b", dropped},
		{[]string{"*"}, nil, "a:b", dropped},
		{[]string{"*"}, nil, "é", dropped},
		{[]string{"*"}, nil, "a\r\nb", dropped},
	} {
		f := newForwarder(ForwardRules{Include: test.include, Exclude: test.exclude, Prefix: DefaultForwardPrefix}, nil)
		for range 2 { // the second answer is remembered
			if got := f.name(test.name).fate; got != test.fate {
				t.Errorf("include %q, exclude %q, %q: got %d, want %d", test.include, test.exclude, test.name, got, test.fate)
			}
		}
	}
}

// No record sets a header that frames, routes or authenticates the request.
func TestForwardNeverSetsDelicateHeaders(t *testing.T) {
	delicate := []string{
		"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Expect", "TE", "Trailer", "Upgrade", "HTTP2-Settings",
		"Proxy-Authorization", "Proxy-Connection", "Authorization", "Cookie", "Set-Cookie", "Webhook-Id", "Webhook-Signature", "webhook-anything",
		"Idempotency-Key", "Content-Encoding", "Sharehook-Attempt", "sharehook-headers-dropped", "User-Agent", "Accept-Encoding", "Date",
		"X-Forwarded-For", "Forwarded", "Kafka-Topic", "Kafka-Partition", "Kafka-Offset", "Kafka-Timestamp", "Kafka-Key", "Kafka-Key-Base64",
		"Kafka-Tombstone", "X-Amz-Date", "Signature", "X-Tenant",
	}
	for _, prefix := range []string{"", "kafka-", "content-", "x-", "webhook-", "Proxy-", DefaultForwardPrefix} {
		e := forwarding(t, "http://localhost", ForwardRules{Include: []string{"*"}, Prefix: prefix})
		before, _ := headerOf(t, e, message())
		for _, full := range delicate {
			name, ok := strings.CutPrefix(strings.ToLower(full), strings.ToLower(prefix))
			if !ok {
				continue
			}
			m := message()
			m.Headers = []Header{{name, []byte("theirs")}, {name, []byte{0}}}
			after, dropped := headerOf(t, e, m)
			if !slices.Equal(after.Values(full), before.Values(full)) && full != "sharehook-headers-dropped" {
				t.Errorf("prefix %q: a record set %s to %q", prefix, full, after.Values(full))
			}
			if dropped == 0 {
				t.Errorf("prefix %q: %s was left out and not counted", prefix, full)
			}
		}
	}
}

// A base64 name is a name, too: "kafka-key" in binary must not become the key.
func TestForwardEncodedNamesAreChecked(t *testing.T) {
	e := newEndpoint(t, "http://localhost", func(o *Options) {
		o.Forward = &ForwardRules{Include: []string{"*"}}
		o.Headers = map[string]string{"tenant-base64": "ours"}
	})
	m := message()
	m.Headers = []Header{{"tenant", []byte{1}}, {"tenant", []byte("text")}}
	got, dropped := headerOf(t, e, m)
	if !slices.Equal(got["Tenant-Base64"], []string{"ours"}) || !slices.Equal(got["Tenant"], []string{"text"}) || dropped != 1 {
		t.Errorf("got %v, dropped %d", got, dropped)
	}
}

func TestForwardWithoutPrefix(t *testing.T) {
	e := forwarding(t, "http://localhost", ForwardRules{Include: []string{"*"}})
	m := message()
	m.Headers = []Header{
		{"X-Order", []byte("7")},
		{"x-order", []byte("8")},
		{"content-type", []byte("text/csv")},
		{"traceparent", []byte("00-1")},
		{"tracestate", []byte("a=b")},
		{"baggage", []byte("c=d")},
	}
	got, dropped := headerOf(t, e, m)
	if !slices.Equal(got["X-Order"], []string{"7", "8"}) || got.Get("content-type") != "text/csv" || got.Get("traceparent") != "" {
		t.Errorf("got %v", got)
	}
	if dropped != 0 {
		t.Errorf("%d counted as dropped: content type and trace context are used, not lost", dropped)
	}
}

// Values of neighbours share a slice; an append to one must not reach another.
func TestForwardRepeatsDoNotRunIntoEachOther(t *testing.T) {
	e := newEndpoint(t, "http://localhost", nil)
	m := message()
	for i := range 40 {
		m.Headers = append(m.Headers, Header{"h" + strconv.Itoa(i%4), []byte(strconv.Itoa(i))})
	}
	got, _ := headerOf(t, e, m)
	for h := range 4 {
		var want []string
		for i := h; i < 40; i += 4 {
			want = append(want, strconv.Itoa(i))
		}
		if values := got.Values(fmt.Sprintf("kafka-header-h%d", h)); !slices.Equal(values, want) {
			t.Errorf("h%d: got %v, want %v", h, values, want)
		}
	}
}

// The records that would break a naive gateway: the request arrives whole, and so
// do the next ones on the same connection.
func TestForwardOddRecordsOnTheWire(t *testing.T) {
	many := make([]Header, 300)
	for i := range many {
		many[i] = Header{"many-" + strconv.Itoa(i), []byte("v")}
	}
	for _, prefix := range []string{"", DefaultForwardPrefix} {
		r := newReceiver(t)
		e := forwarding(t, r.URL, ForwardRules{Include: []string{"*"}, Prefix: prefix})
		for _, headers := range [][]Header{
			{{"host", []byte("evil.example")}},
			{{"content-length", []byte("3")}},
			{{"Transfer-Encoding", []byte("chunked")}, {"transfer-encoding", []byte("identity")}},
			{{"connection", []byte("close")}, {"Connection", []byte("upgrade")}, {"upgrade", []byte("h2c")}},
			{{"expect", []byte("100-continue")}},
			{{"authorization", []byte("Bearer theirs")}},
			{{"", []byte("empty")}, {" ", nil}, {"a b", []byte("c")}, {"\r\nx", []byte("y")}},
			many,
			{{"binary", []byte{0, 13, 10, 255}}, {"blank", []byte(" ")}},
			{{"trailer", []byte("x")}, {"te", []byte("trailers")}, {"content-encoding", []byte("gzip")}},
		} {
			m := message()
			m.Value = bytes.Repeat([]byte("0123456789"), 100)
			m.Headers = headers
			want(t, post(t, e, m), Accept, ReasonOK, http.StatusOK)
			if got := r.last(t); !bytes.Equal(got.body, m.Value) || got.err != nil || got.header.Get("authorization") != "Bearer ours" {
				t.Errorf("prefix %q, %.80v: got %d bytes, %v, authorization %q", prefix, headers, len(got.body), got.err, got.header["Authorization"])
			}
		}
		for _, got := range r.requests() {
			if got.remote != r.requests()[0].remote {
				t.Errorf("prefix %q: a request needed a new connection", prefix)
				break
			}
		}
	}
}
