package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/sharehook/sharehook/gateway/telemetry/otlptest"
)

func TestSpansArrive(t *testing.T) {
	for _, protocol := range []otlptest.Protocol{otlptest.HTTP, otlptest.GRPC} {
		t.Run(string(protocol), func(t *testing.T) {
			collector := otlptest.Start(t, otlptest.Options{Protocol: protocol})
			collector.Setenv(t)
			tel := newTelemetry(t, Options{Version: "1.2.3", InstanceID: "gateway-0"})
			header := throughGateway(tel, propagation.MapCarrier{"traceparent": recordParent})
			if err := tel.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}

			spans := map[string]otlptest.Span{}
			for _, span := range collector.Spans() {
				spans[span.Name] = span
			}
			deliver, attempt := spans["deliver"], spans["POST"]
			if deliver.TraceID != recordTrace || deliver.ParentID != "00f067aa0ba902b7" {
				t.Errorf("the delivery's span %+v does not continue the record's trace", deliver)
			}
			if attempt.TraceID != recordTrace || attempt.ParentID != deliver.SpanID || attempt.Kind != "client" {
				t.Errorf("the attempt's span %+v is no child of the delivery's", attempt)
			}
			if got, want := header.Get("traceparent"), "00-"+recordTrace+"-"+attempt.SpanID+"-01"; got != want {
				t.Errorf("traceparent %q, want %q", got, want)
			}
			for key, want := range map[string]string{
				"service.name": "sharehook", "service.version": "1.2.3", "service.instance.id": "gateway-0",
			} {
				if got := deliver.Resource[key]; got != want {
					t.Errorf("%s %q, want %q", key, got, want)
				}
			}
		})
	}
}

func TestMetricsArrive(t *testing.T) {
	for _, protocol := range []otlptest.Protocol{otlptest.HTTP, otlptest.GRPC} {
		t.Run(string(protocol), func(t *testing.T) {
			collector := otlptest.Start(t, otlptest.Options{Protocol: protocol})
			collector.Setenv(t)
			t.Setenv("OTEL_SERVICE_NAME", "hooks")
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=hooks-3")
			tel := newTelemetry(t, Options{InstanceID: "gateway-0"})
			gone, m := tel.Endpoint("gone"), tel.Endpoint("orders", "orders")
			defer m.Close()
			deliver(m)
			gone.Close()
			if err := tel.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}

			found := map[string]otlptest.Metric{}
			for _, metric := range collector.Metrics() {
				if metric.Attributes["endpoint"] == "gone" {
					t.Errorf("%s of an endpoint that is gone", metric.Name)
				}
				if topic := metric.Attributes["topic"]; topic == "" || topic == "orders" {
					found[metric.Name] = metric
				}
			}
			if got := found["sharehook_records_acquired_total"]; got.Value != 3 || got.Attributes["endpoint"] != "orders" ||
				got.Scope != "github.com/sharehook/sharehook" {
				t.Errorf("acquired: %+v", got)
			}
			if got := found["sharehook_attempt_duration_seconds"]; got.Count != 4 || got.Unit != "s" {
				t.Errorf("duration of attempts: %+v", got)
			}
			if got := found["sharehook_share_group_lag"]; got.Value != 17 {
				t.Errorf("lag: %+v", got)
			}
			resource := found["sharehook_records_acquired_total"].Resource
			if resource["service.name"] != "hooks" || resource["service.instance.id"] != "hooks-3" {
				t.Errorf("the environment does not win: resource %v", resource)
			}
		})
	}
}

// A collector in trouble costs telemetry, and nothing else: neither a record's
// way nor the end of the process waits for it.
func TestCollectorInTrouble(t *testing.T) {
	for _, protocol := range []otlptest.Protocol{otlptest.HTTP, otlptest.GRPC} {
		for _, mode := range []otlptest.Mode{otlptest.Refuses, otlptest.Hangs, otlptest.Swallows} {
			t.Run(string(protocol)+" "+string(mode), func(t *testing.T) {
				collector := otlptest.Start(t, otlptest.Options{Mode: mode, Protocol: protocol})
				collector.Setenv(t)
				t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")      // ms: an export runs when the shutdown comes
				t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "10") // ms
				tel := newTelemetry(t, Options{})
				m := tel.Endpoint("orders", "orders")
				defer m.Close()
				tracer := tel.TracerProvider().Tracer("test")

				// More spans than the queue holds (2048), while exports hang.
				begin := time.Now()
				for range 10_000 {
					_, span := tracer.Start(context.Background(), "deliver", trace.WithSpanKind(trace.SpanKindConsumer))
					deliveredRecord(m)
					span.End()
				}
				// Far above what the calls cost, far below a timeout of an export.
				if elapsed := time.Since(begin); elapsed > 5*time.Second {
					t.Errorf("10000 records took %s", elapsed)
				}
				if mode != otlptest.Refuses {
					<-collector.Requested()
				}

				const grace = 200 * time.Millisecond
				ctx, cancel := context.WithTimeout(t.Context(), grace)
				defer cancel()
				begin = time.Now()
				err := tel.Shutdown(ctx)
				if elapsed := time.Since(begin); elapsed > grace+2*time.Second {
					t.Errorf("shutdown took %s", elapsed)
				}
				// One that refuses may have failed for good before the deadline.
				if mode != otlptest.Refuses && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v, want that of the deadline", err)
				}
			})
		}
	}
}

func TestFailedExportsAreLoggedWithoutPaths(t *testing.T) {
	otlptest.Start(t, otlptest.Options{Mode: otlptest.Refuses}).Setenv(t)
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	var log bytes.Buffer
	tel := newTelemetry(t, Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	_, span := tel.TracerProvider().Tracer("test").Start(context.Background(), "deliver")
	span.End()
	if err := tel.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}

	var line struct{ Level, Component, Error string }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("the log is no single line: %v: %s", err, log.String())
	}
	if line.Level != "WARN" || line.Component != "telemetry" || line.Error == "" {
		t.Errorf("line %+v", line)
	}
	if strings.Contains(line.Error, "/v1/traces") {
		t.Errorf("error %q shows the path", line.Error)
	}
}
