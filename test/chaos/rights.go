package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/sharehook/sharehook/test/rig"
)

// remade deletes the topic under two replicas and makes it again.
func remade(tb testing.TB, b *bed, r *report) {
	st := b.newStage(tb, b.cluster(false), "remade", rig.Always(http.StatusOK, 10*time.Millisecond), quick(nil))
	st.pair()
	book := st.ledger()
	for i := range 3 {
		if i > 0 {
			st.cluster.DeleteTopic(tb, st.name)
			rig.Pass(tb, 2*time.Second)
			book.From = time.Now()
			st.cluster.CreateTopic(tb, st.name, rig.Partitions, nil)
		}
		made := time.Now()
		a := book.Settle(tb, st.backlog(400))
		line := calm("topic made again", a, "all after %.1fs", time.Since(made).Seconds())
		if i == 0 {
			line.name = "topic"
		}
		r.add(line)
		a.Once(tb)
		if a.DeadCount() > 0 {
			tb.Errorf("%d dead letters, want none", a.DeadCount())
		}
	}
}

// rights withdraws and grants again what the replicas need, under load.
func rights(tb testing.TB, b *bed, r *report) {
	c, address := rig.Secured(tb)
	st := b.newStage(tb, c, "rights", mixedAnswers(10*time.Millisecond), quick(nil))
	path := rig.Write(tb, rig.File(c.Seeds, st.section("a")))
	rig.Provision(tb, b.program, path)
	topic := func() *kadm.ACLBuilder { return rig.Rights().Topics(st.name).Operations(kadm.OpRead) }
	group := func() *kadm.ACLBuilder { return rig.Rights().Groups(rig.Group(st.name)).Operations(kadm.OpRead) }
	rig.Grant(tb, c, rig.Rights().Topics(rig.Letters(st.name)).Operations(kadm.OpDescribe, kadm.OpDescribeConfigs))
	rig.Grant(tb, c, rig.Rights().Groups(rig.Group(st.name)).Operations(kadm.OpDescribeConfigs))
	rig.Grant(tb, c, rig.Rights().Clusters().Operations(kadm.OpDescribeConfigs))
	rig.Grant(tb, c, topic())
	rig.Grant(tb, c, group())
	var both []*rig.Gateway
	for _, replica := range []string{"a", "b"} {
		file := rig.File(nil, st.section(replica)).With(rig.Keys{"kafka": rig.Keys{
			"brokers": []string{address}, "sasl": rig.Keys{"mechanism": "SCRAM-SHA-512", "username": rig.User, "password": rig.Quoted},
		}})
		both = append(both, rig.Run(tb, nil, b.program, rig.Write(tb, file), "--instance", replica))
	}
	for _, g := range both {
		g.AwaitReady()
	}
	load := rig.Produce(tb, c, st.name, loadRate, mixed)
	held := make(map[string]bool)
	times := 0
	for began := time.Now(); times == 0 || time.Since(began) < b.time; times++ {
		for _, right := range []func() *kadm.ACLBuilder{topic, group} {
			load.Await(loadRate)
			struck := time.Now()
			rig.Withdraw(tb, c, right())
			for _, g := range both {
				g.AwaitReason(st.name, rig.ReadyWait, "AUTHORIZATION", "grant READ")
			}
			st.mark(held, "", struck)
			rig.Grant(tb, c, right())
			for _, g := range both {
				g.AwaitReady()
			}
		}
	}
	load.Await(loadRate)
	a := st.ledger().Settle(tb, load.Stop())
	r.add(calm("rights", a, "topic and group withdrawn %d times, %d records were held", times, len(held)))
	onlyRejected(tb, a, len(held))
	a.Only(tb, held, st.hook)
	a.AtMost(tb, len(held), "what was held")
}

// collector has nobody take the telemetry: refused first, then taken and never
// answered.
func collector(tb testing.TB, b *bed, r *report) {
	for _, address := range []string{rig.UnusedAddress(tb), rig.Mute(tb)} {
		for _, protocol := range []string{"http/protobuf", "grpc"} {
			st := b.newStage(tb, b.cluster(false), "collector", mixedAnswers(5*time.Millisecond), quick(nil))
			st.env = []string{
				"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + address, "OTEL_EXPORTER_OTLP_PROTOCOL=" + protocol,
				"OTEL_BSP_SCHEDULE_DELAY=200", "OTEL_METRIC_EXPORT_INTERVAL=200",
			}
			both := st.pair()
			records := rig.Backlog(tb, st.cluster, st.name, waiting, mixed)
			began := time.Now()
			a := st.ledger().Settle(tb, records)
			took := time.Since(began)
			began = time.Now()
			for _, g := range both {
				g.Signal(syscall.SIGTERM)
			}
			for _, g := range both {
				if code := g.Exit(30 * time.Second); code != 0 {
					tb.Errorf("%s exits %d without a collector, want 0", g.Name, code)
				}
			}
			r.add(calm("collector "+strings.TrimSuffix(protocol, "/protobuf"), a,
				"all after %.1fs, ended after %.1fs", took.Seconds(), time.Since(began).Seconds()))
			onlyRejected(tb, a, 0)
			a.Once(tb)
		}
	}
}
