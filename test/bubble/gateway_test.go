package bubble

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/gateway"
)

// file is the text of a configuration with these endpoints. It has no admin
// server, as that listens on a real socket, which stops a bubble's clock.
func (b *bed) file(endpoints ...string) string {
	return "kafka: {brokers: [\"" + b.broker.ListenAddrs()[0] + "\"]}\nadmin: {listen: \"\"}\nendpoints:\n" + strings.Join(endpoints, "")
}

// endpoint is an endpoint's part of the file: it reads the topic of its own
// name from the beginning and has no dead letters, unless keys say otherwise.
// Each key is "name: value" in one line.
func (h *hook) endpoint(keys ...string) string { return endpoint(h.name, h.url(), keys...) }

func endpoint(name, url string, keys ...string) string {
	all := []string{"name: " + name, "url: " + url}
	for _, key := range append(keys, "topics: ["+name+"]", "share_group: {start: earliest}", "dead_letter: {by: none}") {
		word, _, _ := strings.Cut(key, ":")
		given := func(other string) bool { return strings.HasPrefix(other, word+":") }
		if !slices.ContainsFunc(all, given) {
			all = append(all, key)
		}
	}
	return "  - " + strings.Join(all, "\n    ") + "\n"
}

// gatewayRun is a gateway that runs.
type gatewayRun struct {
	bed     *bed
	gateway *gateway.Gateway
	log     *logbook
	drainIt context.CancelFunc
	killIt  chan struct{}
	ended   chan struct{}
	err     error // once ended is closed

	mu         sync.Mutex
	deliveries []delivery
}

// delivery is a finished delivery and when it finished.
type delivery struct {
	gateway.Delivery

	at time.Duration
}

// start runs a gateway, and ends it with the scenario at the latest.
func (b *bed) start(text string, change ...func(*gateway.Options)) *gatewayRun {
	b.t.Helper()
	cfg, err := config.Parse("sharehook.yaml", []byte(text), config.Options{})
	if err != nil {
		b.t.Fatalf("%v\nin\n%s", err, text)
	}
	g := &gatewayRun{bed: b, log: &logbook{}, killIt: make(chan struct{}), ended: make(chan struct{})}
	o := gateway.Options{
		Config:       cfg,
		Version:      "1.2.3",
		InstanceID:   "gateway-" + strconv.Itoa(len(b.gateways)),
		Logger:       slog.New(slog.NewJSONHandler(g.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		OnDelivery:   g.delivered,
		KafkaOptions: []kgo.Opt{kgo.Dialer(b.dial), kgo.MetadataMinAge(100 * time.Millisecond)},
		Dial:         b.dial,
	}
	for _, f := range change {
		f(&o)
	}
	if g.gateway, err = gateway.New(o); err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	g.drainIt = cancel
	b.gateways = append(b.gateways, g)
	go func() {
		g.err = g.gateway.Run(ctx, g.killIt)
		close(g.ended)
	}()
	b.t.Cleanup(func() {
		cancel()
		<-g.ended
	})
	return g
}

// ready starts a gateway and waits until it is ready.
func (b *bed) ready(text string, change ...func(*gateway.Options)) *gatewayRun {
	b.t.Helper()
	g := b.start(text, change...)
	b.await("the gateway is ready", func() bool { return g.readiness().Ready })
	return g
}

func (g *gatewayRun) delivered(d gateway.Delivery) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deliveries = append(g.deliveries, delivery{d, g.bed.since()})
}

// all are the deliveries that have finished.
func (g *gatewayRun) all() []delivery {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.deliveries)
}

// of are the finished deliveries of the record with that key.
func (g *gatewayRun) of(key string) []delivery {
	return slices.DeleteFunc(g.all(), func(d delivery) bool { return string(d.Key) != key })
}

// drain drains the gateway and says how long that took.
func (g *gatewayRun) drain() time.Duration {
	g.bed.t.Helper()
	begun := time.Now()
	g.drainIt()
	<-g.ended
	if g.err != nil {
		g.bed.t.Errorf("the drain ended with %v", g.err)
	}
	return time.Since(begun)
}

// get asks the admin server.
func (g *gatewayRun) get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	g.gateway.AdminHandler().ServeHTTP(w, httptest.NewRequestWithContext(g.bed.t.Context(), http.MethodGet, path, nil))
	return w
}

// readiness is the answer of /readyz.
type readiness struct {
	Ready     bool
	Endpoints []struct {
		Endpoint string
		Ready    bool
		Reason   string
	}
}

func (g *gatewayRun) readiness() readiness {
	g.bed.t.Helper()
	w := g.get("/readyz")
	var r readiness
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
		g.bed.t.Fatalf("/readyz: %v", err)
	}
	if want := map[bool]int{true: http.StatusOK, false: http.StatusServiceUnavailable}[r.Ready]; w.Code != want {
		g.bed.t.Errorf("/readyz: status %d with ready %t", w.Code, r.Ready)
	}
	return r
}

// reason is why an endpoint is not ready; empty: it is.
func (g *gatewayRun) reason(endpoint string) string {
	g.bed.t.Helper()
	for _, e := range g.readiness().Endpoints {
		if e.Endpoint == endpoint {
			if !e.Ready && e.Reason == "" {
				g.bed.t.Errorf("/readyz: endpoint %q is not ready and does not say why", endpoint)
			}
			if !e.Ready {
				return e.Reason
			}
			return ""
		}
	}
	g.bed.t.Fatalf("/readyz: no endpoint %q", endpoint)
	return ""
}

// metrics are the series of /metrics by name and labels, as they are written
// there: sharehook_attempts_total{endpoint="orders",reason="ok",verdict="accept"}.
func (g *gatewayRun) metrics() map[string]float64 {
	g.bed.t.Helper()
	series := map[string]float64{}
	for line := range strings.Lines(g.get("/metrics").Body.String()) {
		line = strings.TrimSpace(line)
		name, value, ok := cutLast(line, " ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			g.bed.t.Fatalf("/metrics: %q: %v", line, err)
		}
		series[name] = n
	}
	return series
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// expectMetrics compares series, by name without sharehook_ and by labels
// without the endpoint.
func (g *gatewayRun) expectMetrics(endpoint string, want map[string]float64) {
	g.bed.t.Helper()
	got := g.metrics()
	for short, n := range want {
		name, labels, _ := strings.Cut(short, "{")
		labels = strings.TrimSuffix(labels, "}")
		all := slices.DeleteFunc(append(strings.Split(labels, ","), fmt.Sprintf("endpoint=%q", endpoint)),
			func(s string) bool { return s == "" })
		slices.Sort(all)
		full := fmt.Sprintf("sharehook_%s{%s}", name, strings.Join(all, ","))
		if got[full] != n {
			g.bed.t.Errorf("%s = %v, want %v", full, got[full], n)
		}
	}
}

// logbook keeps what a gateway has logged, in JSON.
type logbook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write takes a line.
func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String is all of it.
func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// lines are those with this message.
func (l *logbook) lines(msg string) []map[string]any {
	var found []map[string]any
	for line := range strings.Lines(l.String()) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == msg {
			found = append(found, fields)
		}
	}
	return found
}
