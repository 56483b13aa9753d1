package rig

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/test/kafka"
)

// Ledger is what was produced for one endpoint, and what may become of it.
type Ledger struct {
	Cluster  *kafka.Cluster
	Endpoint string // the topic has its name
	Hooks    []*Hook
	// Others are records that members beside the gateway have accepted.
	Others func() []Coordinates
	// CutsAsk: a POST that broke off asks for another one. Where processes
	// are killed it does not: the endpoint may have done its work.
	CutsAsk bool
	// From is when the topic was made, if it was made before: what was
	// POSTed earlier is of its predecessor.
	From time.Time
}

// Account is how the records of a ledger ended.
type Account struct {
	Produced, Accepted, Filtered, Lost int
	Dead                               map[string]int // by cause
	DeadRecords                        []Coordinates
	DeadTwice                          int // dead letters of records that had one
	Duplicates                         []Post
	MaxDelivery                        int           // the highest delivery count that was POSTed
	Stall                              time.Duration // the longest time without a POST between the first and the last
}

// DeadCount is the number of dead letters, whatever their causes.
func (a Account) DeadCount() int { return len(a.DeadRecords) }

// Settle waits until the group has finished all records, and proves that each
// of them ended in exactly one way.
func (l Ledger) Settle(tb testing.TB, records []*kgo.Record) Account {
	tb.Helper()
	l.AwaitFinished(tb)
	return l.Balance(tb, records)
}

// AwaitFinished waits until the group has finished all records.
func (l Ledger) AwaitFinished(tb testing.TB) {
	tb.Helper()
	Wait(tb, SettleWait, "the group of "+l.Endpoint+" to finish", func() (finished bool) {
		// A broker that was away a moment ago may not answer: then it is not known.
		_ = Try(tb.Context(), nil, func(tb testing.TB) {
			finished = l.Cluster.GroupLag(tb, Group(l.Endpoint), l.Endpoint) == 0
		})
		return finished
	})
}

// Balance is Settle for a group that has finished.
func (l Ledger) Balance(tb testing.TB, records []*kgo.Record) Account {
	tb.Helper()
	a := Account{Produced: len(records), Dead: make(map[string]int)}
	ended := make(map[Coordinates]string, len(records))
	for _, r := range records {
		ended[Coordinates{r.Topic, r.Partition, r.Offset}] = ""
	}
	accept := func(c Coordinates, whose string) {
		how, known := ended[c]
		switch {
		case !known:
			tb.Errorf("%v was delivered and never produced", c)
		case how == "":
			ended[c] = whose
			a.Accepted++
		case how != whose:
			tb.Errorf("%v was accepted by %s and by %s", c, how, whose)
		}
	}
	for _, h := range l.Hooks {
		posts := h.Posts(func(p *Post) bool { return p.Record.Topic == l.Endpoint }, Since(l.From))
		for i, p := range posts {
			a.MaxDelivery = max(a.MaxDelivery, p.Delivery)
			if i > 0 {
				a.Stall = max(a.Stall, p.At.Sub(posts[i-1].At))
			}
			if Accepted(&p) {
				accept(p.Record, "an endpoint")
			}
		}
		a.Duplicates = append(a.Duplicates, l.duplicates(posts)...)
	}
	if l.Others != nil {
		for _, c := range l.Others() {
			accept(c, "another member")
		}
	}
	l.bury(tb, &a, ended)
	for c, how := range ended {
		if how == "" {
			if a.Lost++; a.Lost <= 5 {
				tb.Errorf("%v is lost", c)
			}
		}
	}
	if a.Lost > 0 {
		tb.Errorf("%d of %d records are lost", a.Lost, a.Produced)
	}
	return a
}

// buried is how a record ended that has a dead letter.
const buried = "dead"

// bury enters the dead letters, which no endpoint has accepted.
func (l Ledger) bury(tb testing.TB, a *Account, ended map[Coordinates]string) {
	tb.Helper()
	for _, r := range l.Cluster.ReadTopic(tb, Letters(l.Endpoint), 0) {
		c, cause := story(tb, r)
		how, known := ended[c]
		if how == buried {
			a.DeadTwice++
			continue
		}
		if !known || how != "" {
			tb.Errorf("%v is a dead letter (%s); before, it was %q (produced: %v)", c, cause, how, known)
			continue
		}
		ended[c] = buried
		a.Dead[cause]++
		a.DeadRecords = append(a.DeadRecords, c)
	}
}

// story is the record that a dead letter of the broker is of, and why.
func story(tb testing.TB, r *kgo.Record) (c Coordinates, cause string) {
	tb.Helper()
	h := make(map[string]string)
	for _, header := range r.Headers {
		h[header.Key] = string(header.Value)
	}
	const prefix = "__dlq.errors."
	c = Coordinates{h[prefix+"topic"], int32(number(h[prefix+"partition"])), int64(number(h[prefix+"offset"]))}
	if c.Topic == "" {
		tb.Fatalf("dead letter without a story: %v", h)
	}
	switch message := h[prefix+"message"]; {
	case strings.HasPrefix(message, "Offset rejected"):
		return c, "rejected"
	case strings.HasPrefix(message, "Offset delivery count exceeded"):
		return c, "limit"
	default:
		return c, "unknown"
	}
}

// duplicates are the POSTs of a record beyond what its answers asked for: an
// earlier one was answered 2xx, or had no answer yet.
func (l Ledger) duplicates(posts []Post) (found []Post) {
	earlier := make(map[string][]Post)
	for _, p := range posts {
		for _, e := range earlier[p.ID] {
			if l.CutsAsk && !e.Cut.IsZero() && e.Cut.Before(p.At) {
				continue
			}
			if Accepted(&e) || UnderWay(&e) || e.Answered.After(p.At) {
				found = append(found, p)
				break
			}
		}
		earlier[p.ID] = append(earlier[p.ID], p)
	}
	return found
}

// Once fails for each POST that was one too many.
func (a Account) Once(tb testing.TB) {
	tb.Helper()
	for i, p := range a.Duplicates {
		if i < 5 {
			tb.Errorf("%v was POSTed again by %q: the %d. time, delivery %d, attempt %d", p.Record, p.Replica, p.Nth, p.Delivery, p.Attempt)
		}
	}
	a.AtMost(tb, 0, "none is allowed")
}

// Only fails for each duplicate whose record was not held by a replica as it
// was struck.
func (a Account) Only(tb testing.TB, held map[string]bool, hooks ...*Hook) {
	tb.Helper()
	strangers := 0
	for _, p := range a.Duplicates {
		if held[p.ID] {
			continue
		}
		if strangers++; strangers <= 5 {
			tb.Errorf("%v was POSTed again and was not held when anything was struck:\n%s", p.Record, history(p.ID, hooks))
		}
	}
	if strangers > 5 {
		tb.Errorf("%d more", strangers-5)
	}
}

// history is a line for each POST of a record.
func history(id string, hooks []*Hook) string {
	var b strings.Builder
	for _, h := range hooks {
		for _, p := range h.Posts(func(p *Post) bool { return p.ID == id }) {
			fmt.Fprintf(&b, "  %s of %q, delivery %d, attempt %d, answered %d at %s\n", p.At.Format(clock),
				p.Replica, p.Delivery, p.Attempt, p.Status, p.Answered.Format(clock))
		}
	}
	return b.String()
}

const clock = "15:04:05.000"

// AtMost fails if there were more duplicates than what was held.
func (a Account) AtMost(tb testing.TB, held int, why string) {
	tb.Helper()
	if n := len(a.Duplicates); n > held {
		tb.Errorf("%d duplicates, want at most %d: %s", n, held, why)
	}
}
