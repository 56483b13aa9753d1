//go:build kafka

package process

import (
	"net/http"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/kafka"
)

// mixed is the key of the i-th record of a load: some are retried, some
// rejected.
func mixed(i int) string {
	switch {
	case i%20 == 7:
		return "late"
	case i%50 == 3:
		return "bad"
	}
	return "good " + strconv.Itoa(i)
}

// mixedAnswers answer such a load, some time after each POST.
func mixedAnswers(after time.Duration) script {
	return func(p *post) reply {
		r := reply{after: after}
		switch {
		case p.key == "late" && p.nth == 1:
			r.status = http.StatusServiceUnavailable
		case p.key == "bad":
			r.status = http.StatusBadRequest
		}
		return r
	}
}

// confirming is how long the broker may take to hear of an answer, on a
// machine that is busy with other tests. What was answered within it when a
// process dies may be delivered again.
const confirming = 5 * time.Second

// held says whether a POST of a replica was under way at that time, or
// answered so shortly before that the broker may not have known.
func held(replica string, at time.Time) func(*post) bool {
	return func(p *post) bool {
		return p.replica == replica && p.at.Before(at) && (p.answered.IsZero() || p.answered.After(at.Add(-confirming)))
	}
}

// only fails for each duplicate whose first POST was not held by a replica at
// that time.
func (a account) only(t *testing.T, h *hook, replica string, at time.Time) {
	t.Helper()
	known := make(map[string]bool)
	for _, p := range h.all(held(replica, at)) {
		known[p.id] = true
	}
	for _, d := range a.duplicates {
		if !known[d.id] {
			t.Errorf("%s was POSTed again and was not held by %q:\n%s", d.id, replica, describe(h.all(func(p *post) bool { return p.id == d.id })))
		}
	}
}

// TestKillOneOfTwo: a process dies under load, and the other one delivers what
// it held.
func TestKillOneOfTwo(t *testing.T) {
	t.Parallel()
	h := newHook(t, mixedAnswers(300*time.Millisecond))
	n := name("kill")
	shared.CreateTopic(t, n, partitions, nil)
	path := write(t, replica(shared, "a", n, h, nil))
	provision(t, path)
	a, b := start(t, path), start(t, write(t, replica(shared, "b", n, h, nil)))
	a.AwaitReady()
	b.AwaitReady()
	load := produce(t, shared, n, 150, mixed)
	// Without a backlog what is held is what is under way.
	kafka.Wait(t, readyWait, "both to deliver and to keep up", func() bool {
		now := len(h.all(from("a"), underWay))
		return len(h.all(from("a"), accepted)) > 100 && len(h.all(from("b"), accepted)) > 100 &&
			now > concurrency/8 && now < concurrency/2 && shared.GroupLag(t, group(n), n) < 2*concurrency
	})
	killed := time.Now()
	a.Kill()
	load.await(500)
	account := ledger{shared, n, n, letters(n), []*hook{h}}.settle(t, load.stop())
	t.Logf("replica a had %d POSTs under way", len(h.all(from("a"), underWay)))
	account.only(t, h, "a", killed)
	account.atMost(t, concurrency)
}

func TestKillTheOnlyOne(t *testing.T) {
	t.Parallel()
	killTheOnlyOne(t, shared)
}

// killTheOnlyOne kills the only replica and starts it again: it does not wait
// for the session of its predecessor.
func killTheOnlyOne(t *testing.T, c *kafka.Cluster) {
	h := newHook(t, slow("a", time.Hour))
	n := name("only")
	c.CreateTopic(t, n, partitions, nil)
	more := keys{"timeout": "2m"}
	path := write(t, replica(c, "a", n, h, more))
	provision(t, path)
	records := numbered(t, c, n, 400)
	a := start(t, path)
	fill(t, a, h)
	full := time.Now()
	kafka.Wait(t, readyWait, "it to hold what it may", func() bool {
		return time.Since(full) > 2*time.Second && a.Metric("sharehook_records_held") > concurrency
	})
	t.Logf("%v records were held", a.Metric("sharehook_records_held"))
	a.Kill()
	rewrite(t, path, replica(c, "b", n, h, more))
	b := start(t, path)
	inHand := make(map[string]bool)
	for _, p := range h.all(from("a")) {
		inHand[p.id] = true
	}
	kafka.Wait(t, settleWait, "everything to be POSTed", func() bool { return len(h.all(from("b"))) >= len(records)-1 })
	again, all := time.Duration(0), time.Duration(0)
	for _, p := range h.all(from("b")) {
		since := p.at.Sub(b.Started)
		if all = max(all, since); inHand[p.id] {
			again = max(again, since)
		}
	}
	t.Logf("what was held was POSTed within %s of the restart, everything within %s", again.Round(time.Millisecond), all.Round(time.Millisecond))
	// Far below a session, which is 45 s with Kafka's own settings.
	if again > 5*busy || all > 10*busy {
		t.Errorf("what was held was POSTed within %s of the restart, everything within %s, want 5 s and 10 s, or %d times that when busy", again, all, busy/time.Second)
	}
	ledger{c, n, n, letters(n), []*hook{h}}.settle(t, records).atMost(t, concurrency)
	if got, want := len(h.all(from("b"))), len(records)-len(h.all(from("a"), accepted)); got != want {
		t.Errorf("%d POSTs after the kill, want %d", got, want)
	}
}

// TestKillTheFullOne: a process dies that holds all that it may and fetches no
// more, beside another one. The broker frees at once what is in the session of
// the dead one, and the rest when the locks end.
func TestKillTheFullOne(t *testing.T) {
	t.Parallel()
	h := newHook(t, slow("a", time.Hour))
	n := name("full")
	shared.CreateTopic(t, n, partitions, nil)
	const lock = 8 * time.Second
	more := keys{"timeout": "2m", "share_group": keys{"lock": lock.String()}}
	path := write(t, replica(shared, "a", n, h, more))
	provision(t, path)
	records := numbered(t, shared, n, 1000)
	a := start(t, path)
	fill(t, a, h)
	b := start(t, write(t, replica(shared, "b", n, h, more)))
	b.AwaitReady()
	kafka.Wait(t, readyWait, "the other one to deliver", func() bool { return len(h.all(from("b"))) > 100 })
	inHand := a.Metric("sharehook_records_held")
	killed := time.Now()
	a.Kill()
	kafka.Wait(t, settleWait, "everything to be POSTed", func() bool { return len(h.all(from("b"))) >= len(records)-1 })
	posts := h.all(from("b"))
	last := posts[len(posts)-1].at.Sub(killed)
	t.Logf("%v records were held; the last one was POSTed %s after the kill", inHand, last.Round(time.Millisecond))
	if most := lock + 10*time.Second; last > most {
		t.Errorf("the last record was POSTed %s after the kill, want %s at most", last, most)
	}
	ledger{shared, n, n, letters(n), []*hook{h}}.settle(t, records).atMost(t, concurrency)
}

// TestStoppedProcess: a process that the system does not let run for longer
// than its locks and its session is no harm, and goes on by itself.
func TestStoppedProcess(t *testing.T) {
	t.Parallel()
	h := newHook(t, mixedAnswers(50*time.Millisecond))
	n := name("stopped")
	shared.CreateTopic(t, n, partitions, nil)
	more := keys{"share_group": keys{"lock": "2s"}}
	path := write(t, replica(shared, "a", n, h, more))
	provision(t, path)
	a, b := start(t, path), start(t, write(t, replica(shared, "b", n, h, more)))
	a.AwaitReady()
	b.AwaitReady()
	load := produce(t, shared, n, 200, mixed)
	kafka.Wait(t, readyWait, "both to deliver", func() bool {
		return len(h.all(from("a"), accepted)) > 100 && len(h.all(from("b"), accepted)) > 100
	})
	stopped := time.Now()
	a.Signal(syscall.SIGSTOP)
	kafka.Wait(t, readyWait, "the broker to give it up", func() bool { return len(shared.GroupMembers(t, group(n))) == 1 })
	goesOn := time.Now()
	a.Signal(syscall.SIGCONT)
	kafka.Wait(t, readyWait, "it to be a member again", func() bool { return len(shared.GroupMembers(t, group(n))) == 2 })
	load.await(200)
	kafka.Wait(t, readyWait, "it to deliver what is new", func() bool {
		for _, p := range h.all(from("a"), since(goesOn), accepted) {
			if p.nth == 1 {
				return true
			}
		}
		return false
	})
	account := ledger{shared, n, n, letters(n), []*hook{h}}.settle(t, load.stop())
	t.Logf("it was stopped for %s", goesOn.Sub(stopped).Round(time.Millisecond))
	// What was under way when it stopped, and what it fetches in its old session
	// before the next heartbeat tells it that it is no member any more.
	account.atMost(t, 4*concurrency)
}
