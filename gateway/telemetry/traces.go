package telemetry

import (
	"context"
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"os"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
)

// exportTraces puts the SDK's provider in place if the environment asks for an
// exporter of traces. Spans wait in a queue that never blocks: when a
// collector is too slow for it, spans are dropped, records are not held up.
// OTEL_BSP_* set its size and times, OTEL_TRACES_SAMPLER what is sampled.
func (t *Telemetry) exportTraces(ctx context.Context, res *resource.Resource, life lifetime, logger *slog.Logger) error {
	name := exporter(traces, logger)
	if name == exporterNone {
		return nil
	}
	exporter, err := newSpanExporter(ctx, name)
	if err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithResource(res),
		sdktrace.WithBatcher(boundSpanExporter{SpanExporter: exporter, within: life}),
	)
	t.tracerProvider = provider
	t.stops = append(t.stops, stop{name: "traces", run: provider.Shutdown})
	return nil
}

// offTracerProvider is the provider while no spans are exported. With
// OTEL_SDK_DISABLED it does nothing at all.
func offTracerProvider() trace.TracerProvider {
	if disabled() {
		return noop.NewTracerProvider()
	}
	if cheapRoots(os.Getenv("OTEL_TRACES_SAMPLER")) {
		return passingProvider{begin: randomRoot}
	}
	roots := sdktrace.NewTracerProvider().Tracer(passingScope)
	return passingProvider{begin: func(ctx context.Context) trace.SpanContext {
		_, root := roots.Start(ctx, "root")
		root.End()
		return root.SpanContext()
	}}
}

const passingScope = "github.com/sharehook/sharehook/gateway/telemetry"

// cheapRoots says whether the sampler samples every trace that begins here, as
// it does by default. Then the SDK need not be asked, at two microseconds a
// record.
func cheapRoots(sampler string) bool {
	switch sampler {
	case "", "always_on", "parentbased_always_on":
		return true
	default:
		return false
	}
}

// randomRoot begins a trace that is sampled.
func randomRoot(context.Context) trace.SpanContext {
	var traceID trace.TraceID
	var spanID trace.SpanID
	for !traceID.IsValid() || !spanID.IsValid() { // all zeros is no id
		binary.NativeEndian.PutUint64(traceID[:8], rand.Uint64())
		binary.NativeEndian.PutUint64(traceID[8:], rand.Uint64())
		binary.NativeEndian.PutUint64(spanID[:], rand.Uint64())
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: spanID, TraceFlags: trace.FlagsSampled})
}

// passingProvider records nothing and keeps traces whole: a context that
// carries a trace is passed on untouched, so that the endpoint's span hangs
// from the producer's and not from a span that nobody will ever see; a context
// that carries none gets a new trace, so that the attempts of one delivery,
// the endpoint's own spans and our log lines share a trace id.
//
// Whether the new trace is sampled is for OTEL_TRACES_SAMPLER to say: the
// endpoint most likely follows our flag, and a flag that is never set would
// put out its tracing.
type passingProvider struct {
	embedded.TracerProvider
	begin func(context.Context) trace.SpanContext
}

func (p passingProvider) Tracer(string, ...trace.TracerOption) trace.Tracer {
	return passingTracer{begin: p.begin}
}

type passingTracer struct {
	embedded.Tracer
	begin func(context.Context) trace.SpanContext
}

func (t passingTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	// Ours or remote, the span in ctx is one that records nothing.
	span := trace.SpanFromContext(ctx)
	if span.SpanContext().IsValid() {
		return ctx, span
	}
	ctx = trace.ContextWithSpanContext(ctx, t.begin(ctx))
	return ctx, trace.SpanFromContext(ctx)
}
