package rig

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Coordinates name a record.
type Coordinates struct {
	Topic     string
	Partition int32
	Offset    int64
}

// Post is one POST, as the endpoint saw it.
type Post struct {
	ID       string // webhook-id
	Record   Coordinates
	Key      string
	Delivery int
	Attempt  int
	Replica  string
	Nth      int // of its record, from 1
	At       time.Time

	// Guarded by the hook.
	Answered time.Time // zero: not yet, or never
	Status   int
	Cut      time.Time // when it broke off; zero: it did not
}

// Reply is what a post is answered, and when.
type Reply struct {
	Status int           // 0: 200
	After  time.Duration // counted from the post
}

// Script says what a post is answered.
type Script func(*Post) Reply

// Always answers one status after some time.
func Always(status int, after time.Duration) Script {
	return func(*Post) Reply { return Reply{Status: status, After: after} }
}

// Hook is an endpoint that records every POST. It can be away: then its port
// refuses connections.
type Hook struct {
	tb      testing.TB
	address string
	script  atomic.Pointer[Script]
	server  *http.Server // nil while it is away

	mu    sync.Mutex
	posts []*Post
	count map[string]int // by webhook-id
}

// NewHook serves a script until the test's end.
func NewHook(tb testing.TB, s Script) *Hook {
	tb.Helper()
	h := &Hook{tb: tb, count: make(map[string]int)}
	h.Play(s)
	h.Return()
	tb.Cleanup(func() {
		if h.server != nil {
			h.server.Close()
		}
	})
	return h
}

// URL is where to POST.
func (h *Hook) URL() string { return "http://" + h.address + "/hook" }

// Play changes the script.
func (h *Hook) Play(s Script) { h.script.Store(&s) }

// Leave breaks all connections and refuses new ones.
func (h *Hook) Leave() {
	_ = h.server.Close()
	h.server = nil
}

// Return serves again, at the same address.
func (h *Hook) Return() {
	h.tb.Helper()
	l := listen(h.tb, h.address)
	h.address = l.Addr().String()
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			h.tb.Errorf("serve the endpoint: %v", err)
		}
	}(h.server)
}

// listen takes an address, or if that is empty a free one below the ephemeral
// range: nobody's own connection can take it while the endpoint is away.
func listen(tb testing.TB, address string) net.Listener {
	tb.Helper()
	var config net.ListenConfig
	var err error
	for range 100 {
		at := address
		if at == "" {
			at = net.JoinHostPort("127.0.0.1", strconv.Itoa(10000+rand.IntN(10000)))
		}
		var l net.Listener
		if l, err = config.Listen(context.Background(), "tcp4", at); err == nil {
			return l
		}
	}
	tb.Fatalf("listen on loopback: %v", err)
	return nil
}

// ServeHTTP records and answers a POST.
func (h *Hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := &Post{
		ID: r.Header.Get("webhook-id"), Key: r.Header.Get("kafka-key"), Replica: r.Header.Get(ReplicaHeader), At: time.Now(),
		Delivery: number(r.Header.Get("sharehook-delivery")), Attempt: number(r.Header.Get("sharehook-attempt")),
		Record: Coordinates{
			r.Header.Get("kafka-topic"), int32(number(r.Header.Get("kafka-partition"))), int64(number(r.Header.Get("kafka-offset"))),
		},
	}
	h.mu.Lock()
	h.count[p.ID]++
	p.Nth = h.count[p.ID]
	h.posts = append(h.posts, p)
	h.mu.Unlock()

	// The server sees that a client went away only once the body is read.
	_, _ = io.Copy(io.Discard, r.Body)
	answer := (*h.script.Load())(p)
	timer := time.NewTimer(answer.After)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
	if r.Context().Err() != nil {
		h.mu.Lock()
		p.Cut = time.Now()
		h.mu.Unlock()
		return
	}
	if answer.Status == 0 {
		answer.Status = http.StatusOK
	}
	// Before the answer goes out: what follows from it comes later.
	h.mu.Lock()
	p.Answered, p.Status = time.Now(), answer.Status
	h.mu.Unlock()
	w.WriteHeader(answer.Status)
}

// number is -1 for what is none.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// Posts is a copy of what was posted so far, in the order of arrival.
func (h *Hook) Posts(match ...func(*Post) bool) []Post {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []Post
next:
	for _, p := range h.posts {
		for _, m := range match {
			if !m(p) {
				continue next
			}
		}
		out = append(out, *p)
	}
	return out
}

// Count is how many posts match.
func (h *Hook) Count(match ...func(*Post) bool) int { return len(h.Posts(match...)) }

// UnderWay are the posts that are not answered, those that broke off included.
func UnderWay(p *Post) bool { return p.Answered.IsZero() }

// InFlight are the posts that are yet to be answered.
func InFlight(p *Post) bool { return p.Answered.IsZero() && p.Cut.IsZero() }

// Accepted are the posts that were answered 2xx.
func Accepted(p *Post) bool { return p.Status/100 == 2 }

// From are the posts of a replica.
func From(replica string) func(*Post) bool {
	return func(p *Post) bool { return p.Replica == replica }
}

// Since are the posts that came after a moment.
func Since(at time.Time) func(*Post) bool {
	return func(p *Post) bool { return p.At.After(at) }
}

// confirming is how long the broker may take to hear of an answer, on a busy
// machine. What was answered within it when a process dies may be delivered
// again.
const confirming = time.Second

// arriving is how long a POST may be on its way after who sent it was struck.
const arriving = 100 * time.Millisecond

// Held are the posts that were under way at that time, or answered so shortly
// before that the broker may not have known.
func Held(at time.Time) func(*Post) bool {
	return func(p *Post) bool {
		return p.At.Before(at.Add(arriving)) && !p.endedBefore(at.Add(-confirming))
	}
}

func (p *Post) endedBefore(at time.Time) bool {
	before := func(end time.Time) bool { return !end.IsZero() && end.Before(at) }
	return before(p.Answered) || before(p.Cut)
}
