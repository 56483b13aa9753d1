//go:build kafka

package process

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/test/kafka"
)

// settleWait bounds how long everything may take to be settled once what is
// wrong is right again: a dead member's partitions wait for its session.
const settleWait = 90 * time.Second

// at is where a record is.
func at(r *kgo.Record) coordinates { return coordinates{r.Topic, r.Partition, r.Offset} }

// ledger is what was produced for one endpoint, and what may become of it.
type ledger struct {
	cluster  *kafka.Cluster
	endpoint string
	topic    string
	dead     string // the dead-letter topic; empty: none is written
	hooks    []*hook
}

// account is how the records of a ledger ended.
type account struct {
	accepted, dead int
	duplicates     []post
}

// settle waits until the group has finished all records, and proves that each
// of them ended in exactly one way.
func (l ledger) settle(t *testing.T, records []*kgo.Record) account {
	t.Helper()
	l.cluster.WaitGroupLag(t, group(l.endpoint), l.topic, 0, settleWait)
	ended := make(map[coordinates]string, len(records))
	for _, r := range records {
		ended[at(r)] = ""
	}
	var a account
	for _, h := range l.hooks {
		for _, p := range h.all(accepted, func(p *post) bool { return p.record.topic == l.topic }) {
			how, known := ended[p.record]
			switch {
			case !known:
				t.Errorf("%v was POSTed and never produced", p.record)
			case how == "":
				ended[p.record] = "accepted"
				a.accepted++
			}
		}
		a.duplicates = append(a.duplicates, h.duplicates(l.topic)...)
	}
	if l.dead != "" {
		for _, r := range l.cluster.ReadTopic(t, l.dead, 0) {
			c := origin(t, r)
			how, known := ended[c]
			if !known || how != "" {
				t.Errorf("%v is a dead letter; before, it was %q (produced: %v)", c, how, known)
				continue
			}
			ended[c] = "dead"
			a.dead++
		}
	}
	lost := 0
	for c, how := range ended {
		if how == "" {
			if lost++; lost <= 10 {
				t.Errorf("%v is lost", c)
			}
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d records are lost", lost, len(records))
	}
	t.Logf("%d records: %d accepted, %d dead letters, %d duplicates", len(records), a.accepted, a.dead, len(a.duplicates))
	return a
}

// origin is the record that a dead letter is of, whoever wrote it.
func origin(t *testing.T, r *kgo.Record) coordinates {
	t.Helper()
	h := headers(r)
	for _, prefix := range []string{"__dlq.errors.", "sharehook.dead_letter."} {
		if topic, ok := h[prefix+"topic"]; ok {
			return coordinates{topic, int32(number(h[prefix+"partition"])), int64(number(h[prefix+"offset"]))}
		}
	}
	t.Fatalf("dead letter without a story: %v", h)
	return coordinates{}
}

// headers are those of a record; the last of a name counts.
func headers(r *kgo.Record) map[string]string {
	all := make(map[string]string)
	for _, h := range r.Headers {
		all[h.Key] = string(h.Value)
	}
	return all
}

// duplicates are the POSTs of a record beyond what its answers asked for: an
// earlier one was answered 2xx, or had no answer yet.
func (h *hook) duplicates(topic string) []post {
	earlier := make(map[string][]post)
	var found []post
	for _, p := range h.all(func(p *post) bool { return p.record.topic == topic }) {
		for _, e := range earlier[p.id] {
			if accepted(&e) || underWay(&e) || e.answered.After(p.at) {
				found = append(found, p)
				break
			}
		}
		earlier[p.id] = append(earlier[p.id], p)
	}
	return found
}

// once fails for each POST that was one too many.
func (a account) once(t *testing.T) {
	t.Helper()
	for i, p := range a.duplicates {
		if i == 10 {
			break
		}
		t.Errorf("%v was POSTed again by %q: the %d. time, delivery %d, attempt %d", p.record, p.replica, p.nth, p.delivery, p.attempt)
	}
	if n := len(a.duplicates); n > 0 {
		t.Errorf("%d records were POSTed again, want none", n)
	}
}

// atMost fails if there were more duplicates than what was held.
func (a account) atMost(t *testing.T, held int) {
	t.Helper()
	if n := len(a.duplicates); n > held {
		t.Errorf("%d duplicates, want at most the %d that were held", n, held)
	}
}

// load produces records at a rate until it is stopped. A broker that is away
// is waited for.
type load struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	records []*kgo.Record
	err     error
}

// partitions of every topic that a load is on.
const partitions = 8

// produce begins a load: so many records a second, whose keys key answers by
// their number; nil: the number itself.
func produce(t *testing.T, c *kafka.Cluster, topic string, perSecond int, key func(int) string) *load {
	t.Helper()
	if key == nil {
		key = strconv.Itoa
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{t: t, cancel: cancel, done: make(chan struct{})}
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Seeds...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	go func() {
		defer close(l.done)
		defer cl.Close()
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-tick.C:
			case <-ctx.Done():
				flush, done := context.WithTimeout(context.Background(), kafka.WaitTimeout)
				defer done()
				if err := cl.Flush(flush); err != nil {
					l.note(nil, err)
				}
				return
			}
			r := &kgo.Record{Topic: topic, Partition: int32(i % partitions), Key: []byte(key(i)), Value: []byte("record " + strconv.Itoa(i))}
			cl.Produce(context.Background(), r, l.note)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-l.done
	})
	return l
}

func (l *load) note(r *kgo.Record, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.err = err
		return
	}
	l.records = append(l.records, r)
}

// produced is how many records are on the topic.
func (l *load) produced() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.records)
}

// await waits until n more records are on the topic.
func (l *load) await(n int) {
	l.t.Helper()
	goal := l.produced() + n
	kafka.Wait(l.t, settleWait, strconv.Itoa(n)+" more records to be produced", func() bool { return l.produced() >= goal })
}

// stop ends the load and answers what it has produced.
func (l *load) stop() []*kgo.Record {
	l.t.Helper()
	l.cancel()
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		l.t.Fatalf("produce: %v", l.err)
	}
	return l.records
}

// keyed is one record for each key, all in partition 0.
func keyed(topic string, keys ...string) []*kgo.Record {
	var records []*kgo.Record
	for _, key := range keys {
		records = append(records, &kgo.Record{Topic: topic, Key: []byte(key), Value: []byte("value of " + key)})
	}
	return records
}

// describe is a line for each of some posts.
func describe(posts []post) string {
	var b strings.Builder
	for _, p := range posts {
		b.WriteString(p.record.topic + "/" + strconv.Itoa(int(p.record.partition)) + "/" + strconv.FormatInt(p.record.offset, 10) +
			" delivery " + strconv.Itoa(p.delivery) + " attempt " + strconv.Itoa(p.attempt) + " of " + p.replica + " -> " + strconv.Itoa(p.status) + "\n")
	}
	return b.String()
}
