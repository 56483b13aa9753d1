package dispatch

import "time"

// Answer is what came of one attempt.
type Answer struct {
	Verdict      Verdict
	Reason       string        // from a fixed list: a metric label
	Status       int           // HTTP's; 0: no answer came
	RetryAfter   time.Duration // capped by who made the attempt; 0: none
	HoldEndpoint bool          // RetryAfter holds back the whole endpoint
	Held         bool          // nothing was sent, for a fault of ours: this was no attempt
	Gone         bool          // pause the endpoint and keep the record, whatever the verdict
	Elapsed      time.Duration
	Excerpt      []byte // the beginning of the answer's body
	Cause        error  // for logs, never for control flow
}

// evidence is what the answer says about the endpoint: its verdict, or zero if
// it says nothing, the fault being ours or the record's, or the answer being a
// farewell, which pauses the endpoint instead.
func (a Answer) evidence() Verdict {
	switch a.Reason {
	case ReasonStopped, ReasonInternal, ReasonDenied, ReasonUnsendable, ReasonAuth:
		return 0
	}
	if a.Gone {
		return 0
	}
	return a.Verdict
}

// DeadLetterCause is why a record became a dead letter.
type DeadLetterCause string

// The causes of dead letters.
const (
	CauseRejected      DeadLetterCause = "rejected"       // the verdict was reject
	CauseDeliveryLimit DeadLetterCause = "delivery_limit" // the last permitted delivery ended without acceptance
)

// Outcome is how a delivery ended. Verdict, Reason, Status, Excerpt and Cause
// are those of its last attempt; without one Verdict is zero and Reason says
// why there was none.
type Outcome struct {
	Acknowledgement Acknowledgement // 0: given back with the session, or lapsed
	Verdict         Verdict
	Reason          string
	Status          int
	Attempts        int // POSTs made in this delivery
	Excerpt         []byte
	Cause           error
	DeadLetter      DeadLetterCause // empty: none was written by us
	Interrupted     bool            // given back by a drain, which is no failure
	Lapsed          bool            // the lock was lost
	Elapsed         time.Duration   // from the acquisition to the acknowledgement
}
