package rig

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/test/kafka"
)

// Partitions of every topic.
const Partitions = 8

// Load produces records at a rate until it is stopped. A broker that is away is
// waited for.
type Load struct {
	tb     testing.TB
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	records []*kgo.Record
	err     error
}

// Produce begins a load: so many records a second, whose keys key answers by
// their number; nil: the number itself.
func Produce(tb testing.TB, c *kafka.Cluster, topic string, perSecond int, key func(int) string) *Load {
	tb.Helper()
	if key == nil {
		key = strconv.Itoa
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &Load{tb: tb, cancel: cancel, done: make(chan struct{})}
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Seeds...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	if err != nil {
		tb.Fatal(err)
	}
	go func() {
		defer close(l.done)
		defer cl.Close()
		began := time.Now()
		due := time.NewTimer(0)
		defer due.Stop()
		for i := 0; ; i++ {
			// By the clock and not by intervals: what is late is made up for.
			due.Reset(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
			select {
			case <-due.C:
			case <-ctx.Done():
				flush, done := context.WithTimeout(context.Background(), kafka.WaitTimeout)
				defer done()
				if err := cl.Flush(flush); err != nil {
					l.note(nil, err)
				}
				return
			}
			cl.Produce(context.Background(), record(topic, i, key(i)), l.note)
		}
	}()
	tb.Cleanup(func() {
		cancel()
		<-l.done
	})
	return l
}

func record(topic string, i int, key string) *kgo.Record {
	return &kgo.Record{Topic: topic, Partition: int32(i % Partitions), Key: []byte(key), Value: []byte("record " + strconv.Itoa(i))}
}

// Backlog produces n records at once.
func Backlog(tb testing.TB, c *kafka.Cluster, topic string, n int, key func(int) string) []*kgo.Record {
	tb.Helper()
	if key == nil {
		key = strconv.Itoa
	}
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = record(topic, i, key(i))
	}
	c.Produce(tb, records...)
	return records
}

func (l *Load) note(r *kgo.Record, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.err = err
		return
	}
	l.records = append(l.records, r)
}

// Produced is how many records are on the topic.
func (l *Load) Produced() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.records)
}

// Await waits until n more records are on the topic.
func (l *Load) Await(n int) {
	l.tb.Helper()
	goal := l.Produced() + n
	Wait(l.tb, SettleWait, strconv.Itoa(n)+" more records to be produced", func() bool { return l.Produced() >= goal })
}

// Stop ends the load and answers what it has produced.
func (l *Load) Stop() []*kgo.Record {
	l.tb.Helper()
	l.cancel()
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		l.tb.Fatalf("produce: %v", l.err)
	}
	return l.records
}
