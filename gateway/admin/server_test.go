package admin

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
)

// start runs a server on a free port of the loopback.
func start(t *testing.T, opts Options) (*Server, string) {
	t.Helper()
	opts.Listen = "127.0.0.1:0"
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, "http://" + addr.String()
}

// get asks once, on a connection of its own.
func get(t *testing.T, url string) (*http.Response, error) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return transport.RoundTrip(request)
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	content, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestServes(t *testing.T) {
	t.Parallel()
	s, url := start(t, Options{})
	r, err := get(t, url+"/healthz")
	if err != nil {
		t.Fatal(err)
	}
	if got := body(t, r); r.StatusCode != http.StatusOK || got != "{\"status\":\"ok\"}\n" {
		t.Errorf("status %d, body %q", r.StatusCode, got)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if r, err := get(t, url+"/healthz"); err == nil {
		_ = r.Body.Close()
		t.Error("answers after the shutdown")
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("second shutdown: %v", err)
	}
	if _, err := s.Start(t.Context()); err == nil {
		t.Error("starts after the shutdown")
	}
}

func TestShutdownLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	asked, draining := make(chan struct{}), make(chan struct{})
	s, url := start(t, Options{Ready: func() (bool, []Condition) {
		close(asked)
		<-draining
		return false, []Condition{{Reason: "draining"}}
	}})
	status := make(chan int, 1)
	go func() {
		r, err := get(t, url+"/readyz")
		if err != nil {
			status <- 0
			return
		}
		_ = r.Body.Close()
		status <- r.StatusCode
	}()
	<-asked
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(t.Context()) }()
	close(draining)
	if got := <-status; got != http.StatusServiceUnavailable {
		t.Errorf("status %d, want 503", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestShutdownCutsOffAtItsDeadline(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}), make(chan struct{})
	s, url := start(t, Options{Metrics: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done() // ends when the connection is cut
		close(release)
	})})
	go func() {
		if r, err := get(t, url+"/metrics"); err == nil {
			_ = r.Body.Close()
		}
	}()
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	<-release
}

func TestWithoutAddressThereIsNoServer(t *testing.T) {
	t.Parallel()
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	addr, err := s.Start(t.Context())
	if addr != nil || err != nil {
		t.Errorf("address %v, error %v, want none", addr, err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAddressThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{Listen: "8400"}); err == nil {
		t.Error("an address without a port is taken")
	}

	var config net.ListenConfig
	taken, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	s, err := New(Options{Listen: taken.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Start(t.Context())
	if _, ok := errors.AsType[*net.OpError](err); !ok {
		t.Fatalf("error %v, want a network error", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
