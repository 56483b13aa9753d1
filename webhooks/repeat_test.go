package webhooks

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// A record that brings its endpoint down after it was read must not be sent on
// each of the connections that are left.
func TestFatalRecordIsNotMultiplied(t *testing.T) {
	t.Parallel()
	const concurrency = 16
	var fatal atomic.Int32
	together := make(chan struct{})
	var arrived atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Webhook-Id") {
		case "warm":
			if arrived.Add(1) == concurrency {
				close(together)
			}
			<-together // so that each takes a connection of its own
		case "fatal":
			fatal.Add(1)
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
	}))
	t.Cleanup(s.Close)
	e := newEndpoint(t, s.URL, func(o *Options) { o.Concurrency = concurrency })
	var warm sync.WaitGroup
	for range concurrency {
		warm.Go(func() {
			m := message()
			m.ID = "warm"
			want(t, post(t, e, m), Accept, ReasonOK, http.StatusOK)
		})
	}
	warm.Wait()
	m := message()
	m.ID = "fatal"
	want(t, post(t, e, m), Release, ReasonReset, 0)
	if got := fatal.Load(); got > 2 {
		t.Errorf("it was sent %d times in one attempt, want at most 2", got)
	}
}
