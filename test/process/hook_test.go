//go:build kafka

package process

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// replicaHeader tells which gateway a POST is from: its file sets it.
const replicaHeader = "x-replica"

// coordinates name a record.
type coordinates struct {
	topic     string
	partition int32
	offset    int64
}

// post is one POST, as the endpoint saw it.
type post struct {
	id       string // webhook-id
	record   coordinates
	key      string
	delivery int
	attempt  int
	replica  string
	path     string
	conn     string // the client's end of the connection
	nth      int    // of its record, from 1
	at       time.Time

	// Guarded by the hook.
	answered time.Time // zero: not yet, or never as the client went away
	status   int
}

// reply is what a post is answered, and when.
type reply struct {
	status int             // 0: 200
	after  time.Duration   // counted from the post
	when   <-chan struct{} // nil: at once
	header http.Header
}

// script says what a post is answered.
type script func(*post) reply

// hook is an endpoint that records every POST.
type hook struct {
	server *httptest.Server
	script script

	mu    sync.Mutex
	posts []*post
	count map[string]int // by webhook-id
}

// newHook serves a script until the test's end.
func newHook(t *testing.T, s script) *hook {
	t.Helper()
	h := &hook{script: s, count: make(map[string]int)}
	h.server = httptest.NewServer(h)
	t.Cleanup(func() {
		h.server.CloseClientConnections()
		h.server.Close()
	})
	return h
}

// ok is the script of an endpoint that accepts everything.
func ok(*post) reply { return reply{} }

// byKey answers a record with what its key says.
func byKey(answers map[string]script) script {
	return func(p *post) reply {
		if s := answers[p.key]; s != nil {
			return s(p)
		}
		return reply{}
	}
}

// always answers one status.
func always(status int) script { return func(*post) reply { return reply{status: status} } }

func (h *hook) url() string { return h.server.URL + "/hook" }

// ServeHTTP records and answers a POST.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := &post{
		id: r.Header.Get("webhook-id"), key: r.Header.Get("kafka-key"), replica: r.Header.Get(replicaHeader),
		path: r.URL.Path, conn: r.RemoteAddr, at: time.Now(),
		delivery: number(r.Header.Get("sharehook-delivery")), attempt: number(r.Header.Get("sharehook-attempt")),
		record: coordinates{
			r.Header.Get("kafka-topic"), int32(number(r.Header.Get("kafka-partition"))), int64(number(r.Header.Get("kafka-offset"))),
		},
	}
	h.mu.Lock()
	h.count[p.id]++
	p.nth = h.count[p.id]
	h.posts = append(h.posts, p)
	h.mu.Unlock()

	// The server sees that a client went away only once the body is read.
	_, _ = io.Copy(io.Discard, r.Body)
	answer := h.script(p)
	if !wait(r, answer) {
		return
	}
	if answer.status == 0 {
		answer.status = http.StatusOK
	}
	maps.Copy(w.Header(), answer.header)
	// Before the answer goes out: what follows from it comes later.
	h.mu.Lock()
	p.answered, p.status = time.Now(), answer.status
	h.mu.Unlock()
	w.WriteHeader(answer.status)
}

// wait says whether it is time for the answer, false: the client went away.
func wait(r *http.Request, a reply) bool {
	if a.when != nil {
		select {
		case <-a.when:
		case <-r.Context().Done():
			return false
		}
	}
	timer := time.NewTimer(a.after)
	defer timer.Stop()
	select {
	case <-timer.C:
		return r.Context().Err() == nil
	case <-r.Context().Done():
		return false
	}
}

// number is -1 for what is none.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// all is a copy of what was posted so far, in the order of arrival.
func (h *hook) all(match ...func(*post) bool) []post {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []post
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

// underWay are the posts that are not answered.
func underWay(p *post) bool { return p.answered.IsZero() }

// accepted are the posts that were answered 2xx.
func accepted(p *post) bool { return p.status/100 == 2 }

func from(replica string) func(*post) bool {
	return func(p *post) bool { return p.replica == replica }
}

func withKey(key string) func(*post) bool {
	return func(p *post) bool { return p.key == key }
}

func since(at time.Time) func(*post) bool {
	return func(p *post) bool { return p.at.After(at) }
}
