package gateway

import (
	"context"
	"encoding/base64"
	"slices"
	"strconv"

	"go.opentelemetry.io/otel/propagation"

	"github.com/sharehook/sharehook/dispatch"
	"github.com/sharehook/sharehook/gateway/sharegroup"
	"github.com/sharehook/sharehook/webhooks"
)

// record is a record on its way: the share group's record as dispatch sees it,
// with the message that is made of it.
type record struct {
	*sharegroup.Record

	message *webhooks.Message // made at the first attempt
}

var _ dispatch.Record = (*record)(nil)

// Acknowledge re-types the acknowledgement.
func (r *record) Acknowledge(a dispatch.Acknowledgement, done func(error)) {
	r.Record.Acknowledge(acknowledgement(a), done)
}

func acknowledgement(a dispatch.Acknowledgement) sharegroup.Acknowledgement {
	switch a {
	case dispatch.Accept:
		return sharegroup.Accept
	case dispatch.Reject:
		return sharegroup.Reject
	case dispatch.Release:
		return sharegroup.Release
	default:
		return 0
	}
}

// of is the record behind dispatch's interface.
func of(r dispatch.Record) *record { return r.(*record) } //nolint:forcetypeassert // source makes no others

// source hands a group's records to dispatch.
type source struct{ group *sharegroup.Group }

var _ dispatch.Source = source{}

// Acquire wraps what the group has.
func (s source) Acquire(ctx context.Context, room int) ([]dispatch.Record, error) {
	acquired, err := s.group.Acquire(ctx, room)
	if len(acquired) == 0 {
		return nil, err
	}
	records := make([]record, len(acquired)) // one allocation for all
	out := make([]dispatch.Record, len(acquired))
	for i, r := range acquired {
		records[i].Record = r
		out[i] = &records[i]
	}
	return out, err
}

// webhookID names the record: the ID of its topic, partition and offset. The
// topic's ID and not its name, as a topic made again has other records at the
// same offsets. It has no dots, which Standard Webhooks keeps for itself.
func webhookID(r *sharegroup.Record) string {
	const uuid = 22 // characters of 16 bytes in base64
	id := make([]byte, uuid, uuid+24)
	base64.RawURLEncoding.Encode(id, r.TopicID[:])
	id = append(id, '-')
	id = strconv.AppendInt(id, int64(r.Partition()), 10)
	id = append(id, '-')
	id = strconv.AppendInt(id, r.Offset(), 10)
	return string(id)
}

// carrier reads the trace context out of record headers. The last header of a
// name counts.
type carrier []sharegroup.Header

var _ propagation.TextMapCarrier = carrier(nil)

// Get is the value of a header.
func (c carrier) Get(key string) string {
	for _, h := range slices.Backward(c) {
		if h.Name == key {
			return string(h.Value)
		}
	}
	return ""
}

// Set does nothing: a record is only read.
func (carrier) Set(string, string) {}

// Keys are the names of all headers.
func (c carrier) Keys() []string {
	keys := make([]string, len(c))
	for i, h := range c {
		keys[i] = h.Name
	}
	return keys
}
