package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// counting counts the connections that a server saw.
func counting(s *httptest.Server) *atomic.Int64 {
	var conns atomic.Int64
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	return &conns
}

// 1000 POSTs in bursts of 64: no more connections than POSTs in flight. The
// margin is for a busy machine: net/http gives up a connection if its writing
// goroutine has not reported within 50 ms of the answer.
func TestConnectionsAreReused(t *testing.T) {
	const inFlight = 64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	conns := counting(s)
	s.Start()
	t.Cleanup(s.Close)
	e := newEndpoint(t, s.URL, func(o *Options) { o.Concurrency = inFlight })
	for range 1000 / inFlight {
		var burst sync.WaitGroup
		for range inFlight {
			burst.Go(func() { want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK) })
		}
		burst.Wait()
	}
	if n, open := conns.Load(), e.conns.size(); n > inFlight+inFlight/8 || open > inFlight {
		t.Errorf("%d connections for %d POSTs in flight, %d of them open", n, inFlight, open)
	}
}

// A server that closes idle connections, as all do, and an endpoint that has
// many of them: no POST is lost to that, however large.
func TestConnectionsThatDiedIdle(t *testing.T) {
	for _, size := range []int{0, 5, 100 << 10, 4 << 20} {
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
		}))
		t.Cleanup(s.Close)
		e := newEndpoint(t, s.URL, nil)
		m := message()
		m.Value = bytes.Repeat([]byte("v"), size)
		for range 20 {
			var burst sync.WaitGroup
			for range 4 {
				burst.Go(func() { want(t, post(t, e, m), Accept, ReasonOK, http.StatusOK) })
			}
			burst.Wait()
			s.CloseClientConnections()
		}
	}
}

// The same where the client cannot know yet: the server closes as it gets the
// second request on a connection.
func TestConnectionsThatDieUnderTheRequest(t *testing.T) {
	url := serveTCP(t, func(c net.Conn, _ int) {
		answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")(c)
		_, _ = io.ReadFull(c, make([]byte, 10))
	})
	e := newEndpoint(t, url, nil)
	m := message()
	for _, size := range []int{0, 5, 100 << 10, 4 << 20} {
		m.Value = bytes.Repeat([]byte("v"), size)
		for range 10 {
			want(t, post(t, e, m), Accept, ReasonOK, http.StatusOK)
		}
	}
}

// An endpoint that is never idle still gets new connections after a time, and
// the old ones are closed.
func TestConnectionsHaveAGreatestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dials atomic.Int64
		network := servePipe(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
		e := newEndpoint(t, "http://endpoint", viaPipe(network, func(o *Options) {
			dial := o.Dial
			o.Dial = func(ctx context.Context, n, a string) (net.Conn, error) {
				dials.Add(1)
				return dial(ctx, n, a)
			}
		}))
		for range 60 * 60 {
			want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
			pass(time.Second)
		}
		if n := dials.Load(); n < 12 || n > 15 {
			t.Errorf("%d connections in an hour, with 5 minutes for each", n)
		}
		if n := e.conns.size(); n != 1 {
			t.Errorf("%d connections are open", n)
		}
	})
}

// A long attempt that began on the old generation leaves no connection behind.
func TestConnectionsOfALongAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := servePipe(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			pass(20 * time.Minute)
		})
		e := newEndpoint(t, "http://endpoint", viaPipe(network, func(o *Options) { o.Timeout = time.Hour }))
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK) })
			pass(10 * time.Minute)
		}
		wg.Wait()
		synctest.Wait()
		if n := e.conns.size(); n != 1 {
			t.Errorf("%d connections are open, want the last one", n)
		}
	})
}

// An attempt has taken the old generation and no connection yet when the new one
// comes: the connection that it then dials is closed with it.
func TestConnectionsOfALateAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := servePipe(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
		e := newEndpoint(t, "http://endpoint", viaPipe(network, nil))
		old := e.enter()
		pass(maxConnAge)
		want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
		late := exchange{endpoint: e, parent: t.Context()}
		want(t, late.run(old.transport, parcel{header: http.Header{}}), Accept, ReasonOK, http.StatusOK)
		e.leave(old)
		synctest.Wait()
		if n := e.conns.size(); n != 1 {
			t.Errorf("%d connections are open, want the new one", n)
		}
	})
}

func TestCloseEndsWhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := servePipe(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
		e := newEndpoint(t, "http://endpoint", viaPipe(network, nil))
		post(t, e, message())
		e.Close()
		if n := e.conns.size(); n != 0 {
			t.Errorf("%d connections are open", n)
		}
		want(t, post(t, e, message()), Release, ReasonStopped, 0)
	})
}

// size is the number of connections that are open.
func (s *connSet) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// secureServer speaks TLS, and HTTP/2 if asked to.
func secureServer(t *testing.T, http2 bool, handler http.HandlerFunc) (s *httptest.Server, conns *atomic.Int64) {
	s = httptest.NewUnstartedServer(handler)
	s.EnableHTTP2 = http2
	conns = counting(s)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, conns
}

func TestConnectionsWithTLS(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		var protocols sync.Map
		s, conns := secureServer(t, http2, func(_ http.ResponseWriter, r *http.Request) {
			protocols.Store(r.Proto, true)
			_, _ = io.Copy(io.Discard, r.Body)
		})
		e := newEndpoint(t, s.URL, func(o *Options) {
			o.TLS = &tls.Config{RootCAs: trustOf(s)} //nolint:gosec // version by default
			o.Concurrency = 16
		})
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for range 10 {
					want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
				}
			})
		}
		wg.Wait()
		protocol, most := "HTTP/1.1", 16
		if http2 {
			protocol, most = "HTTP/2.0", 1
		}
		// net/http closes connections that HTTP/2 makes needless in its own time.
		few := eventually(func() bool { return e.conns.size() <= most })
		if _, ok := protocols.Load(protocol); !ok || !few {
			t.Errorf("http2 %v: %d connections are open, %d were; %s: %v", http2, e.conns.size(), conns.Load(), protocol, ok)
		}
	}
}

// An HTTP/2 server that takes few streams for each connection, and closes
// connections under the requests: none hangs, and all is well afterwards.
func TestHTTP2WithFewStreams(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	s.EnableHTTP2 = true
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 4}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	e := newEndpoint(t, s.URL, func(o *Options) {
		o.TLS = &tls.Config{RootCAs: trustOf(s)} //nolint:gosec // version by default
		o.Concurrency = 32
	})
	burst := func(check func(Result)) {
		var wg sync.WaitGroup
		for range 32 {
			wg.Go(func() {
				for range 5 {
					check(post(t, e, message()))
				}
			})
		}
		wg.Wait()
	}
	burst(func(got Result) { want(t, got, Accept, ReasonOK, http.StatusOK) })
	var once sync.Once
	burst(func(got Result) {
		once.Do(s.CloseClientConnections)
		if got.Reason == ReasonTimeout {
			t.Error("a request hung")
		}
	})
	burst(func(got Result) { want(t, got, Accept, ReasonOK, http.StatusOK) })
}

// HTTP/2 streams that the endpoint ends without an answer.
func TestHTTP2Failures(t *testing.T) {
	s, _ := secureServer(t, true, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	e := newEndpoint(t, s.URL, func(o *Options) { o.TLS = &tls.Config{RootCAs: trustOf(s)} }) //nolint:gosec // version by default
	want(t, post(t, e, message()), Release, ReasonReset, 0)

	big, _ := secureServer(t, true, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 64 {
			w.Header().Add("x-filler", string(bytes.Repeat([]byte{byte('a' + i%26)}, 10<<10)))
		}
		w.WriteHeader(http.StatusOK)
	})
	e = newEndpoint(t, big.URL, func(o *Options) { o.TLS = &tls.Config{RootCAs: trustOf(big)} }) //nolint:gosec // version by default
	want(t, post(t, e, message()), Release, ReasonProtocol, 0)
}

func TestStreamErrors(t *testing.T) {
	for code, reason := range map[uint32]Reason{0: ReasonReset, 1: ReasonProtocol, 2: ReasonReset, 7: ReasonReset, 8: ReasonReset, 11: ReasonProtocol} {
		if got := failureReason(streamError{Code: code}); got != reason {
			t.Errorf("code %d: got %s, want %s", code, got, reason)
		}
	}
}
