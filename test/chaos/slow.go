package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/rig"
)

// slow has an endpoint answer later than a lock lasts.
func slow(tb testing.TB, b *bed, r *report) {
	more := rig.Keys{"share_group": rig.Keys{"start": "earliest", "lock": "2s"}}
	st := b.newStage(tb, b.cluster(false), "slow", rig.Always(http.StatusOK, 5*time.Second), more)
	st.pair()
	a := st.ledger().Settle(tb, st.backlog(300))
	r.add(calm("slow", a, "answers after 5 s under a lock of 2 s"))
	a.Once(tb)
	if a.MaxDelivery > 1 || a.DeadCount() > 0 {
		tb.Errorf("delivery count %d and %d dead letters, want 1 and none", a.MaxDelivery, a.DeadCount())
	}
}

// ratioGoal is what is left of an endpoint's rate beside one that hangs.
const ratioGoal = 0.9

// hang has an endpoint hang on every request beside another one of the same
// process, without a breaker that would help.
func hang(tb testing.TB, b *bed, r *report) {
	measured := max(b.time/6, 5*time.Second)
	c := b.cluster(false)
	well := b.newStage(tb, c, "well", rig.Always(http.StatusOK, answerTime/2), nil)
	hung := b.newStage(tb, c, "hung", rig.Always(http.StatusOK, time.Hour), rig.Keys{
		"timeout": "2s", "breaker": rig.Keys{"enabled": false},
	})
	path := rig.Write(tb, rig.File(c.Seeds, well.section("a"), hung.section("a")))
	rig.Provision(tb, b.program, path)
	g := rig.Run(tb, nil, b.program, path, "--instance", "a")
	g.AwaitReady()
	perSecondMost := concurrency * int(time.Second/(answerTime/2))
	records := well.backlog(int(measured.Seconds()*2+8) * perSecondMost)
	began := func() time.Time {
		rig.Pass(tb, 2*time.Second)
		return time.Now()
	}
	alone := began()
	rig.Pass(tb, measured)
	aloneUntil := time.Now()
	stuck := hung.backlog(500)
	rig.Wait(tb, rig.ReadyWait, "the other endpoint to hang", func() bool { return hung.hook.Count(rig.UnderWay) >= concurrency })
	beside := began()
	rig.Pass(tb, measured)
	besideUntil := time.Now()
	times := acceptedAt(well.hook)
	before, after := perSecond(times, alone, aloneUntil), perSecond(times, beside, besideUntil)

	hung.hook.Play(rig.Always(http.StatusOK, 0))
	a := well.ledger().Settle(tb, records)
	a.Once(tb)
	r.add(calm("beside one that hangs", a, "%.0f/s alone, %.0f/s beside: ratio %.2f", before, after, after/before))
	if after < ratioGoal*before {
		tb.Errorf("%.0f/s beside an endpoint that hangs, %.0f/s alone; want a ratio of %.1f", after, before, ratioGoal)
	}
	book := hung.ledger()
	book.CutsAsk = true
	a = book.Settle(tb, stuck)
	a.Once(tb)
	r.add(calm("hanging", a, "answered none for %s", time.Since(aloneUntil).Round(time.Second)))
	if a.DeadCount() > 0 {
		tb.Errorf("%d dead letters, want none", a.DeadCount())
	}
}
