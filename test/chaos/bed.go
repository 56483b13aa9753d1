package main

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/test/kafka"
	"github.com/sharehook/sharehook/test/rig"
)

// What an endpoint has unless its section says otherwise.
const (
	concurrency = 64
	minAttempts = 10 // of the breaker
)

// patient keeps a lone broker from being taken for dead, by itself, when the
// machine has no time for it.
var patient = map[string]string{"broker.session.timeout.ms": "45000"}

// bed is what the scenarios share.
type bed struct {
	options
	tb      testing.TB // of the whole program
	program string
	random  *rand.Rand

	shared map[bool]*kafka.Cluster // by whether the settings are Kafka's own
}

// newBed builds the gateway.
func newBed(tb testing.TB, o options) *bed {
	tb.Helper()
	b := &bed{
		options: o, tb: tb, program: o.binary, shared: make(map[bool]*kafka.Cluster),
		random: rand.New(rand.NewPCG(o.seed, 0)), //nolint:gosec // to be repeated
	}
	if b.program == "" {
		progress("building the gateway")
		b.program = filepath.Join(tb.TempDir(), "sharehook")
		if code, out, errs := rig.Command(tb, "go", "build", "-o", b.program, "github.com/sharehook/sharehook/cmd/sharehook"); code != 0 {
			tb.Fatalf("build the gateway: exit %d\n%s%s", code, out, errs)
		}
	}
	return b
}

// cluster is a Kafka of one node for scenarios that do nothing to it, with its
// own settings (45 s session, 5 s heartbeat, 30 s lock) or short times.
func (b *bed) cluster(production bool) *kafka.Cluster {
	if b.shared[production] == nil {
		progress("starting Kafka")
		b.shared[production] = kafka.Start(b.tb, kafka.Options{Production: production, Settings: patient})
	}
	return b.shared[production]
}

// stage is one endpoint with its topic and how its replicas are started.
type stage struct {
	tb      testing.TB
	bed     *bed
	cluster *kafka.Cluster
	name    string
	hook    *rig.Hook
	more    rig.Keys
	env     []string
	made    bool // provisioned
}

// newStage makes a topic and an endpoint that answers by a script.
func (b *bed) newStage(tb testing.TB, c *kafka.Cluster, name string, s rig.Script, more rig.Keys) *stage {
	tb.Helper()
	st := &stage{tb: tb, bed: b, cluster: c, name: rig.Name(name), hook: rig.NewHook(tb, s), more: more}
	c.CreateTopic(tb, st.name, rig.Partitions, nil)
	return st
}

// section is the stage's part of a replica's file.
func (st *stage) section(replica string) rig.Keys {
	return rig.Section(st.name, st.hook.URL(), replica, st.more)
}

// start starts a replica, which need not be the first of its name.
func (st *stage) start(replica string) *rig.Gateway {
	st.tb.Helper()
	path := rig.Write(st.tb, rig.File(st.cluster.Seeds, st.section(replica)))
	if !st.made {
		rig.Provision(st.tb, st.bed.program, path)
		st.made = true
	}
	return rig.Run(st.tb, st.env, st.bed.program, path, "--instance", replica)
}

// pair starts two replicas and waits until both are ready.
func (st *stage) pair() []*rig.Gateway {
	st.tb.Helper()
	both := []*rig.Gateway{st.start("a"), st.start("b")}
	for _, g := range both {
		g.AwaitReady()
	}
	return both
}

func (st *stage) backlog(n int) []*kgo.Record {
	st.tb.Helper()
	return rig.Backlog(st.tb, st.cluster, st.name, n, nil)
}

func (st *stage) ledger() rig.Ledger {
	return rig.Ledger{Cluster: st.cluster, Endpoint: st.name, Hooks: []*rig.Hook{st.hook}}
}

// deadLetters is how many there are at this moment.
func (st *stage) deadLetters() int {
	st.tb.Helper()
	return st.cluster.Count(st.tb, rig.Letters(st.name))
}

// awaitOpen waits until the breakers of all replicas are open.
func (st *stage) awaitOpen(all []*rig.Gateway, words string) {
	st.tb.Helper()
	for _, g := range all {
		g.AwaitReason(st.name, rig.ReadyWait, "breaker open", words)
	}
}

// attempts are those that a replica has finished.
func attempts(g *rig.Gateway) int { return int(g.Metric("sharehook_attempts_total")) }

// watched counts what replicas do while their breakers are open.
type watched struct {
	all   []*rig.Gateway
	at    time.Time
	since []int
}

// watch begins when what was under way as the breakers opened has ended.
func watch(tb testing.TB, all []*rig.Gateway) watched {
	tb.Helper()
	w := watched{all: all}
	for _, g := range all {
		rig.Wait(tb, rig.ReadyWait, "the attempts under way to end", func() bool {
			return g.Metric("sharehook_attempts_in_flight") <= 1
		})
	}
	w.at = time.Now()
	for _, g := range all {
		w.since = append(w.since, attempts(g))
	}
	return w
}

// end answers how many POSTs were made, and the highest number a second of a
// replica.
func (w watched) end() (posts int, rate float64) {
	seconds := time.Since(w.at).Seconds()
	for i, g := range w.all {
		n := attempts(g) - w.since[i]
		posts += n
		rate = max(rate, float64(n)/seconds)
	}
	return posts, rate
}
