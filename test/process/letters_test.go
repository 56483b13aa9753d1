//go:build kafka

package process

import (
	"encoding/base64"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/test/kafka"
)

// Settings of Kafka that dead letters depend on.
const (
	groupLetters = "errors.deadletterqueue.topic.name"
	groupCopy    = "errors.deadletterqueue.copy.record.enable"
	topicLetters = "errors.deadletterqueue.group.enable"
)

// admits are the settings of a topic that admits dead letters of groups.
func admits(more map[string]string) map[string]string {
	settings := map[string]string{topicLetters: "true"}
	maps.Copy(settings, more)
	return settings
}

// setUp is a dead-letter set-up that loses records, and how it is put right.
type setUp struct {
	label string
	topic func(n string) string // dead_letter.topic; nil: the default
	make  func(t *testing.T, n string)
	says  func(n string) []string // what /readyz names
	mend  func(t *testing.T, n string)
}

func wrongSetUps() []setUp {
	names := func(t *testing.T, n string) {
		shared.SetGroup(t, group(n), groupLetters, letters(n), groupCopy, "true")
	}
	return []setUp{
		{
			label: "none-named",
			make:  func(t *testing.T, n string) { shared.CreateTopic(t, letters(n), 1, admits(nil)) },
			says:  func(n string) []string { return []string{groupLetters + "=" + letters(n), "provision"} },
			mend:  names,
		}, {
			label: "missing",
			make:  names,
			says:  func(n string) []string { return []string{letters(n), "create", "provision"} },
			mend:  func(t *testing.T, n string) { shared.CreateTopic(t, letters(n), 1, admits(nil)) },
		}, {
			label: "not-enabled",
			make: func(t *testing.T, n string) {
				shared.CreateTopic(t, letters(n), 1, nil)
				names(t, n)
			},
			says: func(n string) []string { return []string{letters(n), topicLetters + "=true"} },
			mend: func(t *testing.T, n string) { shared.SetTopic(t, letters(n), topicLetters, "true") },
		}, {
			label: "compacted",
			make: func(t *testing.T, n string) {
				shared.CreateTopic(t, letters(n), 1, admits(map[string]string{"cleanup.policy": "compact"}))
				names(t, n)
			},
			says: func(n string) []string { return []string{letters(n), "cleanup.policy=delete"} },
			mend: func(t *testing.T, n string) { shared.SetTopic(t, letters(n), "cleanup.policy", "delete") },
		}, {
			label: "no-prefix",
			topic: func(n string) string { return "letters-" + n },
			make: func(t *testing.T, n string) {
				shared.CreateTopic(t, "letters-"+n, 1, admits(nil))
				shared.SetGroup(t, group(n), groupLetters, "letters-"+n, groupCopy, "true")
			},
			says: func(n string) []string {
				return []string{"letters-" + n, `"dlq."`, "errors.deadletterqueue.topic.name.prefix"}
			},
			mend: func(t *testing.T, n string) {
				shared.CreateTopic(t, letters(n), 1, admits(nil))
				names(t, n)
			},
		},
	}
}

// TestWrongDeadLetters: an endpoint whose dead letters would be lost does not
// run and says what to set, while another one of the same process delivers; it
// runs by itself once the set-up is right.
func TestWrongDeadLetters(t *testing.T) {
	t.Parallel()
	h := newHook(t, byKey(map[string]script{"bad": always(http.StatusBadRequest)}))
	good := name("well")
	shared.CreateTopic(t, good, 1, nil)
	shared.CreateTopic(t, letters(good), 1, admits(nil))
	shared.SetGroup(t, group(good), groupLetters, letters(good))
	sections := []keys{endpoint(good, h, nil)}
	names := make(map[string]string)
	for _, s := range wrongSetUps() {
		n := name(s.label)
		names[s.label] = n
		shared.CreateTopic(t, n, 1, nil)
		s.make(t, n)
		more := keys{"share_group": keys{"start": "earliest"}}
		if s.topic != nil {
			more["dead_letter"] = keys{"topic": s.topic(n)}
		}
		sections = append(sections, endpoint(n, h, more))
	}
	g := start(t, write(t, configuration(shared, sections...)))
	g.AwaitEndpoint(good, readyWait)

	produced := map[string][]*kgo.Record{}
	for _, n := range append([]string{good}, values(names)...) {
		produced[n] = keyed(n, "good", "bad")
		shared.Produce(t, produced[n]...)
	}
	ledger{shared, good, good, letters(good), []*hook{h}}.settle(t, produced[good]).once(t)
	for _, s := range wrongSetUps() {
		n := names[s.label]
		t.Logf("%s: %s", s.label, g.AwaitUnready(n, readyWait, s.says(n)...))
		if posts := h.all(func(p *post) bool { return p.record.topic == n }); len(posts) > 0 {
			t.Errorf("%s: an endpoint without dead letters runs:\n%s", s.label, describe(posts))
		}
		if lag := shared.GroupLag(t, group(n), n); lag == 0 {
			t.Errorf("%s: the records are gone", s.label)
		}
	}
	if lines := g.Lines("endpoint does not run: trying again"); len(lines) < len(names) {
		t.Errorf("%d lines say why an endpoint does not run, want one for each of %d", len(lines), len(names))
	}
	for _, s := range wrongSetUps() {
		s.mend(t, names[s.label])
	}
	g.AwaitReady()
	for _, s := range wrongSetUps() {
		n := names[s.label]
		a := ledger{shared, n, n, letters(n), []*hook{h}}.settle(t, produced[n])
		a.once(t)
		if a.dead != 1 {
			t.Errorf("%s: %d dead letters once it was right, want 1", s.label, a.dead)
		}
	}
}

func values(m map[string]string) (all []string) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// TestDeadLettersVanish: when the dead-letter topic is deleted under a running
// endpoint, it rests before it loses a record, and goes on when the topic is
// there again.
func TestDeadLettersVanish(t *testing.T) {
	t.Parallel()
	const checked = 90 * time.Second // every minute, and a busy machine
	h := newHook(t, byKey(map[string]script{"bad": always(http.StatusBadRequest)}))
	n := name("vanish")
	shared.CreateTopic(t, n, 1, nil)
	path := write(t, configuration(shared, endpoint(n, h, nil)))
	provision(t, path)
	g := start(t, path)
	g.AwaitReady()
	first := keyed(n, "good", "bad")
	shared.Produce(t, first...)
	ledger{shared, n, n, letters(n), []*hook{h}}.settle(t, first)

	shared.DeleteTopic(t, letters(n))
	began := time.Now()
	reason := g.AwaitUnready(n, checked, letters(n), "provision")
	t.Logf("it rested %s after the topic was deleted: %s", time.Since(began).Round(time.Second), reason)
	if len(g.Lines("endpoint rests")) != 1 {
		t.Errorf("the log does not say that the endpoint rests")
	}
	second := keyed(n, "bad", "good")
	shared.Produce(t, second...)
	provision(t, path)
	g.AwaitEndpoint(n, checked)
	shared.WaitGroupLag(t, group(n), n, 0, settleWait)
	if dead := len(shared.ReadTopic(t, letters(n), 1)); dead != 1 {
		t.Errorf("%d dead letters on the new topic, want that of the record that waited", dead)
	}
	if posts := h.all(); len(posts) != 4 {
		t.Errorf("the posts are\n%swant 4", describe(posts))
	}
}

// TestDeadLettersByGateway: written by us with the record's headers and the
// story, and none with "none"; both must not write.
func TestDeadLettersByGateway(t *testing.T) {
	t.Parallel()
	h := newHook(t, byKey(map[string]script{
		"bad":  func(*post) reply { return reply{status: http.StatusBadRequest} },
		"down": always(http.StatusServiceUnavailable),
	}))
	ours, none, both := name("ours"), name("none"), name("both")
	for _, n := range []string{ours, none, both} {
		shared.CreateTopic(t, n, 1, nil)
	}
	limit := keys{"share_group": keys{"max_deliveries": 2}}
	path := write(t, configuration(shared,
		endpoint(ours, h, limit.with(keys{"dead_letter": keys{"by": "gateway"}})),
		endpoint(none, h, limit.with(keys{"dead_letter": keys{"by": "none"}})),
		endpoint(both, h, limit.with(keys{"dead_letter": keys{"by": "gateway"}})),
	))
	provision(t, path)
	shared.SetGroup(t, group(both), groupLetters, letters(both))
	g := start(t, path)
	g.AwaitEndpoint(ours, readyWait)
	g.AwaitEndpoint(none, readyWait)
	g.AwaitUnready(both, readyWait, groupLetters, letters(both))

	produced := map[string][]*kgo.Record{}
	for _, n := range []string{ours, none, both} {
		produced[n] = keyed(n, "good", "bad", "down")
		for _, r := range produced[n] {
			r.Headers = []kgo.RecordHeader{{Key: "colour", Value: []byte("blue")}, {Key: "nothing"}}
		}
		shared.Produce(t, produced[n]...)
	}
	a := ledger{shared, ours, ours, letters(ours), []*hook{h}}.settle(t, produced[ours])
	a.once(t)
	if a.accepted != 1 || a.dead != 2 {
		t.Errorf("%d accepted and %d dead letters, want 1 and 2", a.accepted, a.dead)
	}
	for _, r := range shared.ReadTopic(t, letters(ours), 2) {
		checkStory(t, r, ours)
	}
	shared.WaitGroupLag(t, group(none), none, 0, settleWait)
	if posts := h.all(func(p *post) bool { return p.record.topic == both }); len(posts) > 0 {
		t.Errorf("an endpoint runs whose dead letters would be written twice:\n%s", describe(posts))
	}
	kafka.Wait(t, readyWait, "the metrics to say 1 and 1", func() bool {
		return g.Metric("sharehook_dead_letters_total", "endpoint", ours, "by", "gateway", "cause", "rejected") == 1 &&
			g.Metric("sharehook_dead_letters_total", "endpoint", ours, "by", "gateway", "cause", "delivery_limit") == 1
	})
}

// checkStory looks at a dead letter that the gateway has written.
func checkStory(t *testing.T, r *kgo.Record, n string) {
	t.Helper()
	want := map[string]string{"colour": "blue", "nothing": ""}
	story := map[string]string{
		"endpoint": n, "share_group": group(n), "topic": n, "partition": "0",
		"verdict": "reject", "reason": "status_4xx", "status": "400", "attempts": "1", "delivery_count": "1",
	}
	if string(r.Key) == "down" {
		story["verdict"], story["reason"], story["status"] = "release", "status_5xx", "503"
		story["attempts"], story["delivery_count"] = "3", "2"
	}
	for name, value := range story {
		want["sharehook.dead_letter."+name] = value
	}
	got := headers(r)
	for name, value := range want {
		if found, ok := got[name]; !ok || found != value {
			t.Errorf("dead letter of %s: %s is %q (there: %v), want %q", r.Key, name, found, ok, value)
		}
	}
	if string(r.Value) != "value of "+string(r.Key) {
		t.Errorf("dead letter of %s: the value is %q", r.Key, r.Value)
	}
	if _, err := base64.StdEncoding.DecodeString(got["sharehook.dead_letter.answer"]); err != nil {
		t.Errorf("dead letter of %s: the answer is no base64: %v", r.Key, err)
	}
}
