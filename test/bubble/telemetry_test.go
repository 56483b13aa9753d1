package bubble

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/gateway/telemetry/otlptest"
)

// These tests run in real time: a collector listens on a real socket.

const (
	producerTrace = "0af7651916cd43dd8448eb211c80319c"
	producerSpan  = "b7ad6b7169203331"
)

// spansOf are the spans of a trace with that name, in the order of arrival.
func spansOf(collector *otlptest.Collector, trace, name string) []otlptest.Span {
	return slices.DeleteFunc(collector.Spans(), func(s otlptest.Span) bool { return s.TraceID != trace || s.Name != name })
}

// A trace goes from the producer's span in the record, through the delivery
// and its attempts, to the endpoint.
func TestTraceFromProducerToEndpoint(t *testing.T) {
	for _, protocol := range []otlptest.Protocol{otlptest.HTTP, otlptest.GRPC} {
		t.Run(string(protocol), func(t *testing.T) {
			collector := otlptest.Start(t, otlptest.Options{Protocol: protocol})
			collector.Setenv(t)
			b := newBed(t, broker{real: true})
			h := b.hook("orders", statuses(503, 200))
			b.produce(&kgo.Record{Topic: "orders", Key: []byte("traced"), Value: []byte("v"), Headers: header(
				"traceparent", "00-"+producerTrace+"-"+producerSpan+"-01", "tracestate", "shop=7", "baggage", "tenant=42")})
			b.keyed("orders", "untraced")
			g := b.ready(b.file(h.endpoint("retry: {initial_interval: 10ms, max_interval: 10ms}")))
			b.settled("orders")
			b.account(account{})
			g.drain()

			calls := h.of("traced")
			delivers, posts := spansOf(collector, producerTrace, "deliver"), spansOf(collector, producerTrace, "POST")
			if len(delivers) != 1 || len(posts) != 2 || len(calls) != 2 {
				t.Fatalf("%d spans deliver, %d spans POST, %d requests, want 1, 2, 2", len(delivers), len(posts), len(calls))
			}
			deliver := delivers[0]
			if deliver.ParentID != producerSpan || deliver.Kind != "consumer" || deliver.Failed || !slices.Contains(deliver.Events, "wait") {
				t.Errorf("deliver: %+v", deliver)
			}
			for name, want := range map[string]string{
				"messaging.system": "kafka", "messaging.destination.name": "orders", "messaging.consumer.group.name": "sharehook.orders",
				"messaging.message.id": calls[0].id, "sharehook.endpoint": "orders", "sharehook.delivery_count": "1",
				"sharehook.attempts": "2", "sharehook.acknowledgement": "accept",
			} {
				if deliver.Attributes[name] != want {
					t.Errorf("deliver: %s is %q, want %q", name, deliver.Attributes[name], want)
				}
			}
			for i, c := range calls {
				post := posts[i]
				if post.ParentID != deliver.SpanID || post.Kind != "client" || post.Failed != (i == 0) ||
					post.Attributes["http.response.status_code"] != fmt.Sprint(c.status) {
					t.Errorf("POST %d: %+v", i+1, post)
				}
				wants("traceparent", "00-"+producerTrace+"-"+post.SpanID+"-01", "tracestate", "shop=7", "baggage", "tenant=42")(t, c)
			}
			if d := g.of("traced")[0]; d.TraceID != producerTrace {
				t.Errorf("the delivery's trace is %s", d.TraceID)
			}

			d := g.of("untraced")[0]
			own := spansOf(collector, d.TraceID, "deliver")
			if d.TraceID == producerTrace || len(own) != 1 || own[0].ParentID != "" ||
				!strings.HasPrefix(h.of("untraced")[0].header.Get("traceparent"), "00-"+d.TraceID+"-") {
				t.Errorf("a record without a trace: trace %s, spans %+v", d.TraceID, own)
			}
		})
	}
}

// A collector that refuses, hangs or swallows costs no record and no time but
// the two seconds of a flush.
func TestCollectorInTrouble(t *testing.T) {
	const records = 200
	run := func(t *testing.T, prepare func()) (delivered, drained time.Duration) {
		t.Helper()
		otlptest.ClearEnv(t)
		prepare()
		b := newBed(t, broker{real: true})
		h := b.hook("orders", func(c call) reply {
			if c.record.offset%10 == 0 && c.attempt == 1 {
				return reply{status: 503}
			}
			return reply{}
		})
		g := b.ready(b.file(h.endpoint("retry: {initial_interval: 10ms, max_interval: 10ms}")))
		begun := time.Now()
		for i := range records {
			b.keyed("orders", fmt.Sprint(i))
		}
		b.await("all are answered", func() bool { return len(h.all()) == records+records/10 })
		delivered = time.Since(begun)
		b.settled("orders")
		b.account(account{})
		g.expectMetrics("orders", map[string]float64{
			`records_acknowledged_total{topic="orders",type="accept"}`: records,
			`attempts_total{reason="status_5xx",verdict="release"}`:    records / 10,
		})
		return delivered, g.drain()
	}
	delivered, drained := run(t, func() {})
	for _, o := range []otlptest.Options{
		{Mode: otlptest.Refuses, Protocol: otlptest.HTTP},
		{Mode: otlptest.Refuses, Protocol: otlptest.GRPC},
		{Mode: otlptest.Hangs, Protocol: otlptest.HTTP},
		{Mode: otlptest.Swallows, Protocol: otlptest.GRPC},
	} {
		t.Run(fmt.Sprint(o.Mode, " ", o.Protocol), func(t *testing.T) {
			inTrouble, end := run(t, func() {
				otlptest.Start(t, o).Setenv(t)
				t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10")     // ms: exports run all the time
				t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "50") // ms
			})
			// The machine is shared: what hangs would take ten seconds and more.
			if inTrouble > 3*delivered+2*time.Second {
				t.Errorf("delivering took %s, and %s without a collector", inTrouble, delivered)
			}
			if end > drained+2*time.Second+700*ms {
				t.Errorf("the drain took %s, and %s without a collector", end, drained)
			}
		})
	}
}

// The admin server answers on its socket until the drain is over.
func TestAdminServerWhileDraining(t *testing.T) {
	otlptest.ClearEnv(t)
	b := newBed(t, broker{real: true})
	h := b.hook("orders", func(call) reply { return reply{after: time.Second} })
	text := strings.Replace(b.file(h.endpoint()), `listen: ""`, "listen: 127.0.0.1:0", 1)
	g := b.ready(text)
	get := func(path string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+g.gateway.AdminAddress().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var doc map[string]any
		if err := json.NewDecoder(answer.Body).Decode(&doc); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return answer.StatusCode
	}
	if code := get("/readyz"); code != http.StatusOK {
		t.Errorf("/readyz: %d", code)
	}
	b.keyed("orders", "a")
	b.await("a request", func() bool { return h.inFlight() == 1 })
	g.drainIt()
	b.await("not ready", func() bool { return get("/readyz") == http.StatusServiceUnavailable })
	if code := get("/healthz"); code != http.StatusOK || h.inFlight() != 1 {
		t.Errorf("/healthz: %d while %d attempts finish", code, h.inFlight())
	}
	<-g.ended
	if d := g.of("a"); len(d) != 1 || d[0].Acknowledgement != "accept" {
		t.Errorf("deliveries %+v", d)
	}
}
