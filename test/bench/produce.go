package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// batchRecords is how many records a batch of the backlog has: what a busy
// producer with a short linger makes.
const batchRecords = 50

// batchBytes lets in 50 records and not one more: a record of ours takes 1033
// to 1036 bytes, the batch itself 61.
const batchBytes = 61 + batchRecords*1036 + 500

// newProducer makes a client that writes whole batches, or each record at
// once.
func (b *bed) newProducer(batches bool) (*kgo.Client, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(b.kafka.Seeds...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerLinger(0),
	}
	if batches {
		opts = append(opts, kgo.ProducerLinger(100*time.Millisecond), kgo.ProducerBatchMaxBytes(batchBytes))
	}
	return kgo.NewClient(opts...)
}

// backlog is rounded so that every partition gets whole batches.
func backlog(records float64) int {
	const whole = partitions * batchRecords
	return max(1, int(records/whole)) * whole
}

// produce writes a backlog, a batch to each partition in turn, and waits until
// the broker has it.
func (b *bed) produce(ctx context.Context, topic string, records int) error {
	client, err := b.newProducer(true)
	if err != nil {
		return err
	}
	defer client.Close()
	var errs firstError
	for number := range records {
		client.Produce(ctx, &kgo.Record{
			Topic:     topic,
			Partition: int32(number / batchRecords % partitions),
			Value:     newValue(number, time.Now()),
		}, errs.promise)
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	return errs.get()
}

// produceSteadily writes records one by one, so many a second, from the number
// first on.
func (b *bed) produceSteadily(ctx context.Context, client *kgo.Client, topic string, first, records, perSecond int) error {
	var errs firstError
	timer := time.NewTimer(0)
	defer timer.Stop()
	began := time.Now()
	for i := range records {
		// By the clock and not by intervals: what is late is made up for.
		timer.Reset(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		number := first + i
		client.Produce(ctx, &kgo.Record{
			Topic: topic, Partition: int32(number % partitions), Value: newValue(number, time.Now()),
		}, errs.promise)
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	return errs.get()
}

// firstError keeps the first error of many promises.
type firstError struct {
	once sync.Once
	mu   sync.Mutex
	err  error
}

func (f *firstError) promise(_ *kgo.Record, err error) {
	if err != nil {
		f.once.Do(func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.err = fmt.Errorf("produce: %w", err)
		})
	}
}

func (f *firstError) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
