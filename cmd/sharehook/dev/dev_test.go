package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/gateway"
)

// limit is far more than any run in here takes.
const limit = time.Minute

// run runs dev to its end.
func run(t *testing.T, o Options) (Summary, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var out bytes.Buffer
	if o.Out == nil {
		o.Out = &out
	}
	if testing.Verbose() {
		o.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	o.rate = 400
	s, err := Run(ctx, o)
	if ctx.Err() != nil {
		t.Fatalf("it did not end by itself: %+v\n%s", s, out.String())
	}
	return s, out.String(), err
}

func TestSample(t *testing.T) {
	const records = 200
	s, out, err := run(t, Options{Records: records})
	if err != nil {
		t.Fatal(err)
	}
	rejected, stubborn := 0, 0
	for n := 1; n <= records; n++ {
		switch {
		case sampleOrder(n).Items == 0:
			rejected++
		case n%stubbornEvery == stubbornAt:
			stubborn++
		}
	}
	want := Counts{Settled: records, Accepted: records - rejected, Rejected: rejected, DeadLetters: rejected, Released: s.Released}
	if s.Counts != want || s.Produced != records || s.Expected != records {
		t.Errorf("got %+v of %d, want %+v", s.Counts, s.Produced, want)
	}
	if s.Released < stubborn {
		t.Errorf("%d releases, want at least %d", s.Released, stubborn)
	}
	if s.OnTopics != int64(rejected) || len(s.LetterTopics) != 1 {
		t.Errorf("%d dead letters on %v, want %d", s.OnTopics, s.LetterTopics, rejected)
	}
	if s.Elapsed <= 0 || s.Rate() <= 0 {
		t.Errorf("elapsed %s, rate %f", s.Elapsed, s.Rate())
	}
	if accepted := strings.Count(out, "  accept  "); accepted != s.Accepted {
		t.Errorf("%d lines of accepted records, want %d", accepted, s.Accepted)
	}
	if letters := strings.Count(out, "  dead letter\n"); letters != rejected {
		t.Errorf("%d lines of dead letters, want %d", letters, rejected)
	}
	if strings.Contains(out, "\x1b") {
		t.Error("colours, though nobody asked for them")
	}
}

// userFile is a user's configuration with three endpoints at one address.
const userFile = `
kafka:
  brokers: [nobody.invalid:9092]
  tls: {}
admin:
  listen: ""
defaults:
  retry: {attempts: 1, initial_interval: 10ms, max_interval: 20ms}
  share_group: {max_deliveries: 3}
  breaker: {enabled: false} # two endpoints accept nothing, on purpose
endpoints:
  - {name: pay, topics: [payments], url: "%[1]s/accept"}
  - {name: shop, topics: [payments, '^shop\.[a-z]+$'], url: "%[1]s/reject", dead_letter: {topic: dead.shop}}
  - {name: drop, topics: [audit], url: "%[1]s/release", dead_letter: {by: none}}
  - {name: off, topics: [nothing], url: "%[1]s/off", enabled: false}
`

func endpoints(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/accept":
		case "/reject":
			w.WriteHeader(http.StatusUnprocessableEntity)
		case "/release":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			t.Errorf("a POST to %s", r.URL.Path)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("test", []byte(text), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestFile(t *testing.T) {
	cfg := parse(t, fmt.Sprintf(userFile, endpoints(t).URL))
	s, out, err := run(t, Options{Config: cfg, Records: 40})
	if err != nil {
		t.Fatal(err)
	}
	// audit, payments, shop.a in turn; a record of payments is for two.
	want := []Counts{
		{Endpoint: "pay", Settled: 10, Accepted: 10},
		{Endpoint: "shop", Settled: 20, Rejected: 20, DeadLetters: 20},
		{Endpoint: "drop", Settled: 10, Rejected: 10, Released: 20},
	}
	for i, c := range s.Endpoints {
		if c != want[i] {
			t.Errorf("got %+v, want %+v", c, want[i])
		}
	}
	if s.Settled != 40 || s.Produced != 30 || s.OnTopics != 20 {
		t.Errorf("got %+v", s)
	}
	for _, said := range []string{
		"kafka section is not used",
		"written by the gateway",
		"the file leaves them to the broker for: pay, shop",
		"audit, payments, shop.a",
	} {
		if !strings.Contains(out, said) {
			t.Errorf("it does not say %q:\n%s", said, out)
		}
	}
}

func TestAdminPortIsTaken(t *testing.T) {
	var lc net.ListenConfig
	taken, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg := parse(t, fmt.Sprintf(`
kafka: {brokers: ["localhost:9092"]}
admin: {listen: "%s"}
endpoints: [{name: a, topics: [a], url: "%s/accept"}]
`, taken.Addr(), endpoints(t).URL))
	s, out, err := run(t, Options{Config: cfg, Records: 1})
	if err != nil {
		t.Fatal(err)
	}
	if s.Accepted != 1 || strings.Contains(out, taken.Addr().String()) || !strings.Contains(out, "/readyz") {
		t.Errorf("got %+v\n%s", s, out)
	}
}

func TestNothingToDo(t *testing.T) {
	cfg := parse(t, `
kafka: {brokers: ["localhost:9092"]}
endpoints: [{name: a, topics: [a], url: "http://localhost:1", enabled: false}]
`)
	if _, _, err := run(t, Options{Config: cfg}); !errors.Is(err, ErrNothingToDo) {
		t.Errorf("got %v", err)
	}
}

// onLine calls a function at the first line of a delivery.
type onLine struct {
	once sync.Once
	call func()
}

func (w *onLine) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("  accept  ")) {
		w.once.Do(w.call)
	}
	return len(p), nil
}

func TestStop(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	s, err := Run(ctx, Options{Out: &onLine{call: stop}, rate: 200})
	if err != nil {
		t.Fatal(err)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Fatal("nothing was accepted")
	}
	if s.Settled == 0 || s.Settled > s.Produced {
		t.Errorf("got %+v", s)
	}
}

func TestKill(t *testing.T) {
	asked := make(chan struct{})
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		once.Do(func() { close(asked) })
		<-r.Context().Done() // never answers
	}))
	defer server.Close()
	cfg := parse(t, fmt.Sprintf(`
kafka: {brokers: ["localhost:9092"]}
admin: {listen: ""}
endpoints: [{name: a, topics: [a], url: "%s", timeout: 10m}]
`, server.URL))
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	kill := make(chan struct{})
	go func() {
		select {
		case <-asked:
		case <-ctx.Done():
		}
		stop()
		close(kill)
	}()
	s, err := Run(ctx, Options{Config: cfg, Kill: kill})
	if !errors.Is(err, gateway.ErrKilled) {
		t.Errorf("got %v", err)
	}
	if s.Settled != 0 || s.Produced == 0 {
		t.Errorf("got %+v", s)
	}
}
