package dev

import (
	"sync"
	"time"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/gateway"
)

// tally counts what became of records.
type tally struct {
	want int           // records to be settled; 0: no end
	done chan struct{} // closed when they are

	mu          sync.Mutex // guards what follows
	summary     Summary
	rows        map[string]*Counts // the summary's, by endpoint
	byGateway   map[string]bool    // endpoints whose dead letters the gateway writes
	settled     map[place]*offsets
	first, last time.Time
}

// place is one partition as one endpoint sees it.
type place struct {
	endpoint, topic string
	partition       int32
}

func newTally(want int, endpoints []config.Endpoint) *tally {
	t := &tally{
		want: want, done: make(chan struct{}),
		summary:   Summary{Endpoints: make([]Counts, len(endpoints))},
		rows:      make(map[string]*Counts),
		byGateway: make(map[string]bool),
		settled:   make(map[place]*offsets),
	}
	for i, e := range endpoints {
		t.summary.Endpoints[i].Endpoint = e.Name
		t.rows[e.Name] = &t.summary.Endpoints[i]
		t.byGateway[e.Name] = e.DeadLetter.By == config.DeadLetterByGateway
	}
	return t
}

// produced counts a record that so many endpoints are to get.
func (t *tally) produced(audience int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first.IsZero() {
		t.first = time.Now()
	}
	t.summary.Produced++
	t.summary.Expected += audience
}

// open is how many records are on their way.
func (t *tally) open() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.summary.Expected - t.summary.Settled
}

// delivered counts a finished delivery. It may be called by many at a time.
func (t *tally) delivered(d gateway.Delivery) {
	t.mu.Lock()
	defer t.mu.Unlock()
	row := t.rows[d.Endpoint]
	givenUp := d.DeadLetter != "" || d.Acknowledgement == "reject"
	switch {
	case givenUp || d.Acknowledgement == "accept":
	case d.Acknowledgement == "release":
		row.Released++
		t.summary.Released++
		return
	default: // given back by a drain, or lapsed: it comes again
		return
	}
	if !t.settle(place{d.Endpoint, d.Topic, d.Partition}, d.Offset) {
		return // its acknowledgement was lost on the way, and it came again
	}
	for _, c := range []*Counts{row, &t.summary.Counts} {
		c.Settled++
		if !givenUp {
			c.Accepted++
			continue
		}
		c.Rejected++
		if t.byGateway[d.Endpoint] {
			c.DeadLetters++
		}
	}
	t.last = time.Now()
	if t.summary.Settled == t.want {
		close(t.done) // once: Settled only grows
	}
}

// settle notes that a record is settled, and says whether that is news.
func (t *tally) settle(p place, offset int64) bool {
	o := t.settled[p]
	if o == nil {
		o = &offsets{above: make(map[int64]bool)}
		t.settled[p] = o
	}
	return o.add(offset)
}

// result is the summary so far.
func (t *tally) result() Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.summary
	s.Endpoints = append([]Counts(nil), s.Endpoints...)
	if !t.last.IsZero() {
		s.Elapsed = t.last.Sub(t.first)
	}
	return s
}

// offsets is a set of offsets that fill up from 0, small as long as they come
// about in order.
type offsets struct {
	below int64 // all below are in it
	above map[int64]bool
}

// add says whether the offset is new.
func (o *offsets) add(offset int64) bool {
	if offset < o.below || o.above[offset] {
		return false
	}
	o.above[offset] = true
	for o.above[o.below] {
		delete(o.above, o.below)
		o.below++
	}
	return true
}
