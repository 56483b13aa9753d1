//go:build kafka

package process

import (
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/kafka"
)

func TestMapping(t *testing.T) {
	t.Parallel()
	mapping(t, shared)
}

// mapping proves what each answer becomes, up to the broker's dead letter, the
// metrics and the log.
func mapping(t *testing.T, c *kafka.Cluster) {
	const limit, attempts = 3, 2
	second := newHook(t, ok)
	h := newHook(t, byKey(map[string]script{
		"late": func(p *post) reply {
			if p.nth == 1 {
				return reply{status: http.StatusServiceUnavailable}
			}
			return reply{}
		},
		"down": always(http.StatusServiceUnavailable),
		"bad":  always(http.StatusBadRequest),
		"moved": func(*post) reply {
			return reply{status: http.StatusMovedPermanently, header: http.Header{"Location": {second.url()}}}
		},
	}))
	n := name("mapping")
	c.CreateTopic(t, n, 1, nil)
	path := write(t, configuration(c, endpoint(n, h, keys{
		"share_group": keys{"max_deliveries": limit},
		"retry":       keys{"attempts": attempts, "initial_interval": "20ms", "max_interval": "100ms"},
		"breaker":     keys{"enabled": false}, // as the failures of one record are most of what there is
	})))
	provision(t, path)
	g := start(t, path, "--log-level", "debug")
	g.AwaitReady()
	records := keyed(n, "good", "late", "down", "bad", "moved")
	c.Produce(t, records...)

	book := ledger{c, n, n, letters(n), []*hook{h}}
	a := book.settle(t, records)
	a.once(t)
	if a.accepted != 2 || a.dead != 3 {
		t.Errorf("%d accepted and %d dead letters, want 2 and 3", a.accepted, a.dead)
	}
	mappingPosts(t, h)
	if posts := second.all(); len(posts) > 0 {
		t.Errorf("a redirect was followed: %s", describe(posts))
	}
	mappingLetters(t, c, n)
	mappingMetrics(t, g, n)
	mappingLog(t, g, n)
	g.Signal(syscall.SIGTERM)
	if code := g.Exit(40 * time.Second); code != 0 {
		t.Errorf("exits %d after SIGTERM, want 0", code)
	}
}

// mappingPosts checks which deliveries and attempts the endpoint was told of.
func mappingPosts(t *testing.T, h *hook) {
	t.Helper()
	for key, want := range map[string][][2]int{
		"good": {{1, 1}}, "late": {{1, 1}, {1, 2}}, "bad": {{1, 1}}, "moved": {{1, 1}},
		"down": {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 1}, {3, 2}},
	} {
		var got [][2]int
		ids := make(map[string]bool)
		for _, p := range h.all(withKey(key)) {
			got = append(got, [2]int{p.delivery, p.attempt})
			ids[p.id] = true
		}
		if !slices.Equal(got, want) || len(ids) != 1 {
			t.Errorf("%s: deliveries and attempts %v with %d webhook-ids, want %v with 1", key, got, len(ids), want)
		}
	}
}

// mappingLetters checks what the broker has written (KIP-1191).
func mappingLetters(t *testing.T, c *kafka.Cluster, n string) {
	t.Helper()
	found := make(map[string]bool)
	for _, r := range c.ReadTopic(t, letters(n), 3) {
		key := string(r.Key)
		found[key] = true
		want := map[string]string{"__dlq.errors.topic": n, "__dlq.errors.partition": "0", "__dlq.errors.group": group(n)}
		message := "Offset rejected"
		want["__dlq.errors.delivery.count"] = "1"
		if key == "down" {
			message, want["__dlq.errors.delivery.count"] = "Offset delivery count exceeded", "3"
		}
		got := headers(r)
		for name, value := range want {
			if got[name] != value {
				t.Errorf("dead letter of %s: %s is %q, want %q", key, name, got[name], value)
			}
		}
		if m := got["__dlq.errors.message"]; !strings.HasPrefix(m, message) {
			t.Errorf("dead letter of %s: the message is %q, want %s", key, m, message)
		}
		if string(r.Value) != "value of "+key {
			t.Errorf("dead letter of %s: the value is %q", key, r.Value)
		}
	}
	if len(found) != 3 || !found["down"] || !found["bad"] || !found["moved"] {
		t.Errorf("dead letters of %v, want of down, bad and moved", found)
	}
}

func mappingMetrics(t *testing.T, g *gateway, n string) {
	t.Helper()
	for _, m := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"sharehook_attempts_total", []string{"verdict", "accept", "reason", "ok"}, 2},
		{"sharehook_attempts_total", []string{"verdict", "release", "reason", "status_5xx"}, 7},
		{"sharehook_attempts_total", []string{"verdict", "reject", "reason", "status_4xx"}, 1},
		{"sharehook_attempts_total", []string{"verdict", "reject", "reason", "status_3xx"}, 1},
		{"sharehook_records_acquired_total", []string{"topic", n}, 7},
		{"sharehook_records_acknowledged_total", []string{"type", "accept"}, 2},
		{"sharehook_records_acknowledged_total", []string{"type", "release"}, 3},
		{"sharehook_records_acknowledged_total", []string{"type", "reject"}, 2},
		{"sharehook_dead_letters_total", []string{"by", "broker", "cause", "rejected"}, 2},
		{"sharehook_dead_letters_total", []string{"by", "broker", "cause", "delivery_limit"}, 1},
		{"sharehook_acknowledgement_errors_total", nil, 0},
		{"sharehook_records_held", nil, 0},
	} {
		labels := append([]string{"endpoint", n}, m.labels...)
		if got := g.Metric(m.name, labels...); got != m.want {
			t.Errorf("%s%q is %v, want %v", m.name, labels, got, m.want)
		}
	}
}

// mappingLog checks the line of each delivery.
func mappingLog(t *testing.T, g *gateway, n string) {
	t.Helper()
	got := make(map[string]int)
	for _, line := range g.Lines("delivery.acknowledged") {
		if line["endpoint"] != n || line["topic"] != n {
			t.Errorf("a line of another endpoint: %v", line)
		}
		key, _ := line["acknowledgement"].(string)
		reason, _ := line["reason"].(string)
		dead, _ := line["dead_letter"].(string)
		level, _ := line["level"].(string)
		got[strings.Join([]string{level, key, reason, dead}, " ")]++
	}
	want := map[string]int{
		"DEBUG accept ok ":                       2,
		"INFO release status_5xx ":               2,
		"WARN release status_5xx delivery_limit": 1,
		"WARN reject status_4xx rejected":        1,
		"WARN reject status_3xx rejected":        1,
	}
	for line, n := range want {
		if got[line] != n {
			t.Errorf("%d lines %q, want %d; all: %v", got[line], line, n, got)
		}
	}
}

// TestLockShorterThanPOST: the lock is renewed for as long as an answer takes.
func TestLockShorterThanPOST(t *testing.T) {
	t.Parallel()
	h := newHook(t, func(*post) reply { return reply{after: 7 * time.Second} })
	n := name("lock")
	shared.CreateTopic(t, n, 1, nil)
	path := write(t, configuration(shared, endpoint(n, h, keys{"share_group": keys{"lock": "2s"}})))
	provision(t, path)
	g := start(t, path)
	g.AwaitReady()
	records := keyed(n, "slow")
	shared.Produce(t, records...)
	ledger{shared, n, n, letters(n), []*hook{h}}.settle(t, records).once(t)
	if posts := h.all(); len(posts) != 1 || posts[0].delivery != 1 || posts[0].attempt != 1 {
		t.Errorf("the posts are\n%s, want one, delivery 1", describe(posts))
	}
	if n := g.Metric("sharehook_records_renewed_total"); n < 3 {
		t.Errorf("%v renewals in 7 s of a lock of 2 s", n)
	}
}
