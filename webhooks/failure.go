package webhooks

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/textproto"
	"syscall"
)

// errTimeout is the cause of attempts that took longer than Options.Timeout.
var errTimeout = errors.New("no answer within the timeout")

// dialError is why no connection came about.
type dialError struct{ err error }

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// tlsError is why no TLS session came about on a connection.
type tlsError struct{ err error }

func (e *tlsError) Error() string { return e.err.Error() }
func (e *tlsError) Unwrap() error { return e.err }

// proxyError is why a proxy did not let us through.
type proxyError struct{ err error }

func (e *proxyError) Error() string { return e.err.Error() }
func (e *proxyError) Unwrap() error { return e.err }

// streamError is net/http's own error for an HTTP/2 stream that the endpoint
// reset: net/http does not export it but fills in, for errors.As, any struct with
// the fields of the one in golang.org/x/net/http2.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "stream reset" }

// Codes of HTTP/2 (RFC 9113, 7) with which an endpoint says that the stream was
// ended, not that it was wrong.
const (
	streamNoError       = 0x0
	streamInternalError = 0x2
	streamRefused       = 0x7
	streamCancel        = 0x8
)

// failureReason says why there was no answer, by the types in err alone. The
// first that fits wins: causes of ours and of the machine before those of the
// way there, these before what happened on the connection.
func failureReason(err error) Reason {
	switch {
	case errors.Is(err, errClosed):
		return ReasonStopped
	case errors.Is(err, errNotCarried), isAny(err, localFaults):
		return ReasonInternal
	case errors.Is(err, errDenied):
		return ReasonDenied
	case errors.Is(err, errTimeout):
		return ReasonTimeout
	case isProxyFailure(err):
		return ReasonProxy
	case isA[*net.DNSError](err):
		return ReasonDNS
	case isTimeout(err):
		return ReasonTimeout
	case isA[*dialError](err):
		return ReasonConnect
	case isTLSFailure(err):
		return ReasonTLS
	case isReset(err):
		return ReasonReset
	default:
		return ReasonProtocol
	}
}

// localFaults are limits of our own machine, of which an endpoint knows nothing.
var localFaults = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL}

// brokenConn are the ways in which a connection ends.
var brokenConn = []error{syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed}

func isAny(err error, targets []error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

func isA[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// isProxyFailure says whether the proxy refused us or could not be reached.
func isProxyFailure(err error) bool {
	operation, ok := errors.AsType[*net.OpError](err)
	return isA[*proxyError](err) || ok && operation.Op == "proxyconnect"
}

// isTLSFailure knows our own handshakes, those that net/http does behind a
// proxy, and alerts that come later: with TLS 1.3 a server refuses a client's
// certificate only after the handshake. The type of alerts is crypto/tls's own,
// but the operation that they are errors of is not.
func isTLSFailure(err error) bool {
	operation, ok := errors.AsType[*net.OpError](err)
	if ok && (operation.Op == "remote error" || operation.Op == "local error") {
		return true
	}
	return isA[*tlsError](err) || isA[tls.RecordHeaderError](err) || isA[*tls.CertificateVerificationError](err)
}

// isReset says whether the connection, or the stream on it, ended too early.
// What is malformed may end early as well and is no reset.
func isReset(err error) bool {
	if stream, ok := errors.AsType[streamError](err); ok {
		switch stream.Code {
		case streamNoError, streamInternalError, streamRefused, streamCancel:
			return true
		}
		return false
	}
	if isA[textproto.ProtocolError](err) {
		return false
	}
	return isAny(err, brokenConn)
}
