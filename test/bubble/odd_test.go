package bubble

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// oddRecord is a record as it should not be, and usually is some day.
type oddRecord struct {
	name    string
	key     []byte // nil: the name
	value   []byte
	headers []kgo.RecordHeader
	// check looks at its request, which has come whole.
	check func(t *testing.T, c call)
}

func header(pairs ...string) []kgo.RecordHeader {
	var headers []kgo.RecordHeader
	for i := 0; i < len(pairs); i += 2 {
		headers = append(headers, kgo.RecordHeader{Key: pairs[i], Value: []byte(pairs[i+1])})
	}
	return headers
}

func manyHeaders(n, size int) []kgo.RecordHeader {
	var headers []kgo.RecordHeader
	for i := range n {
		headers = append(headers, header(fmt.Sprint("many-", i), strings.Repeat("v", size))...)
	}
	return headers
}

// wants checks headers of the request; "" means that there is none.
func wants(pairs ...string) func(t *testing.T, c call) {
	return func(t *testing.T, c call) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			if got := strings.Join(c.header.Values(pairs[i]), ", "); got != pairs[i+1] {
				t.Errorf("%v: header %s is %q, want %q", c.record, pairs[i], got, pairs[i+1])
			}
		}
	}
}

var binary = []byte{0, 1, '\r', '\n', 0xff, 0xfe}

// oddRecords are tried with the prefix of the file and with none.
func oddRecords(prefix string) []oddRecord {
	plain := []byte("a plain value")
	hop := header("host", "evil.example", "content-length", "3", "transfer-encoding", "chunked",
		"connection", "close, kafka-topic", "expect", "100-continue", "upgrade", "h2c", "te", "trailers",
		"authorization", "Bearer stolen", "Content-Length", "999999", "trailer", "x", "keep-alive", "timeout=1")
	hopCheck := wants("kafka-header-host", "evil.example", "kafka-header-authorization", "Bearer stolen",
		"authorization", "", "connection", "", "expect", "", "transfer-encoding", "", "upgrade", "")
	if prefix == "" {
		hopCheck = wants("authorization", "", "connection", "", "expect", "", "transfer-encoding", "", "upgrade", "",
			"te", "", "trailer", "", "keep-alive", "", "sharehook-headers-dropped", strconv.Itoa(len(hop)))
	}
	return []oddRecord{
		{name: "tombstone", check: wants("kafka-tombstone", "true", "content-length", "0")},
		{name: "empty value", value: []byte{}, check: wants("kafka-tombstone", "", "content-length", "0")},
		{name: "value of 1 MiB", value: bytes.Repeat([]byte("0123456789abcdef"), 1<<16)},
		{
			name: "key of 512 KiB", key: bytes.Repeat([]byte("k"), 512<<10), value: plain,
			check: wants("kafka-key", "", "kafka-key-base64", "", "sharehook-headers-dropped", "1"),
		},
		{
			name: "binary key", key: binary, value: plain,
			check: wants("kafka-key", "", "kafka-key-base64", base64.StdEncoding.EncodeToString(binary)),
		},
		{name: "empty key", key: []byte{}, value: plain, check: func(t *testing.T, c call) {
			if got, ok := c.header["Kafka-Key"]; !ok || got[0] != "" {
				t.Errorf("an empty key is sent as %q, %t", got, ok)
			}
		}},
		{name: "framing headers", value: plain, headers: hop, check: hopCheck},
		{
			name: "names of our own", value: plain, headers: header("webhook-id", "x", "kafka-topic", "x", "sharehook-attempt", "9", "user-agent", "x", "idempotency-key", "x"),
			check: wants("user-agent", "sharehook/1.2.3", "kafka-topic", "orders", "sharehook-attempt", "1"),
		},
		{
			name: "names that are none", value: plain, headers: header("", "empty", "a b", "space", "ä", "umlaut", "a:b", "colon", "x\r\ny", "line"),
			check: wants("sharehook-headers-dropped", "5"),
		},
		{name: "binary values", value: plain, headers: []kgo.RecordHeader{
			{Key: "bytes", Value: binary},
			{Key: "null"},
			{Key: "empty", Value: []byte{}},
			{Key: "line", Value: []byte("a\r\nx-injected: yes")},
			{Key: "blank", Value: []byte(" a ")},
			{Key: "utf8", Value: []byte("ä")},
		}, check: wants(prefix+"bytes-base64", base64.StdEncoding.EncodeToString(binary), prefix+"null", "", prefix+"empty", "",
			"x-injected", "", prefix+"line-base64", base64.StdEncoding.EncodeToString([]byte("a\r\nx-injected: yes")),
			prefix+"blank-base64", base64.StdEncoding.EncodeToString([]byte(" a ")))},
		{name: "repeats", value: plain, headers: header("tag", "1", "tag", "2", "tag", "1"), check: wants(prefix+"tag", "1, 2, 1")},
		{name: "300 headers", value: plain, headers: manyHeaders(300, 20), check: wants(prefix+"many-0", strings.Repeat("v", 20), prefix+"many-299", strings.Repeat("v", 20))},
		{name: "300 large headers", value: plain, headers: manyHeaders(300, 2000), check: func(t *testing.T, c call) {
			if c.header.Get("sharehook-headers-dropped") == "" {
				t.Error("600 KB of headers, and none is missing")
			}
		}},
		{name: "a header of 1 MB", value: plain, headers: header("large", strings.Repeat("v", 1<<20)), check: wants(prefix+"large", "", "sharehook-headers-dropped", "1")},
		{name: "content type", value: []byte("{}"), headers: header("content-type", "application/json"), check: wants("content-type", "application/json")},
		{name: "no content type", value: []byte("{}"), headers: header("content-type", "json\r\nx: y"), check: wants("content-type", "application/octet-stream", "x", "")},
	}
}

// Whatever a record is like, it is delivered whole or becomes a dead letter,
// the process lives, and the records behind it on the same connection are
// unharmed.
func TestOddRecords(t *testing.T) {
	for _, prefix := range []string{"kafka-header-", ""} {
		t.Run(fmt.Sprintf("prefix %q", prefix), func(t *testing.T) {
			scenario(t, func(b *bed) {
				h := b.hook("orders", accepting)
				odd := oddRecords(prefix)
				var records []*kgo.Record
				for _, o := range odd {
					if o.key == nil {
						o.key = []byte(o.name)
					}
					records = append(records,
						&kgo.Record{Topic: "orders", Key: o.key, Value: o.value, Headers: o.headers},
						&kgo.Record{Topic: "orders", Key: []byte("after " + o.name), Value: []byte("value after " + o.name)})
				}
				for _, r := range records { // one batch each: in order, and not too large
					b.produce(r)
				}
				// One connection for all.
				g := b.ready(b.file(h.endpoint("concurrency: 1", fmt.Sprintf("forward_headers: {prefix: %q}", prefix))))
				b.settled("orders")
				b.account(account{})

				calls := h.all()
				if len(calls) != len(records) {
					t.Fatalf("%d requests, want %d", len(calls), len(records))
				}
				for _, c := range calls {
					r := records[c.record.offset]
					if !bytes.Equal(c.body, r.Value) || c.header.Get("content-length") != strconv.Itoa(len(r.Value)) {
						t.Errorf("%s: body of %d bytes, content-length %s, want %d", r.Key[:min(20, len(r.Key))], len(c.body), c.header.Get("content-length"), len(r.Value))
					}
					if c.header.Get("host") != h.address {
						t.Errorf("%v: host %q", c.record, c.header.Get("host"))
					}
					if o := odd[c.record.offset/2]; c.record.offset%2 == 0 && o.check != nil {
						o.check(t, c)
					} else if c.record.offset%2 == 1 {
						wants("kafka-key", "after "+o.name, "sharehook-headers-dropped", "")(t, c)
					}
				}
				if n := h.connections(); n != 1 {
					t.Errorf("%d connections, want 1", n)
				}
				if lines := g.log.lines("panic survived"); len(lines) > 0 {
					t.Errorf("panics: %v", lines)
				}
			})
		})
	}
}

// A retry carries the whole body again, and so does the dead letter.
func TestLargeRecordIsTriedAgain(t *testing.T) {
	scenarioOn(t, withLetters, func(b *bed) {
		h := b.hook("orders", statuses(503, 503, 400))
		value := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
		b.produce(&kgo.Record{Topic: "orders", Key: bytes.Repeat([]byte("k"), 512<<10), Value: value})
		b.ready(b.file(h.endpoint(byGateway)))
		b.settled("orders")
		b.account(account{letters: "letters"})
		if n := len(h.all()); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
		for _, c := range h.all() {
			if !bytes.Equal(c.body, value) {
				t.Errorf("attempt %d: a body of %d bytes, want %d", c.attempt, len(c.body), len(value))
			}
		}
		letter := b.letters("letters")[0]
		if !bytes.Equal(letter.value, value) || len(letter.key) != 512<<10 || !slices.Contains([]string{"3"}, letter.story["attempts"]) {
			t.Errorf("letter with %d bytes, key of %d, after %s attempts", len(letter.value), len(letter.key), letter.story["attempts"])
		}
	})
}

// The endpoint answers after 1 KiB of 256. The answer counts, and what is still
// being sent then is never overwritten by another record.
func TestEarlyAnswersDoNotMixBodies(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", func(c call) reply {
			if c.attempt == 1 {
				return reply{status: 503}
			}
			return reply{}
		})
		h.early(1 << 10)
		for i := range 40 {
			id := fmt.Appendf(nil, "%08d", i)
			b.produce(&kgo.Record{Topic: "orders", Key: id, Value: bytes.Repeat(id, 256<<10/len(id))})
		}
		b.ready(b.file(h.endpoint("concurrency: 8")))
		b.settled("orders")
		b.account(account{})
		for _, c := range h.all() {
			if want := bytes.Repeat([]byte(c.key), len(c.body)/8+1)[:len(c.body)]; !bytes.Equal(c.body, want) {
				t.Errorf("%s: bytes of another record in attempt %d", c.key, c.attempt)
			}
		}
	})
}
