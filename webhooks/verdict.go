package webhooks

import "fmt"

// Verdict is what an answer means for the record.
type Verdict uint8

// The verdicts. The zero Verdict is invalid.
const (
	// Accept: the endpoint has the record, it is done.
	Accept Verdict = iota + 1
	// Release: not now, the record is to be tried again.
	Release
	// Reject: never, the record is to become a dead letter.
	Reject
)

// String is the verdict as configuration, metrics and logs have it.
func (v Verdict) String() string {
	switch v {
	case Accept:
		return "accept"
	case Release:
		return "release"
	case Reject:
		return "reject"
	default:
		return fmt.Sprintf("invalid verdict %d", uint8(v))
	}
}

// Reason says why a verdict was given. The list is fixed: reasons are values of
// a metric's attribute.
type Reason string

// Reasons of answers.
const (
	// ReasonOK is an accepted 2xx.
	ReasonOK Reason = "ok"
	// ReasonStatus2xx is a 2xx that the status rules do not accept.
	ReasonStatus2xx Reason = "status_2xx"
	ReasonStatus3xx Reason = "status_3xx"
	ReasonStatus4xx Reason = "status_4xx"
	ReasonStatus5xx Reason = "status_5xx"
	// ReasonAction is a verdict given by the answer's sharehook-action header.
	ReasonAction Reason = "action"
)

// Reasons without an answer.
const (
	// ReasonTimeout: no whole header within Options.Timeout.
	ReasonTimeout Reason = "timeout"
	// ReasonDNS: the name of the host was not resolved.
	ReasonDNS Reason = "dns"
	// ReasonConnect: no connection (refused, unreachable).
	ReasonConnect Reason = "connect"
	// ReasonTLS: no TLS session (certificate, versions, alerts).
	ReasonTLS Reason = "tls"
	// ReasonReset: the connection ended before the answer did.
	ReasonReset Reason = "reset"
	// ReasonProtocol: an answer that is no HTTP, whose header is too large, or
	// whose final status is below 200 or above 599.
	ReasonProtocol Reason = "protocol"
	// ReasonDenied: the network rules forbid the address.
	ReasonDenied Reason = "denied"
	// ReasonProxy: the proxy was not reached, or refused.
	ReasonProxy Reason = "proxy"
	// ReasonAuth: we have no credentials at present. No request was made.
	ReasonAuth Reason = "auth"
	// ReasonUnsendable: this record alone makes it impossible, for ever. Format
	// raw has no such record; formats that transform the value may.
	ReasonUnsendable Reason = "unsendable"
	// ReasonStopped: the caller ended the attempt, or the endpoint was closed.
	ReasonStopped Reason = "stopped"
	// ReasonInternal: a fault of our own or of our machine, as no free file
	// descriptor.
	ReasonInternal Reason = "internal"
)
