package sharegroup

import (
	"errors"
	"testing"
	"time"
)

// The promises that hold on every broker. kfake_test.go and kafka_test.go run
// them.
var promises = map[string]func(t *testing.T, b broker, name string){
	"a record held over many polls is neither accepted nor handed out": promiseVeil,
	"a slow record holds only itself":                                  promiseSliding,
	"locks are kept for as long as records are held":                   promiseLocks,
	"what arrives without room is kept":                                promiseNoRoom,
	"each acknowledgement is confirmed":                                promiseConfirmed,
	"what is held at the end is given back":                            promiseGivenBack,
	"two members share the records":                                    promiseMembers,
}

func promiseVeil(t *testing.T, b broker, name string) {
	b.topic(t, name, 1, 30)
	g, seen := join(t, b, Options{Group: name, Topics: []string{name}, FetchRecords: 4})
	held := acquireN(t, g, 1)[0]
	// Each acquisition from here on is a poll of kgo's or more.
	for range 29 {
		settle(t, Accept, acquireN(t, g, 1)...)
	}
	if got := b.lag(t, name, name); got != 1 {
		t.Errorf("lag = %d while one record is held, want 1: it was accepted behind our back", got)
	}
	settle(t, Release, held)
	again := acquireN(t, g, 1)[0]
	if again.Offset() != held.Offset() || again.DeliveryCount() != 2 {
		t.Errorf("after the release: offset %d with count %d, want %d with 2", again.Offset(), again.DeliveryCount(), held.Offset())
	}
	settle(t, Accept, again)
	waitFor(t, "lag 0", func() bool { return b.lag(t, name, name) == 0 })
	if n := seen.get(func(c *counts) int { return c.errors + c.lapsed }); n != 0 {
		t.Errorf("%d acknowledgement errors and lapsed locks, want 0", n)
	}
}

func promiseSliding(t *testing.T, b broker, name string) {
	const records = 600
	b.topic(t, name, 2, records)
	g, _ := join(t, b, Options{Group: name, Topics: []string{name}, FetchRecords: 16})
	slow := acquireN(t, g, 1)
	for n := 1; n < records; {
		got := acquire(t, g, 16)
		settle(t, Accept, got...)
		n += len(got)
	}
	settle(t, Accept, slow...)
}

func promiseLocks(t *testing.T, b broker, name string) {
	b.topic(t, name, 4, 100)
	g, seen := join(t, b, Options{Group: name, Topics: []string{name}, FetchRecords: 25})
	held := acquireN(t, g, 100)
	if extra, err := tryAcquire(t, g, 100, 3*b.lock); err == nil {
		t.Fatalf("%d records were handed out again under their lock", len(extra))
	}
	for _, r := range held {
		if r.DeliveryCount() != 1 || r.Lapsed() {
			t.Fatalf("offset %d: count %d, lapsed %v, want 1 and false", r.Offset(), r.DeliveryCount(), r.Lapsed())
		}
	}
	settle(t, Accept, held...)
	if n := seen.get(func(c *counts) int { return c.errors + c.lapsed }); n != 0 {
		t.Errorf("%d acknowledgement errors and lapsed locks, want 0", n)
	}
	if n := seen.get(func(c *counts) int { return c.renewed }); n < 300 {
		t.Errorf("%d renewals confirmed, want at least 300: 100 records over 3 locks", n)
	}
}

func promiseNoRoom(t *testing.T, b broker, name string) {
	b.topic(t, name, 2, 60)
	g, seen := join(t, b, Options{Group: name, Topics: []string{name}, FetchRecords: 10})
	all := acquireN(t, g, 3)
	// Nobody acquires for longer than a lock; some records are under way.
	held := g.Held
	waitFor(t, "what kgo has buffered to be taken out", func() bool { return held() > 3 })
	time.Sleep(2 * b.lock) // the lock itself is what is tested: it must pass
	if n := held(); n > 3+2*10 {
		t.Errorf("%d records held, want at most 3 and two fetches of 10", n)
	}
	all = append(all, acquireN(t, g, 57)...)
	unique := make(map[recordKey]bool)
	for _, r := range all {
		unique[r.key()] = true
		if r.DeliveryCount() != 1 {
			t.Errorf("%v: count %d, want 1: its lock was not kept", r.key(), r.DeliveryCount())
		}
	}
	if len(unique) != 60 {
		t.Errorf("%d different records, want 60", len(unique))
	}
	settle(t, Accept, all...)
	if n := seen.get(func(c *counts) int { return c.errors + c.lapsed }); n != 0 {
		t.Errorf("%d acknowledgement errors and lapsed locks, want 0", n)
	}
}

func promiseConfirmed(t *testing.T, b broker, name string) {
	b.topic(t, name, 1, 4)
	g, seen := join(t, b, Options{Group: name, Topics: []string{name}})
	r := acquireN(t, g, 4)
	settle(t, Accept, r[0], r[1])
	settle(t, Reject, r[2])
	settle(t, Release, r[3])
	settle(t, Accept, acquireN(t, g, 1)...)
	want := map[Acknowledgement]int{Accept: 3, Reject: 1, Release: 1}
	for a, n := range want {
		if got := seen.get(func(c *counts) int { return c.acknowledged[a] }); got != n {
			t.Errorf("%s confirmed %d times, want %d", a, got, n)
		}
	}
	if got := seen.get(func(c *counts) int { return c.acquired }); got != 5 {
		t.Errorf("acquired %d, want 5", got)
	}
	second := make(chan error, 1)
	r[0].Acknowledge(Release, func(err error) { second <- err })
	if err := <-second; !errors.Is(err, ErrSettled) {
		t.Errorf("acknowledged twice: %v, want ErrSettled", err)
	}
}

func promiseGivenBack(t *testing.T, b broker, name string) {
	b.topic(t, name, 1, 10)
	first, _ := join(t, b, Options{Group: name, Topics: []string{name}})
	held := acquireN(t, first, 10)
	settle(t, Accept, held[:5]...)
	leave(t, first)
	if _, err := first.Acquire(t.Context(), 1); !errors.Is(err, ErrLeft) {
		t.Errorf("acquire after leaving: %v, want ErrLeft", err)
	}
	second, _ := join(t, b, Options{Group: name, Topics: []string{name}})
	for _, r := range acquireN(t, second, 5) {
		if r.Offset() < 5 {
			t.Errorf("offset %d came again although it was accepted", r.Offset())
		}
		settle(t, Accept, r)
	}
}

func promiseMembers(t *testing.T, b broker, name string) {
	b.topic(t, name, 4, 200)
	g, _ := join(t, b, Options{Group: name, Topics: []string{name}, Members: 2})
	got := acquireN(t, g, 200)
	settle(t, Accept, got...)
	waitFor(t, "lag 0", func() bool { return b.lag(t, name, name) == 0 })
}
