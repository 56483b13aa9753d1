package gateway

import (
	"context"

	"github.com/sharehook/sharehook/dispatch"
	"github.com/sharehook/sharehook/webhooks"
)

// attempter makes dispatch's attempts over HTTP.
type attempter struct{ endpoint *webhooks.Endpoint }

var _ dispatch.Attempter = attempter{}

// Attempt POSTs the record once. The message is made once for all attempts of
// a delivery; only one attempt of a record runs at a time.
func (a attempter) Attempt(ctx context.Context, dr dispatch.Record, n int) dispatch.Answer {
	r := of(dr)
	if r.message == nil {
		r.message = message(r)
	}
	r.message.DeliveryCount = r.DeliveryCount()
	return answer(a.endpoint.Attempt(ctx, r.message, webhooks.Attempt{Number: n}))
}

// message is what a record looks like on its way out.
func message(r *record) *webhooks.Message {
	m := &webhooks.Message{
		ID:        webhookID(r.Record),
		Topic:     r.Topic(),
		Partition: r.Partition(),
		Offset:    r.Offset(),
		Timestamp: r.Timestamp(),
		Key:       r.Key(),
		Value:     r.Value(),
	}
	if headers := r.Headers(); len(headers) > 0 {
		m.Headers = make([]webhooks.Header, len(headers))
		for i, h := range headers {
			m.Headers[i] = webhooks.Header(h)
		}
	}
	return m
}

// answer re-types a result.
func answer(res webhooks.Result) dispatch.Answer {
	return dispatch.Answer{
		Verdict:      verdict(res.Verdict),
		Reason:       string(res.Reason),
		Status:       res.Status,
		RetryAfter:   res.RetryAfter,
		HoldEndpoint: res.HoldEndpoint || res.Held, // without credentials no record can be sent
		Held:         res.Held,
		Gone:         res.Gone,
		Elapsed:      res.Elapsed,
		Excerpt:      res.Excerpt,
		Cause:        res.Cause,
	}
}

func verdict(v webhooks.Verdict) dispatch.Verdict {
	switch v {
	case webhooks.Accept:
		return dispatch.VerdictAccept
	case webhooks.Release:
		return dispatch.VerdictRelease
	case webhooks.Reject:
		return dispatch.VerdictReject
	default:
		return 0 // dispatch treats it as a release
	}
}
