package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/test/rig"
)

const (
	waiting    = 5000                   // records behind an endpoint that goes away
	before     = 3000                   // records that are delivered before
	answerTime = 200 * time.Millisecond // so that the rate is the endpoint's, not the machine's
	backWithin = 10 * time.Second
)

// outage has an endpoint go away with records waiting: first it refuses
// connections, then it answers 503.
func outage(tb testing.TB, b *bed, r *report) {
	st := b.newStage(tb, b.cluster(true), "outage", rig.Always(http.StatusOK, answerTime), nil)
	both := st.pair()
	records := st.backlog(before + waiting)
	rig.Wait(tb, rig.SettleWait, "the records before the outage", func() bool {
		return st.hook.Count(rig.Accepted) >= before
	})
	gone := time.Now()
	st.hook.Leave()
	earlier := perSecond(acceptedAt(st.hook), gone.Add(-2*rateWindow), gone)
	st.awaitOpen(both, "down")
	w := watch(tb, both)
	rig.Pass(tb, time.Until(gone.Add(b.time/2)))
	st.hook.Play(rig.Always(http.StatusServiceUnavailable, 0))
	st.hook.Return()
	answers := time.Now()
	rig.Pass(tb, time.Until(gone.Add(b.time)))
	posts, rate := w.end()
	most := mostInASecond(st.hook.Posts(rig.Since(answers)))
	st.hook.Play(rig.Always(http.StatusOK, answerTime))
	returned := time.Now()

	book := st.ledger()
	book.CutsAsk = true
	a := book.Settle(tb, records)
	a.Once(tb)
	back := backAt(acceptedAt(st.hook), returned, 0.9*earlier)
	line := calm("outage", a, "%s away, %.0f/s before", b.time, earlier)
	line.openPosts, line.openRate, line.back = posts, rate, back
	r.add(line)
	if a.DeadCount() > 0 {
		tb.Errorf("%d dead letters, want none", a.DeadCount())
	}
	if a.MaxDelivery > 2 {
		tb.Errorf("delivery count %d, want 2 at most", a.MaxDelivery)
	}
	if rate > 1 || most > 1 {
		tb.Errorf("%.2f POSTs a second of a replica while open, %d in one second; want 1 at most", rate, most)
	}
	if back == 0 || back > backWithin {
		tb.Errorf("back at 90 %% of %.0f/s after %s (0: never), want %s at most", earlier, back, backWithin)
	}
}

// misrouted has an endpoint answer 404 to everything: from the beginning, and
// after it used to accept.
func misrouted(tb testing.TB, b *bed, r *report) {
	for _, used := range []bool{false, true} {
		name := "misrouted from the first"
		if used {
			name = "misrouted later"
		}
		st := b.newStage(tb, b.cluster(true), "misrouted", rig.Always(http.StatusNotFound, answerTime/10), nil)
		most := 2 * minAttempts
		var records []*kgo.Record
		both := st.pair()
		if used {
			st.hook.Play(rig.Always(http.StatusOK, answerTime))
			records = st.backlog(waiting + before)
			rig.Wait(tb, rig.SettleWait, "records to be accepted", func() bool { return st.hook.Count(rig.Accepted) >= before })
			// Not sooner than before: what is answered after a 404 and was asked
			// before it would make the 404s look like some of many answers.
			st.hook.Play(rig.Always(http.StatusNotFound, answerTime))
			most = 2 * (minAttempts + concurrency)
		} else {
			records = st.backlog(waiting)
		}
		st.awaitOpen(both, "rejecting everything")
		w := watch(tb, both)
		early := st.deadLetters()
		rig.Pass(tb, b.time/4)
		posts, rate := w.end()
		if n := st.deadLetters(); n > most {
			tb.Errorf("%s: %d dead letters, want %d at most", name, n, most)
		} else if n > early {
			tb.Logf("%d dead letters more while the breaker was open", n-early)
		}
		st.hook.Play(rig.Always(http.StatusOK, 0))
		a := st.ledger().Settle(tb, records)
		a.Once(tb)
		line := calm(name, a, "dead letters: %d at most", most)
		line.openPosts, line.openRate = posts, rate
		r.add(line)
		if a.DeadCount() > most {
			tb.Errorf("%s: %d dead letters in the end, want %d at most", name, a.DeadCount(), most)
		}
		if rate > 1 {
			tb.Errorf("%s: %.2f POSTs a second of a replica while open, want 1 at most", name, rate)
		}
		for _, g := range both {
			g.Kill()
		}
	}
}
