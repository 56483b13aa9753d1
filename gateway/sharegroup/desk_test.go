package sharegroup

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// desk is a group with one member and no broker behind it: the test hands out
// records and gives the answers. What is handed to kgo is read off the ledger,
// as the acknowledgement of a record that kgo does not know does nothing.
type desk struct {
	t    *testing.T
	g    *Group
	m    *member
	seen *counts
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	topics, err := newMatcher([]string{"t"})
	if err != nil {
		t.Fatal(err)
	}
	seen := &counts{}
	g := &Group{
		opts: Options{Group: "g"}, log: slog.New(slog.DiscardHandler), observer: seen, topics: topics,
		ready: make(chan struct{}, 1), stop: make(chan struct{}), quit: make(chan struct{}),
		held: make(map[recordKey]*Record), memory: make(map[recordKey]memo), lock: 10 * time.Second,
	}
	m := &member{
		group: g, log: g.log, wake: make(chan struct{}, 1), toSend: make(chan struct{}, 1),
		ledgers: make(map[partitionKey]*ledger), topicIDs: map[string][16]byte{"t": {1}},
	}
	if m.client, err = kgo.NewClient(); err != nil { // connects to nothing, and is in no group
		t.Fatal(err)
	}
	t.Cleanup(m.client.Close)
	g.members = []*member{m}
	return &desk{t, g, m, seen}
}

// hand hands out one record, as the broker would, and returns those that have
// reached the caller's side since.
func (d *desk) hand(offset int64) []*Record {
	d.t.Helper()
	d.enter(offset)
	got, err := d.g.take(100)
	if err != nil {
		d.t.Fatal(err)
	}
	return got
}

// enter has one record arrive.
func (d *desk) enter(offset int64) {
	r := &kgo.Record{Topic: "t", Offset: offset}
	d.g.mu.Lock()
	defer d.g.mu.Unlock()
	d.g.acquire(d.m, r, "t", time.Now(), time.Now().Add(d.g.lock))
}

// one hands out a record that must reach the caller.
func (d *desk) one(offset int64) *Record {
	d.t.Helper()
	got := d.hand(offset)
	if len(got) != 1 {
		d.t.Fatalf("offset %d: %d records reached the caller, want 1", offset, len(got))
	}
	return got[0]
}

// acknowledge does so and returns what becomes of it.
func (d *desk) acknowledge(r *Record, a Acknowledgement) <-chan error {
	done := make(chan error, 1)
	r.Acknowledge(a, func(err error) { done <- err })
	return done
}

// answer answers the batch under way.
func (d *desk) answer(err error) {
	d.m.answered(kgo.ShareAckResults{{Topic: "t", Err: err}})
}

// reopen opens the ledgers that an error has closed.
func (d *desk) reopen() {
	d.g.mu.Lock()
	defer d.g.mu.Unlock()
	for key, l := range d.m.ledgers {
		l.closed = false
		d.m.feed(key)
	}
}

type sent struct {
	offset int64
	status kgo.AckStatus
}

// sent is the batch under way.
func (d *desk) sent() []sent {
	d.g.mu.Lock()
	defer d.g.mu.Unlock()
	var out []sent
	if l := d.m.ledgers[partitionKey{topic: "t"}]; l != nil {
		for _, e := range l.sent {
			out = append(out, sent{e.handle.Offset, e.status})
		}
	}
	return out
}

func (d *desk) wantSent(want ...sent) {
	d.t.Helper()
	got := d.sent()
	if len(got) != len(want) {
		d.t.Fatalf("under way: %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			d.t.Fatalf("under way: %v, want %v", got, want)
		}
	}
}

func wantDone(t *testing.T, done <-chan error, want error) {
	t.Helper()
	select {
	case err := <-done:
		if !errors.Is(err, want) {
			t.Fatalf("acknowledgement ended with %v, want %v", err, want)
		}
	case <-time.After(time.Minute):
		t.Fatal("acknowledgement has not ended")
	}
}

func inBubble(t *testing.T, f func(t *testing.T, d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newDesk(t)) })
}
