package dispatch

import (
	"fmt"
	"time"
)

// BreakerState is whether an endpoint's breaker lets attempts pass. Zero is
// the state of an endpoint that has no breaker.
type BreakerState uint8

// The states of a breaker.
const (
	BreakerClosed   BreakerState = iota + 1 // attempts pass
	BreakerHalfOpen                         // few attempts pass, more with each round that goes well
	BreakerOpen                             // only probes pass
)

// String is the state as logs spell it.
func (s BreakerState) String() string {
	switch s {
	case 0:
		return "none"
	case BreakerClosed:
		return "closed"
	case BreakerHalfOpen:
		return "half-open"
	case BreakerOpen:
		return "open"
	default:
		return fmt.Sprintf("BreakerState(%d)", uint8(s))
	}
}

// BreakerCause is why a breaker opened; empty while it is closed.
type BreakerCause string

// The causes for which breakers open.
const (
	OpenedByFailures BreakerCause = "failures" // release verdicts: the endpoint is down
	OpenedByRejects  BreakerCause = "rejects"  // it rejects everything: the route is presumed wrong
)

// BreakerStats are what there is to know of a breaker at this moment.
type BreakerStats struct {
	State     BreakerState
	Cause     BreakerCause  // empty while closed
	Since     time.Time     // when this state began; zero: with the endpoint
	NextProbe time.Time     // while open: when it may be made; zero: as soon as there is a record, or it is under way
	Cooldown  time.Duration // while open: what lay or lies between two probes
	Probing   bool          // a probe is under way
}

// BreakerChange is a breaker's passage into another state.
type BreakerChange struct {
	From, To BreakerState
	Cause    BreakerCause  // why it opened, the first time or again
	Cooldown time.Duration // To open: the time until the next probe
	Down     time.Duration // how long ago it opened first since it was closed
}
