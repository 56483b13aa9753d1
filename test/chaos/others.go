package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/test/kafka"
	"github.com/sharehook/sharehook/test/rig"
)

//go:embed Member.java
var member []byte

// others has members of other make in the group of two replicas: Kafka's own
// Java client and a plain kgo client.
func others(tb testing.TB, b *bed, r *report) {
	st := b.newStage(tb, b.cluster(false), "others", mixedAnswers(20*time.Millisecond), quick(nil))
	st.pair()
	java := st.startJava()
	plain := st.startPlain()
	rig.Wait(tb, rig.ReadyWait, "four members", func() bool {
		return len(st.cluster.GroupMembers(tb, rig.Group(st.name))) == 4
	})
	load := rig.Produce(tb, st.cluster, st.name, loadRate, mixed)
	rig.Wait(tb, rig.ReadyWait, "all members to get records", func() bool {
		return len(accepted(tb, java)) > 0 && plain.count() > 0 && st.hook.Count(rig.Accepted, rig.From("a")) > 0 &&
			st.hook.Count(rig.Accepted, rig.From("b")) > 0
	})
	rig.Pass(tb, b.time/2)
	records := load.Stop()
	book := st.ledger()
	book.AwaitFinished(tb)
	// Java prints what is confirmed a moment later.
	java.Signal(syscall.SIGTERM)
	java.Exit(30 * time.Second)
	plain.stop()
	book.Others = func() []rig.Coordinates { return append(accepted(tb, java), plain.all()...) }
	a := book.Balance(tb, records)
	r.add(calm("members of other make", a, "%d accepted by Java, %d by kgo", len(accepted(tb, java)), plain.count()))
	onlyRejected(tb, a, 0)
	a.Once(tb)
}

// startJava runs the Java member from its source.
func (st *stage) startJava() *rig.Process {
	st.tb.Helper()
	if code, _, _ := rig.Command(st.tb, "java", "--list-modules"); code != 0 {
		st.tb.Fatal("java does not run; install a JDK of version 17 or later")
	}
	if _, modules, _ := rig.Command(st.tb, "java", "--list-modules"); !strings.Contains(modules, "jdk.compiler") {
		st.tb.Fatal("this Java is a runtime without a compiler; for this scenario install a JDK (Debian: default-jdk-headless)")
	}
	path := filepath.Join(st.tb.TempDir(), "Member.java")
	if err := os.WriteFile(path, member, 0o600); err != nil {
		st.tb.Fatal(err)
	}
	jars, err := kafka.Classpath()
	if err != nil {
		st.tb.Fatal(err)
	}
	return rig.Start(st.tb, "the Java member", nil, "java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-cp", jars, path, st.cluster.Seeds[0], rig.Group(st.name), st.name)
}

// accepted is what the Java member says that it has accepted.
func accepted(tb testing.TB, java *rig.Process) (all []rig.Coordinates) {
	tb.Helper()
	if java.Ended() && !strings.Contains(java.Text(), "leaves") {
		tb.Fatalf("the Java member has ended:\n%s", java.Tail())
	}
	for line := range strings.Lines(java.Text()) {
		var c rig.Coordinates
		if n, _ := fmt.Sscanf(line, "accepted %s %d %d", &c.Topic, &c.Partition, &c.Offset); n == 3 {
			all = append(all, c)
		}
	}
	return all
}

// plainMember is a share-group client as kgo's documentation has it.
type plainMember struct {
	client *kgo.Client
	cancel context.CancelFunc
	done   chan struct{}

	mu       sync.Mutex
	accepted []rig.Coordinates
}

func (st *stage) startPlain() *plainMember {
	st.tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	m := &plainMember{cancel: cancel, done: make(chan struct{})}
	var err error
	m.client, err = kgo.NewClient(kgo.SeedBrokers(st.cluster.Seeds...), kgo.ShareGroup(rig.Group(st.name)), kgo.ConsumeTopics(st.name),
		kgo.FetchMaxWait(100*time.Millisecond), kgo.ShareMaxRecords(20))
	if err != nil {
		cancel()
		st.tb.Fatal(err)
	}
	go m.work(ctx)
	st.tb.Cleanup(m.stop)
	return m
}

// work accepts a poll's records and notes them once the broker knows.
func (m *plainMember) work(ctx context.Context) {
	defer close(m.done)
	for ctx.Err() == nil {
		records := m.client.PollRecords(ctx, 20).Records()
		m.client.MarkAcks(kgo.AckAccept, records...)
		flush, cancel := context.WithTimeout(context.Background(), kafka.WaitTimeout)
		err := m.client.FlushAcks(flush)
		cancel()
		if err != nil {
			continue // not noted: then it counts as lost, unless somebody else has it
		}
		m.mu.Lock()
		for _, r := range records {
			m.accepted = append(m.accepted, rig.Coordinates{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset})
		}
		m.mu.Unlock()
	}
}

// stop leaves the group. It is harmless twice.
func (m *plainMember) stop() {
	m.cancel()
	<-m.done
	m.client.Close()
}

func (m *plainMember) all() []rig.Coordinates {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]rig.Coordinates(nil), m.accepted...)
}

func (m *plainMember) count() int { return len(m.all()) }
