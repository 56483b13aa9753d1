package gateway

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/sharehook/sharehook/dispatch"
	"github.com/sharehook/sharehook/gateway/deadletter"
)

// deadLetterer writes the dead letters of an endpoint whose broker writes
// none.
type deadLetterer struct {
	writer          *deadletter.Writer
	endpoint, group string
	topic           string
}

var _ dispatch.DeadLetterer = (*deadLetterer)(nil)

// WriteDeadLetter makes a letter of the record and its outcome.
func (d *deadLetterer) WriteDeadLetter(ctx context.Context, dr dispatch.Record, o dispatch.Outcome) error {
	r := of(dr)
	l := deadletter.Letter{
		Topic: d.topic,
		Source: deadletter.Source{
			Topic:     r.Topic(),
			Partition: r.Partition(),
			Offset:    r.Offset(),
			Timestamp: r.Timestamp(),
			Key:       r.Key(),
			Value:     r.Value(),
		},
		Endpoint:      d.endpoint,
		ShareGroup:    d.group,
		WebhookID:     webhookID(r.Record),
		Verdict:       verdictName(o.Verdict),
		Reason:        o.Reason,
		Status:        o.Status,
		Attempts:      o.Attempts,
		DeliveryCount: r.DeliveryCount(),
		Time:          time.Now(),
		Answer:        o.Excerpt,
	}
	for _, h := range r.Headers() {
		l.Source.Headers = append(l.Source.Headers, deadletter.Header(h))
	}
	if o.Cause != nil {
		l.Cause = o.Cause.Error()
	}
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		l.TraceID = span.TraceID().String()
	}
	return d.writer.Write(ctx, l)
}
