package deadletter

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// example is a letter with every part known.
func example() Letter {
	return Letter{
		Topic: "dlq.orders",
		Source: Source{
			Topic: "orders", Partition: 3, Offset: 42, Timestamp: time.Date(2026, 11, 29, 16, 33, 21, 7_600_000, time.UTC),
			Key: []byte("key"), Value: []byte("value"),
			Headers: []Header{{Name: "b", Value: []byte("1")}, {Name: "a", Value: nil}, {Name: "b", Value: []byte{}}, {Name: "", Value: []byte{0xff}}},
		},
		Endpoint: "orders", ShareGroup: "sharehook.orders", WebhookID: "id-1",
		Verdict: "reject", Reason: "status_4xx", Status: 422, Cause: "the endpoint answered 422",
		Attempts: 2, DeliveryCount: 4, TraceID: "0af7651916cd43dd8448eb211c80319c",
		Time: time.Date(2026, 11, 29, 17, 0, 0, 0, time.FixedZone("", 3600)), Answer: []byte("no \xff"),
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	l := example()
	r := l.record()
	if r.Topic != l.Topic || string(r.Key) != "key" || string(r.Value) != "value" {
		t.Errorf("record %+v", r)
	}
	if !r.Timestamp.IsZero() {
		t.Error("the letter has the source's timestamp: retention would count from there")
	}
	want := []kgo.RecordHeader{
		{Key: "b", Value: []byte("1")},
		{Key: "a"},
		{Key: "b", Value: []byte{}},
		{Key: "", Value: []byte{0xff}},
		{Key: "sharehook.dead_letter.endpoint", Value: []byte("orders")},
		{Key: "sharehook.dead_letter.share_group", Value: []byte("sharehook.orders")},
		{Key: "sharehook.dead_letter.topic", Value: []byte("orders")},
		{Key: "sharehook.dead_letter.partition", Value: []byte("3")},
		{Key: "sharehook.dead_letter.offset", Value: []byte("42")},
		{Key: "sharehook.dead_letter.timestamp", Value: []byte("2026-11-29T16:33:21.007Z")},
		{Key: "sharehook.dead_letter.webhook_id", Value: []byte("id-1")},
		{Key: "sharehook.dead_letter.verdict", Value: []byte("reject")},
		{Key: "sharehook.dead_letter.reason", Value: []byte("status_4xx")},
		{Key: "sharehook.dead_letter.status", Value: []byte("422")},
		{Key: "sharehook.dead_letter.cause", Value: []byte("the endpoint answered 422")},
		{Key: "sharehook.dead_letter.attempts", Value: []byte("2")},
		{Key: "sharehook.dead_letter.delivery_count", Value: []byte("4")},
		{Key: "sharehook.dead_letter.trace_id", Value: []byte("0af7651916cd43dd8448eb211c80319c")},
		{Key: "sharehook.dead_letter.time", Value: []byte("2026-11-29T16:00:00.000Z")},
		{Key: "sharehook.dead_letter.answer", Value: []byte(base64.StdEncoding.EncodeToString([]byte("no \xff")))},
	}
	if !slices.EqualFunc(r.Headers, want, sameHeader) {
		t.Errorf("headers\n%v\nwant\n%v", r.Headers, want)
	}
}

// sameHeader tells null from empty.
func sameHeader(a, b kgo.RecordHeader) bool {
	return a.Key == b.Key && string(a.Value) == string(b.Value) && (a.Value == nil) == (b.Value == nil)
}

func TestNullsStayNull(t *testing.T) {
	t.Parallel()
	r := Letter{Topic: "dlq"}.record()
	if r.Key != nil || r.Value != nil {
		t.Errorf("key %v, value %v; want nulls", r.Key, r.Value)
	}
	empty := Letter{Source: Source{Key: []byte{}, Value: []byte{}}}.record()
	if empty.Key == nil || empty.Value == nil {
		t.Error("an empty key or value became null")
	}
}

// What is not known is null; only what 0 is a value of is 0.
func TestStoryWithoutKnowledge(t *testing.T) {
	t.Parallel()
	story := Letter{}.story()
	if len(story) != storyLen {
		t.Errorf("%d headers, want %d", len(story), storyLen)
	}
	for _, h := range story {
		switch h.Key {
		case HeaderPartition, HeaderOffset, HeaderAttempts:
			if string(h.Value) != "0" {
				t.Errorf("%s = %q, want 0", h.Key, h.Value)
			}
		default:
			if h.Value != nil {
				t.Errorf("%s = %q, want null", h.Key, h.Value)
			}
		}
		if !strings.HasPrefix(h.Key, HeaderPrefix) {
			t.Errorf("%s does not start with %s", h.Key, HeaderPrefix)
		}
	}
}

// A dead letter that dies again has both stories, the newest last and whole.
func TestSecondDeath(t *testing.T) {
	t.Parallel()
	first := example()
	again := Letter{Topic: "dlq.dlq", Source: Source{Topic: first.Topic}, Endpoint: "mourner", Reason: "timeout"}
	for _, h := range first.record().Headers {
		again.Source.Headers = append(again.Source.Headers, Header{Name: h.Key, Value: h.Value})
	}
	last := make(map[string]string)
	for _, h := range again.record().Headers {
		last[h.Key] = string(h.Value)
	}
	if last[HeaderEndpoint] != "mourner" || last[HeaderReason] != "timeout" || last[HeaderTopic] != first.Topic {
		t.Errorf("the newest story is not the last: %v", last)
	}
	// The second attempt had no answer: the first one's must not show.
	if last[HeaderStatus] != "" || last[HeaderAnswer] != "" || last[HeaderTraceID] != "" {
		t.Errorf("two stories are mixed: %v", last)
	}
}

func TestInstant(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		t    time.Time
		want string
	}{
		"none":       {time.Time{}, ""},
		"epoch":      {time.UnixMilli(0), "1970-01-01T00:00:00.000Z"},
		"before":     {time.UnixMilli(-1), "1969-12-31T23:59:59.999Z"},
		"last":       {time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC), "9999-12-31T23:59:59.999Z"},
		"no form":    {time.UnixMilli(1 << 60), ""},
		"other zone": {time.Date(2026, 1, 1, 0, 30, 0, 0, time.FixedZone("", 3600)), "2025-12-31T23:30:00.000Z"},
	} {
		if got := string(instant(tc.t)); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
