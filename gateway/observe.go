package gateway

import (
	"context"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/sharehook/sharehook/dispatch"
	"github.com/sharehook/sharehook/gateway/sharegroup"
	"github.com/sharehook/sharehook/gateway/telemetry"
)

// observer turns what happens at one endpoint into spans, metrics and log
// lines.
type observer struct {
	endpoint   string
	group      string
	by         string // who writes dead letters
	limit      func() int32
	metrics    *telemetry.EndpointMetrics
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	log        *slog.Logger
	watch      func(Delivery) // Options.OnDelivery; nil: nobody
	failure    atomic.Pointer[failure]
}

// failure is the last attempt that was not accepted: while a breaker is open
// it is what the person on call wants to know.
type failure struct {
	reason string
	status int // 0: no answer
	cause  error
}

func (f *failure) String() string {
	switch {
	case f == nil:
		return ""
	case f.cause != nil:
		return f.reason + " (" + f.cause.Error() + ")"
	case f.status != 0:
		return f.reason + " (" + strconv.Itoa(f.status) + ")"
	default:
		return f.reason
	}
}

var _ dispatch.Observer = (*observer)(nil)

// Started begins the span of a delivery, as a child of the producer's span if
// the record carries one.
func (o *observer) Started(ctx context.Context, dr dispatch.Record) context.Context {
	r := of(dr)
	if headers := r.Headers(); len(headers) > 0 {
		ctx = o.propagator.Extract(ctx, carrier(headers))
	}
	ctx, span := o.tracer.Start(ctx, "deliver", trace.WithSpanKind(trace.SpanKindConsumer))
	if span.IsRecording() {
		span.SetAttributes(
			semconv.MessagingSystemKafka,
			semconv.MessagingOperationName("deliver"),
			semconv.MessagingOperationTypeProcess,
			semconv.MessagingDestinationName(r.Topic()),
			semconv.MessagingDestinationPartitionID(strconv.Itoa(int(r.Partition()))),
			semconv.MessagingKafkaOffset(int(r.Offset())),
			semconv.MessagingConsumerGroupName(o.group),
			semconv.MessagingMessageID(webhookID(r.Record)),
			attribute.String("sharehook.endpoint", o.endpoint),
			attribute.Int("sharehook.delivery_count", int(r.DeliveryCount())),
		)
		if r.Value() == nil {
			span.SetAttributes(semconv.MessagingKafkaMessageTombstone(true))
		}
	}
	return ctx
}

// Attempted counts an attempt. Its span is made where it is made.
func (o *observer) Attempted(ctx context.Context, dr dispatch.Record, n int, a dispatch.Answer) {
	o.metrics.Attempt(a.Verdict.String(), a.Reason, a.Elapsed)
	if a.Verdict == dispatch.VerdictAccept {
		return
	}
	f := &failure{a.Reason, a.Status, a.Cause}
	o.failure.Store(f)
	r := of(dr)
	if a.Gone {
		o.log.WarnContext(ctx, "endpoint.paused", "what", "the endpoint answered 410 Gone: nothing is sent to it until the gateway restarts or the endpoint changes in the file",
			"topic", r.Topic(), "partition", r.Partition(), "offset", r.Offset())
	}
	o.log.DebugContext(ctx, "delivery.attempted", "topic", r.Topic(), "partition", r.Partition(), "offset", r.Offset(),
		"attempt", n, "verdict", a.Verdict.String(), "failure", f.String(), "elapsed", a.Elapsed)
}

// Waiting notes a wait in the span.
func (o *observer) Waiting(ctx context.Context, dr dispatch.Record, w dispatch.Wait) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.AddEvent("wait", trace.WithAttributes(
			attribute.String("sharehook.wait.cause", string(w.Cause)),
			attribute.Float64("sharehook.wait.seconds", w.For.Seconds()),
		))
	}
	if w.Cause == dispatch.WaitDeadLetter {
		r := of(dr)
		o.log.WarnContext(ctx, "write dead letter: trying again, the record is held", "topic", r.Topic(),
			"partition", r.Partition(), "offset", r.Offset(), "again_in", w.For, "error", w.Err)
	}
}

// Finished ends the span, counts the delivery and writes its line.
func (o *observer) Finished(ctx context.Context, dr dispatch.Record, out dispatch.Outcome, err error) {
	r := of(dr)
	if out.Acknowledgement == 0 && out.Lapsed {
		r.Drop()
	}
	elapsed := time.Since(r.Acquired())
	if out.Acknowledgement != 0 && err == nil {
		o.metrics.DeliveryDuration(elapsed)
		if out.Acknowledgement == dispatch.Accept && !r.Timestamp().IsZero() {
			o.metrics.RecordAge(time.Since(r.Timestamp()))
		}
	}
	cause := o.deadLetter(r, out, err)
	o.countDeadLetter(ctx, r, out, cause)
	d := Delivery{
		Endpoint: o.endpoint, Topic: r.Topic(), Partition: r.Partition(), Offset: r.Offset(), Key: r.Key(),
		DeliveryCount: r.DeliveryCount(), Attempts: out.Attempts, Acknowledgement: out.Acknowledgement.String(),
		Verdict: verdictName(out.Verdict), Reason: out.Reason, Status: out.Status, Elapsed: elapsed,
		DeadLetter: cause, Interrupted: out.Interrupted, Lapsed: out.Lapsed, Cause: out.Cause, Err: err,
	}
	span := trace.SpanFromContext(ctx)
	if sc := span.SpanContext(); sc.HasTraceID() {
		d.TraceID = sc.TraceID().String()
	}
	endSpan(span, d)
	o.write(ctx, d)
	if o.watch != nil {
		o.watch(d)
	}
}

// verdictName is "none" where no attempt was made.
func verdictName(v dispatch.Verdict) string {
	if v == 0 {
		return "none"
	}
	return v.String()
}

// deadLetter is why the record became a dead letter, "" if it did not. Those
// of the broker are ours to count as well: it counts them for no endpoint.
func (o *observer) deadLetter(r *record, out dispatch.Outcome, err error) string {
	switch {
	case out.DeadLetter != "":
		return string(out.DeadLetter) // written by us, whatever became of the acknowledgement
	case err != nil:
		return ""
	case out.Acknowledgement == dispatch.Reject:
		return string(dispatch.CauseRejected)
	case out.Acknowledgement == dispatch.Release && o.limit() > 0 && r.DeliveryCount() >= o.limit():
		return string(dispatch.CauseDeliveryLimit)
	default:
		return ""
	}
}

func endSpan(span trace.Span, d Delivery) {
	if span.IsRecording() {
		span.SetAttributes(
			attribute.Int("sharehook.attempts", d.Attempts),
			attribute.String("sharehook.verdict", d.Verdict),
			attribute.String("sharehook.acknowledgement", d.Acknowledgement),
		)
		if !d.plain() && !d.Interrupted {
			span.SetAttributes(semconv.ErrorTypeKey.String(d.Reason))
			span.SetStatus(codes.Error, d.Reason)
		}
	}
	span.End()
}

// write writes the line of a delivery: accepts at debug level.
func (o *observer) write(ctx context.Context, d Delivery) {
	level := slog.LevelInfo
	switch {
	case d.plain():
		level = slog.LevelDebug
	case d.Err != nil || d.Lapsed || d.DeadLetter != "":
		level = slog.LevelWarn
	}
	if !o.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("topic", d.Topic),
		slog.Int("partition", int(d.Partition)),
		slog.Int64("offset", d.Offset),
		slog.Int("delivery_count", int(d.DeliveryCount)),
		slog.Int("attempts", d.Attempts),
		slog.String("acknowledgement", d.Acknowledgement),
		slog.String("verdict", d.Verdict),
		slog.String("reason", d.Reason),
		slog.Int("status", d.Status),
		slog.Duration("elapsed", d.Elapsed),
		slog.String("trace_id", d.TraceID),
	}
	if d.DeadLetter != "" {
		attrs = append(attrs, slog.String("dead_letter", d.DeadLetter), slog.String("dead_letter_by", o.by))
	}
	if d.Cause != nil {
		attrs = append(attrs, slog.String("cause", d.Cause.Error()))
	}
	if d.Err != nil {
		attrs = append(attrs, slog.String("error", d.Err.Error()))
	}
	switch {
	case d.Interrupted:
		o.log.LogAttrs(ctx, level, "delivery.interrupted", attrs...)
	case d.Lapsed || d.Err != nil:
		o.log.LogAttrs(ctx, level, "delivery.unacknowledged", attrs...)
	default:
		o.log.LogAttrs(ctx, level, "delivery.acknowledged", attrs...)
	}
}

// groupObserver counts what happens in the share group.
type groupObserver struct{ metrics *telemetry.EndpointMetrics }

var _ sharegroup.Observer = groupObserver{}

func (o groupObserver) Acquired(expression string, n int) { o.metrics.Acquired(expression, n) }
func (o groupObserver) Acknowledged(expression string, a sharegroup.Acknowledgement, n int) {
	o.metrics.Acknowledged(expression, a.String(), n)
}
func (o groupObserver) Renewed(n int) { o.metrics.Renewed(n) }
func (o groupObserver) Lapsed(n int)  { o.metrics.Lapsed(n) }
func (o groupObserver) AcknowledgementError(name string, n int) {
	o.metrics.AcknowledgementError(name, n)
}

// Delivery is a finished delivery, for those who watch (Options.OnDelivery).
type Delivery struct {
	Endpoint        string
	Topic           string
	Partition       int32
	Offset          int64
	Key             []byte
	DeliveryCount   int32  // Kafka's
	Attempts        int    // POSTs within this delivery
	Acknowledgement string // accept, release, reject; none: given back or lapsed
	Verdict         string
	Reason          string
	Status          int // of the last answer; 0: there was none
	Elapsed         time.Duration
	DeadLetter      string // why it became a dead letter; empty: it did not
	TraceID         string
	Interrupted     bool  // given back by a drain
	Lapsed          bool  // the lock was lost
	Cause           error // of the last attempt without an answer
	Err             error // of the acknowledgement
}

// plain is an acceptance as it should be.
func (d Delivery) plain() bool { return d.Acknowledgement == "accept" && d.Err == nil && !d.Lapsed }
