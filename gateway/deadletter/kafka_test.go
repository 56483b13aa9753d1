//go:build kafka

package deadletter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/test/kafka"
)

func newWriter(t *testing.T) *Writer {
	t.Helper()
	return New(broker.Client(t, ProducerOpts()...))
}

func newTopic(t *testing.T, settings map[string]string) string {
	t.Helper()
	topic := kafka.Name("dlq")
	broker.CreateTopic(t, topic, 1, settings)
	return topic
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestWrite(t *testing.T) {
	t.Parallel()
	l := example()
	l.Topic = newTopic(t, nil)
	w := newWriter(t)
	start := time.Now()
	if err := w.Write(within(t, 10*time.Second), l); err != nil {
		t.Fatal(err)
	}
	t.Log("the first letter took ", time.Since(start))
	start = time.Now()
	tombstone := Letter{Topic: l.Topic}
	if err := w.Write(within(t, 10*time.Second), tombstone); err != nil {
		t.Fatal(err)
	}
	t.Log("the next took ", time.Since(start))

	got := broker.ReadTopic(t, l.Topic, 2)
	if !slices.EqualFunc(got[0].Headers, l.record().Headers, sameHeader) || string(got[0].Value) != "value" {
		t.Errorf("read back %+v", got[0])
	}
	if got[1].Key != nil || got[1].Value != nil {
		t.Errorf("nulls became %v, %v", got[1].Key, got[1].Value)
	}
	if age := time.Since(got[0].Timestamp); age > time.Minute || age < -time.Minute {
		t.Errorf("the letter is %v old", age)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	big := Letter{Source: Source{Value: incompressible(3 << 20)}}
	for name, tc := range map[string]struct {
		letter   Letter
		settings map[string]string
		cause    error
	}{
		"too large": {big, nil, kerr.MessageTooLarge},
		"compacted": {Letter{}, map[string]string{"cleanup.policy": "compact"}, kerr.InvalidRecord},
		"no name":   {Letter{Topic: "dlq.bad name!"}, nil, kerr.InvalidTopicException},
		"missing":   {Letter{Topic: "dlq.missing"}, nil, kerr.UnknownTopicOrPartition},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWriter(t), tc.letter
			if l.Topic == "" {
				l.Topic = newTopic(t, tc.settings)
			}
			start := time.Now()
			err := w.Write(within(t, 20*time.Second), l)
			t.Logf("after %v: %v", time.Since(start), err)
			if !errors.Is(err, ErrRefused) || !errors.Is(err, tc.cause) {
				t.Errorf("Write: %v, want %v", err, tc.cause)
			}
			if errors.Is(tc.cause, kerr.MessageTooLarge) {
				return
			}
			// A refusal leaves nothing behind that would hold up others.
			fine := Letter{Topic: newTopic(t, nil)}
			if err := w.Write(within(t, 5*time.Second), fine); err != nil {
				t.Errorf("a letter to another topic: %v", err)
			}
		})
	}
}

// A topic that is missing holds up no other, and is written to as soon as it
// is there.
func TestTopicComesLater(t *testing.T) {
	t.Parallel()
	w, l := newWriter(t), example()
	l.Topic = kafka.Name("dlq.later")
	if err := w.Write(within(t, 20*time.Second), l); !errors.Is(err, ErrRefused) {
		t.Fatalf("Write: %v", err)
	}
	broker.CreateTopic(t, l.Topic, 1, nil)
	kafka.Wait(t, 30*time.Second, "the letter", func() bool {
		err := w.Write(within(t, 20*time.Second), l)
		t.Log(err)
		return err == nil
	})
}

// A topic that is deleted and made again is written to again.
func TestTopicMadeAgain(t *testing.T) {
	t.Parallel()
	w, l := newWriter(t), example()
	l.Topic = newTopic(t, nil)
	if err := w.Write(within(t, 20*time.Second), l); err != nil {
		t.Fatal(err)
	}
	broker.DeleteTopic(t, l.Topic)
	err := w.Write(within(t, 20*time.Second), l)
	if !errors.Is(err, ErrRefused) {
		t.Errorf("Write to a deleted topic: %v", err)
	}
	t.Log(err)
	broker.CreateTopic(t, l.Topic, 1, nil)
	start := time.Now()
	kafka.Wait(t, 30*time.Second, "the letters", func() bool {
		failed := false
		for range 3 {
			failed = failed || w.Write(within(t, 5*time.Second), l) != nil
		}
		return !failed
	})
	t.Log("written after ", time.Since(start))
}

// While letters to a missing topic wait, those to another one pass.
func TestMissingTopicHoldsUpNobody(t *testing.T) {
	t.Parallel()
	w, topic := newWriter(t), newTopic(t, nil)
	if err := w.Write(within(t, 20*time.Second), Letter{Topic: topic}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var stuck sync.WaitGroup
	missing := kafka.Name("dlq.missing")
	for range 50 {
		stuck.Go(func() {
			for ctx.Err() == nil {
				_ = w.Write(ctx, Letter{Topic: missing})
			}
		})
	}
	var slowest time.Duration
	for range 200 {
		start := time.Now()
		if err := w.Write(within(t, 20*time.Second), Letter{Topic: topic}); err != nil {
			t.Error(err)
		}
		slowest = max(slowest, time.Since(start))
	}
	cancel()
	stuck.Wait()
	t.Log("the slowest of 200 took ", slowest)
	if slowest > 2*time.Second {
		t.Errorf("a letter took %v", slowest)
	}
}

// Letters that fit one by one must not be refused because they travel in one
// batch that does not, and one that is refused costs no other.
func TestCompanyTooLarge(t *testing.T) {
	t.Parallel()
	topic := newTopic(t, map[string]string{"max.message.bytes": "50000"})
	w := newWriter(t)
	var letters sync.WaitGroup
	for i := range 40 {
		letters.Go(func() {
			n := 30_000
			if i == 20 {
				n = 60_000
			}
			l := Letter{Topic: topic, Source: Source{Key: []byte("same partition"), Value: incompressible(n)}}
			err := w.Write(within(t, 60*time.Second), l)
			if refused := errors.Is(err, ErrRefused); refused != (i == 20) {
				t.Errorf("letter %d: %v", i, err)
			}
		})
	}
	letters.Wait()
	if n := broker.Count(t, topic); n != 39 {
		t.Errorf("%d letters were written, want 39", n)
	}
}

// A great letter goes where the topic takes it.
func TestGreatLetter(t *testing.T) {
	t.Parallel()
	l := example()
	l.Topic = newTopic(t, map[string]string{"max.message.bytes": "10000000"})
	l.Source.Value = incompressible(8 << 20)
	if err := newWriter(t).Write(within(t, 30*time.Second), l); err != nil {
		t.Fatal(err)
	}
	if got := broker.ReadTopic(t, l.Topic, 1); !bytes.Equal(got[0].Value, l.Source.Value) {
		t.Error("the value is not the record's")
	}
}

func TestWriteReturnsWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	// Nobody listens here.
	client, err := kgo.NewClient(append(ProducerOpts(), kgo.SeedBrokers("127.0.0.1:1"))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	w := New(client)
	for range 3 {
		start := time.Now()
		err = w.Write(within(t, 200*time.Millisecond), example())
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrRefused) {
			t.Errorf("Write: %v", err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("Write took %v", took)
		}
	}
}

func TestManyLetters(t *testing.T) {
	t.Parallel()
	topic := newTopic(t, nil)
	w := newWriter(t)
	var letters sync.WaitGroup
	start := time.Now()
	const n = 2000
	for i := range n {
		letters.Go(func() {
			l := example()
			l.Topic, l.Source.Offset = topic, int64(i)
			l.Source.Value = fmt.Appendf(nil, "%01000d", i)
			if err := w.Write(within(t, 60*time.Second), l); err != nil {
				t.Error(err)
			}
		})
	}
	letters.Wait()
	t.Logf("%d letters in %v", n, time.Since(start))
	if got := broker.Count(t, topic); got != n {
		t.Errorf("%d letters, want %d", got, n)
	}
}

// incompressible is n bytes that no codec makes smaller.
func incompressible(n int) []byte {
	b := make([]byte, n)
	x := uint64(88172645463325252)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

// While the brokers are down Write ends with its context, and afterwards
// letters are written again.
func TestBrokerGoesAndComes(t *testing.T) {
	t.Parallel()
	own := kafka.Start(t, kafka.Options{})
	own.CreateTopic(t, "dlq.orders", 1, nil)
	w := New(own.Client(t, ProducerOpts()...))
	if err := w.Write(within(t, 20*time.Second), example()); err != nil {
		t.Fatal(err)
	}
	own.Kill(t, 1)
	for range 3 {
		if err := w.Write(within(t, 300*time.Millisecond), example()); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrRefused) {
			t.Errorf("Write: %v", err)
		}
	}
	own.Restart(t, 1)
	kafka.Wait(t, 60*time.Second, "the letter", func() bool { return w.Write(within(t, 10*time.Second), example()) == nil })
}
