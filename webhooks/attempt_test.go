package webhooks

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestAttemptSendsTheRecord(t *testing.T) {
	r := newReceiver(t)
	e := newEndpoint(t, r.URL+"/hooks/orders?token=t", nil)
	result := post(t, e, message())
	want(t, result, Accept, ReasonOK, http.StatusOK)
	got := r.last(t)
	if got.method != http.MethodPost || got.path != "/hooks/orders?token=t" || string(got.body) != "value" {
		t.Errorf("got %s %s %q", got.method, got.path, got.body)
	}
	for name, value := range map[string]string{"webhook-id": "m-1", "kafka-offset": "42", "user-agent": "sharehook/devel", "content-length": "5"} {
		if got.header.Get(name) != value {
			t.Errorf("%s: %q, want %q", name, got.header.Get(name), value)
		}
	}
	if got.header.Get("accept-encoding") != "" {
		t.Error("compression was asked for")
	}
	if result.Elapsed <= 0 || result.Cause != nil {
		t.Errorf("got %+v", result)
	}
}

func TestAttemptSendsEveryValue(t *testing.T) {
	r := newReceiver(t)
	e := newEndpoint(t, r.URL, nil)
	for name, value := range map[string][]byte{
		"tombstone": nil, "empty": {}, "binary": {0, 1, 255}, "1 MiB": bytes.Repeat([]byte("v"), 1<<20),
	} {
		m := message()
		m.Value = value
		want(t, post(t, e, m), Accept, ReasonOK, http.StatusOK)
		got := r.last(t)
		if !bytes.Equal(got.body, value) {
			t.Errorf("%s: %d bytes arrived", name, len(got.body))
		}
		if told := got.header.Get("kafka-tombstone") == "true"; told != (value == nil) {
			t.Errorf("%s: kafka-tombstone %v", name, told)
		}
		if len(value) == 0 && got.header.Get("content-length") != "0" {
			t.Errorf("%s: an empty body without a length", name)
		}
	}
}

func TestAttemptDeliversHugeKeys(t *testing.T) {
	r := newReceiver(t)
	e := newEndpoint(t, r.URL, nil)
	m := message()
	m.Key = bytes.Repeat([]byte("k"), 512<<10)
	want(t, post(t, e, m), Accept, ReasonOK, http.StatusOK)
	if got := r.last(t); got.header.Get("kafka-key") != "" || got.header.Get("sharehook-headers-dropped") != "1" {
		t.Errorf("got %v", got.header)
	}
}

// A second attempt carries the whole body again, the same id, and a timestamp of
// its own.
func TestAttemptAgain(t *testing.T) {
	r := newReceiver(t)
	now := time.Unix(1700000000, 0)
	e := newEndpoint(t, r.URL, func(o *Options) { o.Now = func() time.Time { return now } })
	m := message()
	m.Value = bytes.Repeat([]byte("v"), 100000)
	for number := 1; number <= 3; number++ {
		e.Attempt(t.Context(), m, Attempt{Number: number})
		now = now.Add(time.Minute)
	}
	for i, got := range r.requests() {
		if !bytes.Equal(got.body, m.Value) || got.header.Get("webhook-id") != "m-1" || got.header.Get("idempotency-key") != "m-1" {
			t.Errorf("attempt %d: %d bytes, id %q", i+1, len(got.body), got.header.Get("webhook-id"))
		}
		if at := got.header.Get("webhook-timestamp"); at != fmt.Sprint(1700000000+60*i) {
			t.Errorf("attempt %d: timestamp %s", i+1, at)
		}
		if number := got.header.Get("sharehook-attempt"); number != fmt.Sprint(i+1) {
			t.Errorf("attempt %d: number %s", i+1, number)
		}
	}
}

func TestAttemptFollowsNoRedirect(t *testing.T) {
	elsewhere := newReceiver(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, status)
		})
		want(t, post(t, newEndpoint(t, url, nil), message()), Reject, ReasonStatus3xx, status)
	}
	if n := len(elsewhere.requests()); n > 0 {
		t.Errorf("%d requests arrived elsewhere", n)
	}
}

func TestAttemptReadsTheAnswer(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.Header().Set("sharehook-action", "accept")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, strings.Repeat("busy ", 1000))
	})
	result := post(t, newEndpoint(t, url, nil), message())
	want(t, result, Release, ReasonStatus5xx, 503)
	if result.RetryAfter != 7*time.Second || !result.HoldEndpoint || string(result.Excerpt) != strings.Repeat("busy ", 1000)[:maxExcerpt] {
		t.Errorf("got %v, %v, %d bytes", result.RetryAfter, result.HoldEndpoint, len(result.Excerpt))
	}
	obeying := newEndpoint(t, url, func(o *Options) { o.HonourAction = true })
	want(t, post(t, obeying, message()), Accept, ReasonAction, 503)
	ignoring := newEndpoint(t, url, func(o *Options) { o.MaxRetryAfter = -1 })
	if result := post(t, ignoring, message()); result.RetryAfter != 0 || result.HoldEndpoint {
		t.Errorf("got %+v", result)
	}
}

func TestAttemptInformationalAnswersAreNotFinal(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusContinue)
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusProcessing)
		w.WriteHeader(http.StatusTeapot)
	})
	want(t, post(t, newEndpoint(t, url, nil), message()), Reject, ReasonStatus4xx, 418)
}

func TestAttemptSwitchingProtocolsIsNoAnswer(t *testing.T) {
	url := serveTCP(t, func(c net.Conn, _ int) {
		readRequest(c)
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhello")
		_, _ = io.Copy(io.Discard, c) // until the client closes
	})
	want(t, post(t, newEndpoint(t, url, nil), message()), Release, ReasonProtocol, 101)
}

// readRequest reads one request with its body.
func readRequest(c net.Conn) {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err == nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
}

func TestAttemptStopped(t *testing.T) {
	arrived := make(chan struct{}, 1)
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	errStop := errors.New("draining")
	for name, stop := range map[string]func(*Endpoint, context.CancelCauseFunc){
		"by the caller": func(_ *Endpoint, cancel context.CancelCauseFunc) { cancel(errStop) },
		"by closing":    func(e *Endpoint, _ context.CancelCauseFunc) { e.Close() },
	} {
		e := newEndpoint(t, url, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-arrived
			stop(e, cancel)
		}()
		result := e.Attempt(ctx, message(), Attempt{Number: 1})
		cancel(nil)
		want(t, result, Release, ReasonStopped, 0)
		if name == "by the caller" && !errors.Is(result.Cause, errStop) {
			t.Errorf("%s: cause %v", name, result.Cause)
		}
	}
	e := newEndpoint(t, url, nil)
	e.Close()
	e.Close()
	want(t, post(t, e, message()), Release, ReasonStopped, 0)
}

// An endpoint answers before it has read the body. Buffers that the transport
// still reads must not be used for another record: each body is filled with its
// own id, and whatever arrives of it consists of that id.
func TestAttemptEarlyAnswersMixNoBodies(t *testing.T) {
	var mu sync.Mutex
	var mixed []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("webhook-id")
		start := make([]byte, 1<<10)
		_, _ = io.ReadFull(r.Body, start)
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		rest, _ := io.ReadAll(r.Body)
		for _, part := range [][]byte{start, rest} {
			for chunk := range slices.Chunk(part, 8) {
				if len(chunk) == 8 && string(chunk) != id {
					mu.Lock()
					mixed = append(mixed, id+" got "+string(chunk))
					mu.Unlock()
					return
				}
			}
		}
	}))
	e := newEndpoint(t, server.URL, func(o *Options) { o.Concurrency = 8 })
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 20 {
				m := message()
				m.ID = fmt.Sprintf("%08d", worker*1000+i)
				m.Value = bytes.Repeat([]byte(m.ID), 32<<10)
				want(t, post(t, e, m), Accept, ReasonOK, http.StatusOK)
			}
		})
	}
	wg.Wait()
	e.Close()
	server.Close() // waits for the handlers
	if len(mixed) > 0 {
		t.Errorf("bodies were mixed: %q", mixed)
	}
}

// An endpoint refuses a large body after its beginning and closes: the refusal
// counts, not the broken write. Without it a record that is too large would be
// tried for ever.
func TestAttemptRefusedInTheMiddle(t *testing.T) {
	url := serveTCP(t, func(c net.Conn, _ int) {
		_, _ = io.ReadFull(c, make([]byte, 1<<10))
		_, _ = io.WriteString(c, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
	})
	e := newEndpoint(t, url, nil)
	m := message()
	m.Value = make([]byte, 8<<20)
	for range 10 {
		want(t, post(t, e, m), Reject, ReasonStatus4xx, 413)
	}
}
