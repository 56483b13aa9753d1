package telemetry

import (
	"context"
	"log/slog"

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
	return passingProvider{roots: sdktrace.NewTracerProvider()}
}

// passingProvider records nothing and keeps traces whole: a context that
// carries a trace is passed on untouched, so that the endpoint's span hangs
// from the producer's and not from a span that nobody will ever see; a context
// that carries none gets a new trace, so that the attempts of one delivery,
// the endpoint's own spans and our log lines share a trace id.
//
// The new trace is begun by the SDK without a processor, for the sake of
// OTEL_TRACES_SAMPLER: the endpoint most likely follows our sampled flag, and
// a flag that is never set would put out its tracing.
type passingProvider struct {
	embedded.TracerProvider
	roots trace.TracerProvider
}

func (p passingProvider) Tracer(name string, opts ...trace.TracerOption) trace.Tracer {
	return passingTracer{roots: p.roots.Tracer(name, opts...)}
}

type passingTracer struct {
	embedded.Tracer
	roots trace.Tracer
}

func (t passingTracer) Start(ctx context.Context, name string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	if trace.SpanContextFromContext(ctx).IsValid() {
		// Ours or remote, the span in ctx is one that records nothing.
		return ctx, trace.SpanFromContext(ctx)
	}
	_, root := t.roots.Start(ctx, name)
	root.End()
	ctx = trace.ContextWithSpanContext(ctx, root.SpanContext())
	return ctx, trace.SpanFromContext(ctx)
}
