package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/rig"
)

// againWithin is when a restarted replica has POSTed again what it had.
const againWithin = 5 * time.Second

// restart kills the only replica with all its POSTs under way, and starts it
// again.
func restart(tb testing.TB, b *bed, r *report) {
	st := b.newStage(tb, b.cluster(true), "restart", rig.Always(http.StatusOK, 0), rig.Keys{"timeout": "2m"})
	// An endpoint that has accepted nothing is given less than it could take.
	records := st.backlog(2 * minAttempts)
	first := st.start("a")
	rig.Wait(tb, rig.ReadyWait, "the first records", func() bool { return st.hook.Count(rig.Accepted) == len(records) })
	st.hook.Play(rig.Always(http.StatusOK, time.Hour))
	records = append(records, st.backlog(400)...)
	rig.Wait(tb, rig.ReadyWait, "its POSTs to be under way", func() bool { return st.hook.Count(rig.UnderWay) >= concurrency })
	rig.Pass(tb, 2*time.Second) // it holds what it may
	first.Kill()
	had := make(map[string]bool)
	for _, p := range st.hook.Posts(rig.UnderWay) {
		had[p.ID] = true
	}
	st.hook.Play(rig.Always(http.StatusOK, 0))
	second := st.start("a")
	a := st.ledger().Settle(tb, records)
	a.AtMost(tb, concurrency, "what was in flight")
	var again, all time.Duration
	for _, p := range st.hook.Posts(rig.Since(second.Started)) {
		since := p.At.Sub(second.Started)
		if all = max(all, since); had[p.ID] {
			again = max(again, since)
		}
	}
	r.add(calm("restart", a, "POSTed again after %.1fs, all after %.1fs", again.Seconds(), all.Seconds()))
	if again > againWithin || all > 3*againWithin {
		tb.Errorf("what it had was POSTed again within %s of the restart, all within %s; want %s and %s", again, all, againWithin, 3*againWithin)
	}
}

const kills = 6

// crashes kills the only replica again and again, with records waiting behind
// an endpoint that takes one at a time.
func crashes(tb testing.TB, b *bed, r *report) {
	st := b.newStage(tb, b.cluster(true), "crashes", rig.Always(http.StatusOK, 2*time.Second), rig.Keys{"concurrency": 1})
	records := st.backlog(100)
	for range kills {
		g := st.start("a")
		rig.Wait(tb, rig.SettleWait, "a record to be POSTed", func() bool { return st.hook.Count(rig.Since(g.Started)) > 0 })
		rig.Pass(tb, time.Duration(b.random.IntN(2000))*time.Millisecond)
		g.Kill()
	}
	st.hook.Play(rig.Always(http.StatusOK, 0))
	st.start("a")
	a := st.ledger().Settle(tb, records)
	a.AtMost(tb, 2*kills, "what was in flight, and what was answered just before")
	seen := make(map[rig.Coordinates]bool)
	for _, p := range st.hook.Posts() {
		seen[p.Record] = true
	}
	unseen := 0
	for _, c := range a.DeadRecords {
		if !seen[c] {
			unseen++
		}
	}
	r.add(calm("crashes", a, "%d kill -9 in a row, %d dead letters that the endpoint never saw", kills, unseen))
	if unseen > 0 {
		tb.Errorf("%d records are dead that the endpoint never saw", unseen)
	}
}
