package main

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/rig"
)

const loadRate = 200 // records a second

// mixed is the key of the i-th record of a load: some are tried again, some
// rejected.
func mixed(i int) string {
	switch {
	case i%20 == 7:
		return "late"
	case i%50 == 3:
		return "bad"
	}
	return strconv.Itoa(i)
}

// mixedAnswers answer such a load, some time after each POST.
func mixedAnswers(after time.Duration) rig.Script {
	return func(p *rig.Post) rig.Reply {
		r := rig.Reply{After: after}
		switch {
		case p.Key == "late" && p.Nth == 1:
			r.Status = http.StatusServiceUnavailable
		case p.Key == "bad":
			r.Status = http.StatusBadRequest
		}
		return r
	}
}

// quick are retries that do not keep a scenario waiting.
func quick(more rig.Keys) rig.Keys {
	return rig.Keys{"retry": rig.Keys{"initial_interval": "20ms", "max_interval": "500ms"}}.With(more)
}

// strike does something to one of two replicas and answers who has its place
// then.
type strike func(st *stage, g *rig.Gateway, replica string) *rig.Gateway

func kill(st *stage, g *rig.Gateway, replica string) *rig.Gateway {
	g.Kill()
	return st.start(replica)
}

func term(st *stage, g *rig.Gateway, replica string) *rig.Gateway {
	g.Signal(syscall.SIGTERM)
	if code := g.Exit(30 * time.Second); code != 0 {
		st.tb.Errorf("replica %s exits %d after SIGTERM, want 0", replica, code)
	}
	return st.start(replica)
}

// freeze stops a replica until the broker has given it up: longer than its
// locks and its session.
func freeze(st *stage, g *rig.Gateway, _ string) *rig.Gateway {
	members := func() int { return len(st.cluster.GroupMembers(st.tb, rig.Group(st.name))) }
	g.Signal(syscall.SIGSTOP)
	defer g.Signal(syscall.SIGCONT)
	rig.Wait(st.tb, rig.ReadyWait, "the broker to give the frozen replica up", func() bool { return members() == 1 })
	rig.Pass(st.tb, time.Second)
	g.Signal(syscall.SIGCONT)
	rig.Wait(st.tb, rig.ReadyWait, "it to be a member again", func() bool { return members() == 2 })
	return g
}

// striking is a scenario that strikes a replica again and again under load.
// What it held may be delivered again, unless it is asked to end in order.
func striking(name string, what strike, inOrder bool) func(testing.TB, *bed, *report) {
	return func(tb testing.TB, b *bed, r *report) {
		more := quick(rig.Keys{"share_group": rig.Keys{"start": "earliest", "lock": "2s"}})
		st := b.newStage(tb, b.cluster(false), "struck", mixedAnswers(100*time.Millisecond), more)
		both := st.pair()
		load := rig.Produce(tb, st.cluster, st.name, loadRate, mixed)
		load.Await(2 * loadRate)
		held := make(map[string]bool)
		strikes, most := 0, 0
		for began := time.Now(); time.Since(began) < b.time; strikes++ {
			at := b.random.IntN(2)
			replica := []string{"a", "b"}[at]
			struck := time.Now()
			most += st.hook.Count(rig.InFlight, rig.From(replica))
			both[at] = what(st, both[at], replica)
			// Frozen, it may have had records on the way to it: the broker's
			// answer lay in its socket.
			st.mark(held, replica, struck)
			load.Await(loadRate + b.random.IntN(2*loadRate))
		}
		a := st.ledger().Settle(tb, load.Stop())
		r.add(calm(name, a, "%d times, %d POSTs were in flight", strikes, most))
		if inOrder {
			onlyRejected(tb, a, 0)
			a.Once(tb)
			return
		}
		onlyRejected(tb, a, len(held))
		a.Only(tb, held, st.hook)
		a.AtMost(tb, strikes*concurrency, fmt.Sprintf("what may be in flight at %d strikes", strikes))
	}
}

// onlyRejected fails when a record is dead that was not rejected, or more often
// than once: beyond so many that the broker may have forgotten.
func onlyRejected(tb testing.TB, a rig.Account, forgotten int) {
	tb.Helper()
	if a.DeadTwice > forgotten {
		tb.Errorf("%d dead letters more than dead records, want %d at most", a.DeadTwice, forgotten)
	}
	others := maps.Clone(a.Dead)
	delete(others, "rejected")
	if len(others) > 0 {
		tb.Errorf("dead letters that no endpoint has rejected: %v", others)
	}
}
