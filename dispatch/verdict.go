package dispatch

import "fmt"

// Verdict is what an attempt's answer means for its record.
type Verdict uint8

// The verdicts. The zero Verdict is invalid and treated as a release.
const (
	VerdictAccept  Verdict = iota + 1 // delivered
	VerdictRelease                    // not now: try again
	VerdictReject                     // never: dead letter
)

// String is the verdict as logs and metrics spell it.
func (v Verdict) String() string {
	switch v {
	case VerdictAccept:
		return "accept"
	case VerdictRelease:
		return "release"
	case VerdictReject:
		return "reject"
	default:
		return fmt.Sprintf("Verdict(%d)", uint8(v))
	}
}

// Acknowledgement is what the broker is told about a record. The zero
// Acknowledgement is none: the record is given back with the session.
type Acknowledgement uint8

// The acknowledgements (KIP-932). Renewing is not among them: it ends nothing
// and is not done here.
const (
	Accept  Acknowledgement = iota + 1 // done
	Release                            // available again, at once
	Reject                             // archived; a dead letter where the group has a topic for them
)

// String is the acknowledgement as logs and metrics spell it; "none" for zero.
func (a Acknowledgement) String() string {
	switch a {
	case 0:
		return "none"
	case Accept:
		return "accept"
	case Release:
		return "release"
	case Reject:
		return "reject"
	default:
		return fmt.Sprintf("Acknowledgement(%d)", uint8(a))
	}
}

// Reasons that dispatch itself gives.
const (
	ReasonStopped  = "stopped"   // a drain cut the attempt short
	ReasonInternal = "internal"  // a panic, or an answer without a verdict
	ReasonPaused   = "paused"    // time ran out untried, the endpoint being paused
	ReasonHeldBack = "held_back" // time ran out untried, the endpoint having asked to wait
	ReasonBreaker  = "breaker"   // time ran out untried, the breaker being open
)

// Reasons of attempts that dispatch knows, for they say nothing about the
// endpoint, as stopped and internal do not. All others are the attempt's own.
const (
	ReasonDenied     = "denied"     // we may not go where the endpoint is
	ReasonUnsendable = "unsendable" // this record can never be sent
	ReasonAuth       = "auth"       // we have no credentials at the moment
)
