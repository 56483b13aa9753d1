package telemetry

import (
	"context"
	"net/http"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

const (
	recordTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	recordParent = "00-" + recordTrace + "-00f067aa0ba902b7-01"
)

// throughGateway does what the gateway does with a record's trace context: a
// span for the delivery, one for the attempt, and the headers of the request.
func throughGateway(tel *Telemetry, record propagation.MapCarrier) http.Header {
	ctx := tel.Propagator().Extract(context.Background(), record)
	tracer := tel.TracerProvider().Tracer("test")
	ctx, deliver := tracer.Start(ctx, "deliver")
	defer deliver.End()
	ctx, attempt := tracer.Start(ctx, "POST", trace.WithSpanKind(trace.SpanKindClient))
	defer attempt.End()
	header := make(http.Header)
	tel.Propagator().Inject(ctx, propagation.HeaderCarrier(header))
	return header
}

func TestTraceContextWithoutExporter(t *testing.T) {
	tests := []struct {
		name   string
		env    map[string]string
		record propagation.MapCarrier
		// traceparent is what the endpoint gets; "new" is any new trace.
		traceparent string
		flags       trace.TraceFlags
		baggage     string
	}{
		{
			name:        "the record's trace passes untouched",
			record:      propagation.MapCarrier{"traceparent": recordParent, "baggage": "tenant=7"},
			traceparent: recordParent, baggage: "tenant=7",
		},
		{
			name:        "without one, a trace begins",
			traceparent: "new", flags: trace.FlagsSampled,
		},
		{
			name:        "a record's traceparent that is none, likewise",
			record:      propagation.MapCarrier{"traceparent": "00-xyz"},
			traceparent: "new", flags: trace.FlagsSampled,
		},
		{
			name:        "sampled as the environment says",
			env:         map[string]string{"OTEL_TRACES_SAMPLER": "always_off"},
			traceparent: "new",
		},
		{
			name: "no trace begins if the SDK is disabled",
			env:  map[string]string{"OTEL_SDK_DISABLED": "true"},
		},
		{
			name:        "but the record's passes",
			env:         map[string]string{"OTEL_SDK_DISABLED": "TRUE"},
			record:      propagation.MapCarrier{"traceparent": recordParent},
			traceparent: recordParent,
		},
		{
			name:   "no propagator, no headers",
			env:    map[string]string{"OTEL_PROPAGATORS": "none"},
			record: propagation.MapCarrier{"traceparent": recordParent, "baggage": "tenant=7"},
		},
		{
			name:    "only what is asked for and known",
			env:     map[string]string{"OTEL_PROPAGATORS": "b3, baggage"},
			record:  propagation.MapCarrier{"traceparent": recordParent, "baggage": "tenant=7"},
			baggage: "tenant=7",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tel := quietWith(t, test.env)
			header := throughGateway(tel, test.record)
			if got := header.Get("baggage"); got != test.baggage {
				t.Errorf("baggage %q, want %q", got, test.baggage)
			}
			got := header.Get("traceparent")
			if test.traceparent != "new" {
				if got != test.traceparent {
					t.Errorf("traceparent %q, want %q", got, test.traceparent)
				}
				return
			}
			begun := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(
				context.Background(), propagation.HeaderCarrier(header)))
			if !begun.IsValid() || begun.TraceID().String() == recordTrace {
				t.Fatalf("traceparent %q is no new trace", got)
			}
			if begun.TraceFlags() != test.flags {
				t.Errorf("traceparent %q, want flags %s", got, test.flags)
			}
		})
	}
}

func TestAttemptsOfOneDeliveryShareATrace(t *testing.T) {
	tel := quiet(t)
	tracer := tel.TracerProvider().Tracer("test")
	ctx, deliver := tracer.Start(context.Background(), "deliver")
	_, first := tracer.Start(ctx, "POST")
	_, second := tracer.Start(ctx, "POST")
	want := deliver.SpanContext().TraceID()
	if first.SpanContext().TraceID() != want || second.SpanContext().TraceID() != want {
		t.Errorf("traces %s and %s, want %s", first.SpanContext().TraceID(), second.SpanContext().TraceID(), want)
	}
	if deliver.IsRecording() {
		t.Error("a span records though nobody exports it")
	}
	if _, other := tracer.Start(context.Background(), "deliver"); other.SpanContext().TraceID() == want {
		t.Error("two deliveries share a trace")
	}
}

func BenchmarkSpansWithoutExporter(b *testing.B) {
	tel := quiet(b)
	tracer := tel.TracerProvider().Tracer("test")
	b.ReportAllocs()
	for b.Loop() {
		ctx, deliver := tracer.Start(context.Background(), "deliver")
		_, attempt := tracer.Start(ctx, "POST")
		attempt.End()
		deliver.End()
	}
}
