package deadletter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ErrRefused is in the chain of an error of [Writer.Write] that time alone
// does not mend: a person has to change the topic, its settings or the
// permissions, as the error says. Without it the next try may well succeed.
// The record is the caller's to hold in either case.
var ErrRefused = errors.New("refused")

// Writer writes dead letters. It is safe for concurrent use. It starts no
// goroutines that outlive its client.
type Writer struct {
	client *kgo.Client

	mu     sync.Mutex
	topics map[string]*topic // guarded by mu
}

// topic is a dead-letter topic.
type topic struct {
	name   string
	gate   gate
	purged atomic.Int64 // how often kgo was made to forget the topic
}

// New returns a Writer that produces through client, which stays the caller's
// to close and must be built with [ProducerOpts].
func New(client *kgo.Client) *Writer {
	return &Writer{client: client, topics: make(map[string]*topic)}
}

const (
	// batchBytes bounds the letters under way to one topic, and so a batch of
	// several: below Kafka's default max.message.bytes (1048588).
	batchBytes = 900_000
	// maxLetterBytes is the greatest letter that is tried at all. A topic's
	// own limit is usually far below.
	maxLetterBytes = 64 << 20
	// deliveryTimeout takes a letter out of kgo's buffer that cannot be
	// delivered, should its Write have given up long ago.
	deliveryTimeout = 30 * time.Second
)

// ProducerOpts are the options that the client of a Writer must be built
// with, besides how to reach the cluster.
func ProducerOpts() []kgo.Opt {
	return []kgo.Opt{
		// All in-sync replicas, idempotently: the record is rejected for good
		// as soon as its letter is confirmed. (Both are kgo's defaults;
		// nobody shall change them by accident.)
		kgo.RequiredAcks(kgo.AllISRAcks()),
		// A letter waits for no company: somebody holds a record meanwhile.
		kgo.ProducerLinger(0),
		// One great letter must fit; batches of several stay small by gate.
		kgo.ProducerBatchMaxBytes(maxLetterBytes),
		// Say soon that a topic is missing. kgo does not ask the brokers to
		// make it: a misspelt name must not become a topic.
		kgo.UnknownTopicRetries(1),
		// How soon kgo looks again for a topic that has come meanwhile.
		kgo.MetadataMinAge(time.Second),
		kgo.RecordDeliveryTimeout(deliveryTimeout),
	}
}

// Write produces the letter and waits until all in-sync replicas have it, or
// until ctx ends. An error that came with the end of ctx leaves open whether
// the letter was written: writing it again may then make a second one, with
// the same webhook_id. See [ErrRefused] for which errors want a person.
func (w *Writer) Write(ctx context.Context, l Letter) error {
	if err := w.write(ctx, l); err != nil {
		return fmt.Errorf("write dead letter of %s/%d offset %d to topic %q: %w",
			l.Source.Topic, l.Source.Partition, l.Source.Offset, l.Topic, classify(err))
	}
	return nil
}

func (w *Writer) write(ctx context.Context, l Letter) error {
	r := l.record()
	t := w.topic(l.Topic)
	share, purged := min(size(r), batchBytes), t.purged.Load()
	err := w.produce(ctx, t, share, r)
	switch {
	case errors.Is(err, kerr.MessageTooLarge) && share < batchBytes:
		// The broker judges the batch, and kgo does not split it: perhaps the
		// company was too large. Alone it is judged by itself.
		return w.produce(ctx, t, batchBytes, l.record())
	case errors.Is(err, kerr.UnknownTopicID):
		if err := w.purge(ctx, t, purged); err != nil {
			return err
		}
		return w.produce(ctx, t, share, l.record())
	}
	return err
}

// produce sends r while it holds share of the topic's gate.
func (w *Writer) produce(ctx context.Context, t *topic, share int, r *kgo.Record) error {
	if err := t.gate.enter(ctx, share); err != nil {
		return err
	}
	done := make(chan error, 1) // never blocks kgo, though nobody may listen any more
	w.client.Produce(ctx, r, func(_ *kgo.Record, err error) {
		t.gate.leave(share)
		done <- err
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		// kgo keeps a record whose fate it does not know until it learns it,
		// whatever ctx says: that is not waited for.
		return context.Cause(ctx)
	}
}

// purge makes kgo forget a topic that was deleted and perhaps made again: it
// would write to the old topic's id for ever. Letters of others that are under
// way to the topic fail, and are tried again. seen is t.purged from before the
// failure: of many that fail together only one purges, lest they fail each
// other's second try.
func (w *Writer) purge(ctx context.Context, t *topic, seen int64) error {
	if !t.purged.CompareAndSwap(seen, seen+1) {
		return nil
	}
	done := make(chan struct{})
	go func() { // kgo takes no context here, and may first end a request of its own
		defer close(done)
		w.client.PurgeTopicsFromProducing(t.name)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *Writer) topic(name string) *topic {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.topics[name]
	if t == nil {
		t = &topic{name: name, gate: gate{free: batchBytes}}
		w.topics[name] = t
	}
	return t
}

// size is about what r takes in a batch, compression aside.
func size(r *kgo.Record) int {
	const perRecord, perHeader = 96, 10 // more than the framing ever takes
	n := perRecord + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += perHeader + len(h.Key) + len(h.Value)
	}
	return n
}
