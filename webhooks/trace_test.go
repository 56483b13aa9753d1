package webhooks

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// traced is an endpoint whose spans are recorded.
func traced(t *testing.T, url string) (*Endpoint, *sdktrace.TracerProvider, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	e := newEndpoint(t, url, func(o *Options) {
		o.Tracer = provider.Tracer("test")
		o.Propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
	})
	return e, provider, recorder
}

func TestTraceGoesOnToTheEndpoint(t *testing.T) {
	r := newReceiver(t)
	e, provider, recorder := traced(t, r.URL+"/s3cret?token=s3cret")
	ctx, deliver := provider.Tracer("test").Start(t.Context(), "deliver")
	member, err := baggage.NewMember("tenant", "7")
	if err != nil {
		t.Fatal(err)
	}
	bag, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	m := message()
	// The record's own trace context is the caller's to continue.
	m.Headers = []Header{{"traceparent", []byte("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")}}
	e.Attempt(baggage.ContextWithBaggage(ctx, bag), m, Attempt{Number: 3})
	deliver.End()

	span := recorder.Ended()[0]
	if span.Name() != "POST" || span.SpanKind() != trace.SpanKindClient || span.Parent().SpanID() != deliver.SpanContext().SpanID() {
		t.Errorf("got span %s, %s, parent %s", span.Name(), span.SpanKind(), span.Parent().SpanID())
	}
	got := r.last(t).header
	want := "00-" + span.SpanContext().TraceID().String() + "-" + span.SpanContext().SpanID().String() + "-01"
	if got.Get("traceparent") != want || len(got["Traceparent"]) != 1 || got.Get("baggage") != "tenant=7" {
		t.Errorf("got traceparent %q, baggage %q; want %q", got["Traceparent"], got["Baggage"], want)
	}

	attributes := attributesOf(span)
	host, port, _ := strings.Cut(strings.TrimPrefix(r.URL, "http://"), ":")
	for key, value := range map[string]string{
		"http.request.method": "POST", "http.response.status_code": "200", "http.request.resend_count": "2",
		"server.address": host, "server.port": port, "url.scheme": "http",
	} {
		if attributes[key] != value {
			t.Errorf("%s: %q, want %q", key, attributes[key], value)
		}
	}
	for key, value := range attributes {
		if strings.Contains(value, "s3cret") {
			t.Errorf("%s tells a secret", key)
		}
	}
	if _, ok := attributes["error.type"]; ok || span.Status().Code != codes.Unset {
		t.Errorf("an accepted record has status %v", span.Status())
	}
}

func TestTraceOfFailures(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		status, _ := io.ReadAll(r.Body)
		code, _ := strconv.Atoi(string(status))
		w.WriteHeader(code)
	})
	e, _, recorder := traced(t, url)
	m := message()
	m.Value = []byte("503")
	post(t, e, m)
	refused, _, other := traced(t, "http://127.0.0.1:1")
	post(t, refused, m)

	for _, test := range []struct {
		span              sdktrace.ReadOnlySpan
		errorType, status string
	}{
		{recorder.Ended()[0], "status_5xx", "503"},
		{other.Ended()[0], "connect", ""},
	} {
		attributes := attributesOf(test.span)
		if attributes["error.type"] != test.errorType || attributes["http.response.status_code"] != test.status || test.span.Status().Code != codes.Error {
			t.Errorf("got %v, %v; want %s", attributes, test.span.Status(), test.errorType)
		}
		if _, ok := attributes["http.request.resend_count"]; ok {
			t.Error("a first attempt is no resend")
		}
	}
}

func attributesOf(span sdktrace.ReadOnlySpan) map[string]string {
	attributes := map[string]string{}
	for _, a := range span.Attributes() {
		attributes[string(a.Key)] = valueOf(a)
	}
	return attributes
}

func valueOf(a attribute.KeyValue) string { return a.Value.String() }
