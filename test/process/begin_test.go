//go:build kafka

package process

import (
	"net/http"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/test/kafka"
)

// TestStart: where a new share group begins, and that nothing is missed that
// is produced while it joins, with and without provisioning.
func TestStart(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"latest", "earliest", "by_duration:PT1H"} {
		for _, provisioned := range []bool{false, true} {
			label := where + ", run alone"
			if provisioned {
				label = where + ", provisioned"
			}
			t.Run(label, func(t *testing.T) {
				t.Parallel()
				begins(t, where, provisioned)
			})
		}
	}
}

func begins(t *testing.T, where string, provisioned bool) {
	h := newHook(t, ok)
	n := name("begin")
	shared.CreateTopic(t, n, partitions, nil)
	// Some are older than by_duration reaches back.
	old := numberedAt(t, n, time.Now().Add(-3*time.Hour), 40)
	load := produce(t, shared, n, 100, nil)
	load.await(20)
	section := keys{"share_group": keys{"start": where}}
	if !provisioned {
		// Nobody has set one up.
		section["dead_letter"] = keys{"by": "none"}
	}
	path := write(t, configuration(shared, endpoint(n, h, section)))
	var pinned time.Time // what is produced from here on is delivered, whatever the start
	if provisioned {
		provision(t, path)
		pinned = time.Now()
	}
	load.await(20)
	g := start(t, path)
	kafka.Wait(t, readyWait, "the first delivery", func() bool { return len(h.all(accepted)) > 0 })
	if !provisioned {
		pinned = logged(t, g, "start of the share group is pinned")
	}
	load.await(100)
	recent := load.stop()
	shared.WaitGroupLag(t, group(n), n, 0, settleWait)

	got := make(map[coordinates]bool)
	for _, p := range h.all(accepted) {
		got[p.record] = true
	}
	missed, early := 0, 0
	for _, r := range recent {
		switch {
		case got[at(r)]:
		case where != "latest" || r.Timestamp.After(pinned):
			missed++
		default:
			early++
		}
	}
	if missed > 0 {
		t.Errorf("%d of %d records were missed", missed, len(recent))
	}
	if where == "latest" && early == 0 {
		t.Error("what was there before was delivered")
	}
	ancient := 0
	for _, r := range old {
		if got[at(r)] {
			ancient++
		}
	}
	if want := map[string]int{"earliest": len(old)}[where]; ancient != want {
		t.Errorf("%d of the old records were delivered, want %d", ancient, want)
	}
	if d := h.duplicates(n); len(d) > 0 {
		t.Errorf("duplicates:\n%s", describe(d))
	}
}

// logged is when the gateway wrote a line.
func logged(t *testing.T, g *gateway, message string) time.Time {
	t.Helper()
	lines := g.Lines(message)
	if len(lines) == 0 {
		t.Fatalf("there is no line %q", message)
	}
	text, _ := lines[0]["time"].(string)
	when, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// numberedAt produces n records of that time over all partitions.
func numberedAt(t *testing.T, topic string, when time.Time, n int) []*kgo.Record {
	t.Helper()
	var records []*kgo.Record
	for i := range n {
		records = append(records, &kgo.Record{Topic: topic, Partition: int32(i % partitions), Value: []byte("old"), Timestamp: when})
	}
	shared.Produce(t, records...)
	return records
}

// TestTopicComesLater: an endpoint waits for its topic, and is given it from
// its first record on, also when it was deleted and made again.
func TestTopicComesLater(t *testing.T) {
	t.Parallel()
	h := newHook(t, byKey(map[string]script{"bad": always(http.StatusBadRequest)}))
	n, other := name("later"), name("beside")
	shared.CreateTopic(t, other, 1, nil)
	path := write(t, configuration(shared, endpoint(n, h, nil), endpoint(other, h, nil)))
	provision(t, path)
	g := start(t, path)
	g.AwaitEndpoint(other, readyWait)
	t.Log(g.AwaitUnready(n, readyWait, n, "create the topic"))

	shared.CreateTopic(t, n, 2, nil)
	first := keyed(n, "first", "second", "bad")
	first[1].Partition = 1 // a partition that nothing is on has no lag
	shared.Produce(t, first...)
	a := ledger{shared, n, n, letters(n), []*hook{h}}.settle(t, first)
	a.once(t)
	if a.dead != 1 {
		t.Errorf("%d dead letters, want 1", a.dead)
	}
	g.AwaitReady()

	// The other endpoint of the process goes on meanwhile.
	shared.DeleteTopic(t, n)
	beside := keyed(other, "beside")
	shared.Produce(t, beside...)
	ledger{shared, other, other, letters(other), []*hook{h}}.settle(t, beside).once(t)
	shared.CreateTopic(t, n, 2, nil)
	remade := time.Now()
	again := keyed(n, "again first", "again second")
	shared.Produce(t, again...)
	kafka.Wait(t, readyWait, "the records of the topic made again", func() bool {
		return len(h.all(accepted, withKey("again first"))) > 0 && len(h.all(accepted, withKey("again second"))) > 0
	})
	t.Logf("delivered %s after the topic was made again", time.Since(remade).Round(time.Millisecond))
	if ids := h.all(withKey("first")); len(ids) != 1 || ids[0].id == h.all(withKey("again first"))[0].id {
		t.Error("a record of the topic made again has the webhook-id of an earlier one")
	}
	g.AwaitReady()
}

// TestTopicMissing: the same without provisioning.
func TestTopicMissing(t *testing.T) {
	t.Parallel()
	h := newHook(t, ok)
	n := name("missing")
	g := start(t, write(t, configuration(shared, endpoint(n, h, keys{
		"share_group": keys{"start": "earliest"}, "dead_letter": keys{"by": "none"},
	}))))
	g.AwaitUnready(n, readyWait, n, "create the topic")
	shared.CreateTopic(t, n, partitions, nil)
	load := produce(t, shared, n, 50, nil)
	kafka.Wait(t, readyWait, "it to deliver", func() bool { return len(h.all(accepted)) > 0 })
	g.AwaitReady()
	from := time.Now()
	load.await(50)
	records := load.stop()
	shared.WaitGroupLag(t, group(n), n, 0, settleWait)
	got := make(map[coordinates]bool)
	for _, p := range h.all(accepted) {
		got[p.record] = true
	}
	for _, r := range records {
		if r.Timestamp.After(from) && !got[at(r)] {
			t.Errorf("%v is lost", at(r))
		}
	}
}
