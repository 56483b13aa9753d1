package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"
)

// Attempt POSTs the message once and says what came of it. It returns when the
// answer's header is there and as much of its body as is read, when there will
// be no answer, or when ctx ends, then with ReasonStopped: that an attempt was
// cut short says nothing about the endpoint.
//
// It never panics over a message, and never fails: whatever happens is a Result.
func (e *Endpoint) Attempt(ctx context.Context, m *Message, a Attempt) Result {
	start := time.Now()
	ctx, span := e.tracing.start(ctx, a)
	result := e.attempt(ctx, m, a)
	result.Elapsed = time.Since(start)
	span.end(&result)
	return result
}

// attempt authenticates, if it has to, and POSTs. Credentials that are refused,
// and of which there may be others, are our own fault: the same attempt is made
// once more with those.
func (e *Endpoint) attempt(ctx context.Context, m *Message, a Attempt) Result {
	if e.auth == nil {
		return e.post(ctx, m, a, nil)
	}
	for again := false; ; again = true {
		c, err := e.auth.credentials(ctx)
		if err != nil {
			return e.withoutCredentials(ctx, err)
		}
		result := e.post(ctx, m, a, c)
		if again || result.Status == 0 || result.Reason == ReasonProxy || !c.judged(result.Status) {
			return result
		}
	}
}

// post makes one request. It is packed only now, after the wait for credentials:
// its time is signed.
func (e *Endpoint) post(ctx context.Context, m *Message, a Attempt, c credentials) Result {
	now := e.options.Now()
	p, err := e.pack(m, a, now)
	if err != nil {
		return e.noAnswer(err)
	}
	if p.dropped > 0 {
		e.options.CountDropped(p.dropped)
	}
	e.tracing.inject(ctx, p.header)
	if c != nil {
		if err := c.set(&p, now); err != nil {
			return e.withoutCredentials(ctx, err)
		}
	}

	x := exchange{endpoint: e, parent: ctx}
	g := e.enter()
	defer e.leave(g)
	return x.run(g.transport, p)
}

// noAnswer is the result of an attempt that got none.
func (e *Endpoint) noAnswer(err error) Result {
	return Result{Verdict: Release, Reason: failureReason(err), Cause: fmt.Errorf("post to %s: %w", e.origin, err)}
}

// exchange is one request and its answer.
type exchange struct {
	endpoint *Endpoint
	parent   context.Context //nolint:containedctx // lives as long as the call it came with
	trace    httptrace.ClientTrace
	// conn is the HTTP/1.1 connection that the request went out on last, nil
	// for HTTP/2. net/http repeats a request on a new connection if an idle one
	// turns out to be dead.
	conn *answerConn
	// reused: the connection had served another request before.
	reused bool
}

func (x *exchange) run(transport *http.Transport, p parcel) Result {
	ctx, cancel := context.WithCancelCause(x.parent)
	defer cancel(nil)
	// Not a deadline of the context: the answer's body has a time of its own
	// after it.
	timer := time.AfterFunc(x.endpoint.options.Timeout, func() { cancel(errTimeout) })
	defer timer.Stop()

	x.trace.GotConn = x.gotConn
	answer, err := x.send(httptrace.WithClientTrace(ctx, &x.trace), transport, p) //nolint:bodyclose // readBody closes it
	if err != nil {
		return x.failed(ctx, err)
	}
	result := x.endpoint.classify(answer.StatusCode, answer.Header)
	if x.endpoint.way.answersItself(answer) && !x.endpoint.answers.names(answer.StatusCode, result.Reason) {
		// Nothing is charged to a record that may not have arrived.
		result.Verdict, result.Reason, result.Gone = Release, ReasonProxy, false
	}
	timer.Reset(x.endpoint.patience.left())
	result.Excerpt = x.endpoint.readBody(answer)
	return result
}

// send sends the request, once more if it took a connection that was dead
// already. Only once, and with the other idle connections closed: an endpoint
// that reads a request and then hangs up looks the same, and a record that
// brings it down must not be sent to it on each connection that is left.
func (x *exchange) send(ctx context.Context, transport *http.Transport, p parcel) (*http.Response, error) {
	answer, err := transport.RoundTrip(x.request(ctx, p))
	if err == nil || !x.stale() || ctx.Err() != nil || x.endpoint.lifetime.Err() != nil {
		return answer, err
	}
	transport.CloseIdleConnections()
	x.conn, x.reused = nil, false
	return transport.RoundTrip(x.request(ctx, p))
}

// stale says whether the request took an idle connection and no byte came back
// on it. Endpoints close idle connections when they like, and a POST may be on its
// way to one: the commonest of all failures, and none of the endpoint's. net/http
// would repeat such a request itself, as often as it has idle connections; it is
// kept from that by a body that cannot be had again.
func (x *exchange) stale() bool {
	if x.conn == nil || !x.reused {
		return false
	}
	received, _ := x.conn.answered()
	return received == 0
}

// gotConn is called before the request is written, by the goroutine of run.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.conn, _ = info.Conn.(*answerConn)
	x.reused = info.Reused
	if x.conn != nil {
		x.conn.begin()
	}
}

// failed is the result if there was no answer as net/http sees it.
func (x *exchange) failed(ctx context.Context, err error) Result {
	e := x.endpoint
	switch {
	case x.parent.Err() != nil && context.Cause(ctx) != errTimeout: //nolint:errorlint // identity: who was first
		return Result{Verdict: Release, Reason: ReasonStopped, Cause: fmt.Errorf("post to %s: %w", e.origin, context.Cause(x.parent))}
	case ctx.Err() != nil:
		return e.noAnswer(errTimeout)
	case e.lifetime.Err() != nil:
		return e.noAnswer(errClosed)
	}
	if e.way.proxy != nil && isA[tls.RecordHeaderError](err) {
		// It answered CONNECT with 200 and then with a page of its own.
		err = &proxyError{errors.New("proxy opened a tunnel that does not speak TLS")}
	}
	result := e.noAnswer(err)
	if x.conn == nil || result.Reason != ReasonProtocol && result.Reason != ReasonReset {
		return result
	}
	received, status := x.conn.answered()
	readErr := x.conn.readError()
	switch {
	case received == 0 && isTLSFailure(readErr):
		// The server refused our certificate and hung up. What net/http
		// reports may be the write that failed then.
		return e.noAnswer(readErr)
	case received == 0:
		// Not one byte: net/http has no type for "closed before I asked".
		result.Reason = ReasonReset
	case received >= maxAnswerHeader && statusReason(status) != ReasonProtocol:
		// The header is too large to be taken, but it began with the status,
		// and the status decides.
		result = e.classify(status, nil)
		result.Cause = fmt.Errorf("post to %s: header of the answer exceeds %d bytes", e.origin, maxAnswerHeader)
	}
	return result
}

func (e *Endpoint) classify(status int, header http.Header) Result {
	return Classify(status, header, e.answers, e.options.Now())
}

// errRepeat keeps net/http from repeating a request.
var errRepeat = errors.New("the request is not repeated on another connection")

// request is the POST. Over HTTP/1.1 its body cannot be had again, so that
// net/http repeats only what it has not begun to write. Over HTTP/2 it can:
// there a server says which requests it has not looked at.
//
// The body is a bytes.Reader in a NopCloser and never a type of our own: net/http
// knows these to be in memory, and writes header and body together. It is never
// reused, as the transport may read it after the attempt has ended.
func (x *exchange) request(ctx context.Context, p parcel) *http.Request {
	r := x.endpoint.template.WithContext(ctx)
	r.Header = p.header
	if len(p.body) == 0 {
		// Only so is its length said. Of an empty body net/http has all it
		// needs to repeat it, and does; what it then repeats is little.
		r.Body = http.NoBody
		return r
	}
	body := func() io.ReadCloser { return io.NopCloser(bytes.NewReader(p.body)) }
	r.ContentLength = int64(len(p.body))
	r.Body = body()
	r.GetBody = func() (io.ReadCloser, error) {
		if x.conn != nil { // a connection of HTTP/1.1
			return nil, errRepeat
		}
		return body(), nil
	}
	return r
}
