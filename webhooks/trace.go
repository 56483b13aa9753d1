package webhooks

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// tracing makes the client spans of an endpoint. Without tracer and propagator
// it does nothing.
type tracing struct {
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	// options are those that all spans have in common.
	options []trace.SpanStartOption
}

// newTracing prepares spans by the semantic conventions for HTTP clients.
// url.full is left out: paths and queries carry tokens.
func newTracing(o *Options, target *url.URL) tracing {
	attributes := []attribute.KeyValue{
		semconv.HTTPRequestMethodPost,
		semconv.URLScheme(target.Scheme),
		semconv.ServerAddress(target.Hostname()),
		semconv.ServerPort(portOf(target)),
	}
	return tracing{
		tracer:     o.Tracer,
		propagator: o.Propagator,
		options:    []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...)},
	}
}

// portOf is the port that a URL leads to, named or not.
func portOf(u *url.URL) int {
	if port, err := strconv.Atoi(u.Port()); err == nil {
		return port
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}

// attemptSpan is the span of one attempt; nil inside if there is none.
type attemptSpan struct{ span trace.Span }

// start begins the span of an attempt as a child of the span in ctx.
func (t *tracing) start(ctx context.Context, a Attempt) (context.Context, attemptSpan) {
	if t.tracer == nil {
		return ctx, attemptSpan{}
	}
	ctx, span := t.tracer.Start(ctx, http.MethodPost, t.options...)
	if a.Number > 1 && span.IsRecording() {
		span.SetAttributes(semconv.HTTPRequestResendCount(a.Number - 1))
	}
	return ctx, attemptSpan{span}
}

// headerCount is how many headers inject is likely to write.
func (t *tracing) headerCount() int {
	if t.propagator == nil {
		return 0
	}
	return 1
}

// inject writes the trace context of ctx into the header of a request.
func (t *tracing) inject(ctx context.Context, header http.Header) {
	if t.propagator != nil {
		t.propagator.Inject(ctx, propagation.HeaderCarrier(header))
	}
}

// end closes the span with what became of the attempt.
func (s attemptSpan) end(result *Result) {
	if s.span == nil {
		return
	}
	if s.span.IsRecording() {
		if result.Status != 0 {
			s.span.SetAttributes(semconv.HTTPResponseStatusCode(result.Status))
		}
		if result.Verdict != Accept {
			s.span.SetAttributes(semconv.ErrorTypeKey.String(string(result.Reason)))
			s.span.SetStatus(codes.Error, string(result.Reason))
		}
	}
	s.span.End()
}
