package main

import (
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/kafka"
	"github.com/sharehook/sharehook/test/rig"
)

// brokerAnswer is how long a POST takes while brokers are struck.
const brokerAnswer = 100 * time.Millisecond

// rejoinWithin is when members of a broker that is back have joined again.
const rejoinWithin = 5 * time.Second

// broker kills the only broker under load, and starts it again.
func broker(tb testing.TB, b *bed, r *report) {
	c := kafka.Start(tb, kafka.Options{Settings: map[string]string{
		// A broker that was killed is not let in before its session has ended.
		"broker.session.timeout.ms": "9000",
	}})
	st := b.newStage(tb, c, "broker", mixedAnswers(brokerAnswer), quick(nil))
	st.pair()
	load := rig.Produce(tb, c, st.name, loadRate, mixed)
	held := make(map[string]bool)
	times := 0
	for began := time.Now(); times == 0 || time.Since(began) < b.time; times++ {
		load.Await(2 * loadRate)
		struck := time.Now()
		c.Kill(tb, 1)
		rig.Pass(tb, time.Second+time.Duration(b.random.IntN(3000))*time.Millisecond)
		c.Restart(tb, 1)
		// Members fetch before they hear that they have to join again. What
		// they got until then can not be acknowledged any more.
		rig.Pass(tb, rejoinWithin)
		st.mark(held, "", struck)
	}
	load.Await(loadRate)
	a := st.ledger().Settle(tb, load.Stop())
	r.add(calm("broker", a, "killed %d times, %d records were held", times, len(held)))
	onlyRejected(tb, a, len(held))
	a.Only(tb, held, st.hook)
	a.AtMost(tb, len(held), "what was held")
}

// leaders moves the leaders of three brokers under load, and then kills the
// leader of a partition.
func leaders(tb testing.TB, b *bed, r *report) {
	c := kafka.Start(tb, kafka.Options{Brokers: 3})
	st := &stage{tb: tb, bed: b, cluster: c, name: rig.Name("leaders"), hook: rig.NewHook(tb, mixedAnswers(brokerAnswer)), more: quick(nil)}
	c.CreateTopic(tb, st.name, rig.Partitions, map[string]string{"min.insync.replicas": "2"})
	st.pair()
	load := rig.Produce(tb, c, st.name, loadRate/2, mixed)
	load.Await(loadRate)
	moves := 0
	for began := time.Now(); moves == 0 || time.Since(began) < b.time/2; moves++ {
		partition := int32(moves % rig.Partitions)
		c.MoveLeader(tb, st.name, partition, c.Leader(tb, st.name, partition)%3+1)
		load.Await(20)
	}
	load.Await(loadRate)
	records := load.Stop()
	a := st.ledger().Settle(tb, records)
	r.add(calm("leader moves", a, "%d moves", moves))
	onlyRejected(tb, a, 0)
	a.Once(tb)

	load = rig.Produce(tb, c, st.name, loadRate/2, mixed)
	held := make(map[string]bool)
	times := 0
	for began := time.Now(); times == 0 || time.Since(began) < b.time/2; times++ {
		load.Await(loadRate)
		leader := c.Leader(tb, st.name, int32(b.random.IntN(rig.Partitions)))
		st.hold(held, func() { c.Kill(tb, leader) })
		load.Await(loadRate)
		c.Restart(tb, leader)
		load.Await(loadRate)
	}
	a = st.ledger().Settle(tb, append(records, load.Stop()...))
	r.add(calm("leader kill -9", a, "%d times, %d records were held; the moves are in it", times, len(held)))
	onlyRejected(tb, a, len(held))
	a.Only(tb, held, st.hook)
	a.AtMost(tb, len(held), "what was held")
}

// hold notes what all replicas hold as something is struck.
func (st *stage) hold(held map[string]bool, strike func()) {
	struck := time.Now()
	strike()
	st.mark(held, "", struck)
}

// mark notes what a replica held as something was struck, and what it has
// POSTed since: it may have had that already. Empty: any replica.
func (st *stage) mark(held map[string]bool, replica string, struck time.Time) {
	of := rig.From(replica)
	if replica == "" {
		of = func(*rig.Post) bool { return true }
	}
	for _, p := range append(st.hook.Posts(rig.Held(struck), of), st.hook.Posts(rig.Since(struck), of)...) {
		held[p.ID] = true
	}
}
