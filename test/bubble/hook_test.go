package bubble

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// call is one request that an endpoint got.
type call struct {
	at       time.Duration // since the scenario began
	record   coordinates
	key      string // of the record; empty if it has none that is printable
	id       string // webhook-id
	delivery int    // Kafka's delivery count
	attempt  int    // within the delivery
	header   http.Header
	body     []byte

	status int           // what was answered; 0: nothing, so far
	ended  time.Duration // when it was answered or given up
}

// reply is what a script answers.
type reply struct {
	status int      // 0 means 200
	header []string // names and values in turn
	body   string
	after  time.Duration // wait before the answer
	hang   bool          // never answer, until the client gives up
	cut    bool          // close the connection instead of answering
}

// script says what to answer. It is called for one request at a time.
type script func(c call) reply

// accepting answers 200 to everything.
func accepting(call) reply { return reply{} }

// statuses answers the n-th attempt of each record, over all its deliveries,
// with the n-th status, and with the last one from then on.
func statuses(codes ...int) script {
	seen := map[coordinates]int{}
	return func(c call) reply {
		n := seen[c.record]
		seen[c.record]++
		return reply{status: codes[min(n, len(codes)-1)]}
	}
}

// hook is an HTTP endpoint that answers by a script and writes down what it
// got.
type hook struct {
	bed     *bed
	name    string
	address string // host and port

	mu      sync.Mutex
	script  script
	calls   []*call
	running int // requests that are not answered
	most    int // most of them at a time
	conns   int
	upTo    int64 // bytes of a body that are read before the answer; 0: all
}

// hook starts an endpoint. Its configuration is hookConfig's.
func (b *bed) hook(name string, s script) *hook {
	b.t.Helper()
	h := &hook{bed: b, name: name, script: s}
	b.hooks = append(b.hooks, h)
	listener, err := b.listen("tcp", fmt.Sprintf("127.0.0.1:%d", b.nextPort()))
	if err != nil {
		b.t.Fatal(err)
	}
	h.address = listener.Addr().String()
	server := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0), ConnState: h.connected}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	b.t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return h
}

// url is where the endpoint listens.
func (h *hook) url() string { return "http://" + h.address + "/hooks/" + h.name }

// ServeHTTP answers by the script.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.upTo > 0 {
		_ = http.NewResponseController(w).EnableFullDuplex()
	}
	c := h.got(r)
	h.mu.Lock()
	h.calls = append(h.calls, c)
	h.running++
	h.most = max(h.most, h.running)
	answer := h.script(*c)
	h.mu.Unlock()

	status := 0
	defer func() { // also when it panics to cut the connection
		h.mu.Lock()
		defer h.mu.Unlock()
		h.running--
		c.status, c.ended = status, h.bed.since()
	}()
	status = h.answer(w, r, answer)
	if h.upTo > 0 {
		rest, _ := io.ReadAll(r.Body) // the client may leave, having its answer
		h.mu.Lock()
		defer h.mu.Unlock()
		c.body = append(c.body, rest...)
	}
}

func (h *hook) answer(w http.ResponseWriter, r *http.Request, a reply) (status int) {
	if a.after > 0 || a.hang {
		timer := time.NewTimer(cmp.Or(a.after, patience))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return 0
		}
	}
	if a.cut {
		panic(http.ErrAbortHandler)
	}
	for pair := range slices.Chunk(a.header, 2) {
		w.Header().Add(pair[0], pair[1])
	}
	status = cmp.Or(a.status, http.StatusOK)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, a.body)
	if h.upTo > 0 {
		_ = http.NewResponseController(w).Flush()
	}
	return status
}

// got reads a request.
func (h *hook) got(r *http.Request) *call {
	c := &call{
		at: h.bed.since(), key: r.Header.Get("kafka-key"), id: r.Header.Get("webhook-id"),
		header: r.Header.Clone(),
	}
	// What net/http takes out of the header belongs to the request all the same.
	c.header.Set("host", r.Host)
	c.header.Set("content-length", strconv.FormatInt(r.ContentLength, 10))
	if len(r.TransferEncoding) > 0 {
		c.header["Transfer-Encoding"] = r.TransferEncoding
	}
	number := func(name string) int {
		n, err := strconv.Atoi(r.Header.Get(name))
		if err != nil {
			h.bed.t.Errorf("request to %s: %s: %v", h.name, name, err)
		}
		return n
	}
	c.record = coordinates{r.Header.Get("kafka-topic"), int32(number("kafka-partition")), int64(number("kafka-offset"))}
	c.delivery, c.attempt = number("sharehook-delivery"), number("sharehook-attempt")
	body := io.Reader(r.Body)
	if h.upTo > 0 {
		body = io.LimitReader(body, h.upTo)
	}
	var err error
	if c.body, err = io.ReadAll(body); err != nil {
		h.bed.t.Errorf("request to %s: body of %v: %v", h.name, c.record, err)
	}
	return c
}

// all are the requests so far.
func (h *hook) all() []call {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := make([]call, len(h.calls))
	for i, c := range h.calls {
		calls[i] = *c
	}
	return calls
}

// of are the requests with a record of that key.
func (h *hook) of(key string) []call {
	var calls []call
	for _, c := range h.all() {
		if c.key == key {
			calls = append(calls, c)
		}
	}
	return calls
}

// answers changes what the endpoint answers.
func (h *hook) answers(s script) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.script = s
}

// inFlight is the number of requests that are not answered.
func (h *hook) inFlight() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.running
}

// mostInFlight is the most there have been at a time.
func (h *hook) mostInFlight() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.most
}

// early has the endpoint answer when it has read so much of a body. To be
// called before the first request.
func (h *hook) early(bytes int64) { h.upTo = bytes }

func (h *hook) connected(_ net.Conn, state http.ConnState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if state == http.StateNew {
		h.conns++
	}
}

// connections is how many have been made.
func (h *hook) connections() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conns
}
