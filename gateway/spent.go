package gateway

import (
	"context"

	"github.com/sharehook/sharehook/dispatch"
)

// causeUntried is the cause of dead letters by the limit whose last delivery
// came to no attempt, for the metric: crashes, restarts and lapsed locks used
// their deliveries up, not the endpoint.
const causeUntried = string(dispatch.CauseDeliveryLimit) + "_untried"

// countDeadLetter counts the dead letter that a delivery ended in, if any, and
// warns of one that the endpoint may never have been asked about. Of the
// deliveries before this one nothing is known but that they were.
func (o *observer) countDeadLetter(ctx context.Context, r *record, out dispatch.Outcome, cause string) {
	if cause == "" && o.spent(out, r.DeliveryCount()) {
		cause = string(dispatch.CauseDeliveryLimit)
	}
	if cause == string(dispatch.CauseDeliveryLimit) && out.Attempts == 0 {
		cause = causeUntried
		o.log.WarnContext(ctx, "dead letter without an attempt in its last delivery: raise share_group.max_deliveries"+
			" if crashes, restarts or lapsed locks use deliveries up",
			"topic", r.Topic(), "partition", r.Partition(), "offset", r.Offset(), "delivery_count", r.DeliveryCount())
	}
	if cause != "" {
		o.metrics.DeadLetter(o.by, cause)
	}
}

// spent reports that a drain gave back a record on its last permitted
// delivery: the broker archives it as the session closes (Kafka 4.4).
func (o *observer) spent(out dispatch.Outcome, count int32) bool {
	limit := o.limit()
	return out.Interrupted && out.Acknowledgement == 0 && limit > 0 && count >= limit
}
