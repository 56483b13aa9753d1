package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	// maxConnAge is how old a generation of connections gets before new
	// requests take new connections, so that a change of DNS records or of a
	// certificate file is seen also by an endpoint that is never idle.
	maxConnAge = 5 * time.Minute
	// connAgeJitter keeps replicas and endpoints from dialling all at once.
	connAgeJitter = time.Minute
)

// errClosed is the cause of attempts on a closed endpoint.
var errClosed = errors.New("endpoint is closed")

// Endpoint is where messages are sent to. It is safe for concurrent use.
type Endpoint struct {
	options Options
	answers AnswerRules
	// origin is scheme://host:port, all that may be shown of the URL.
	origin string
	fixed  []fixedHeader
	// template is what all requests have in common.
	template *http.Request

	formatter formatter
	signer    signer
	auth      authenticator // nil: the credentials, if any, stay the same
	sessions  tls.ClientSessionCache
	tracing   tracing
	way       *way
	patience  patience

	// lifetime ends with Close and takes the dials under way with it.
	lifetime context.Context //nolint:containedctx // the endpoint's own, not a caller's
	end      context.CancelFunc
	conns    connSet

	mu      sync.Mutex
	current *generation // guarded by mu
}

// New makes an endpoint. It connects to nothing. Its error is all that is wrong
// with the options, joined.
func New(o Options) (*Endpoint, error) {
	target, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", o.Name, err)
	}
	signer, signingErr := newSigner(o.SigningSecrets)
	way, wayErr := newWay(&o, target)
	if err = errors.Join(signingErr, wayErr); err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", o.Name, err)
	}
	e := &Endpoint{
		options:  o,
		answers:  AnswerRules{Status: o.Status, HonourAction: o.HonourAction, MaxRetryAfter: max(o.MaxRetryAfter, 0)},
		origin:   originOf(target),
		fixed:    fixedHeaders(&o),
		template: &http.Request{Method: http.MethodPost, URL: target, Host: target.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1},
		signer:   signer,
		way:      way,
		sessions: tls.NewLRUClientSessionCache(0),
		tracing:  newTracing(&o, target),
	}
	e.formatter = newFormatter(&o)
	e.lifetime, e.end = context.WithCancel(context.Background())
	if e.auth, err = newAuthenticator(e.lifetime, &o, target); err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", o.Name, err)
	}
	return e, nil
}

// Close ends the endpoint's connections. Callers wait for their attempts first:
// those still under way are cut short, with ReasonStopped.
func (e *Endpoint) Close() {
	e.end()
	if e.auth != nil {
		e.auth.close()
	}
	e.conns.closeAll()
	e.mu.Lock()
	last := e.current
	e.current = nil
	e.mu.Unlock()
	if last != nil {
		last.transport.CloseIdleConnections()
	}
}

// generation is a pool of connections that is left after a time. net/http gives
// connections no greatest age: under load none is ever idle for long, and one
// that is in use cannot be told to close after it. A pool that gets no new
// requests can: what is idle is closed at once, the rest when its request ends.
type generation struct {
	transport *http.Transport
	expires   time.Time
	// users are the attempts that took this generation and have not ended.
	// Guarded by Endpoint.mu.
	users int
}

// enter takes the current generation for one attempt, making a new one if it is
// time. Whoever takes one leaves it.
func (e *Endpoint) enter() *generation {
	now := time.Now()
	e.mu.Lock()
	old := e.current
	if old == nil || now.After(old.expires) {
		age := maxConnAge - rand.N(connAgeJitter)
		e.current = &generation{transport: e.newTransport(), expires: now.Add(age)}
	} else {
		old = nil
	}
	g := e.current
	g.users++
	e.mu.Unlock()
	if old != nil {
		old.transport.CloseIdleConnections()
	}
	return g
}

// leave ends an attempt's use of its generation.
func (e *Endpoint) leave(g *generation) {
	e.mu.Lock()
	g.users--
	// Closing what is idle at the change is not enough: an attempt that had
	// taken the old generation, and no connection yet, has put one back since.
	last := g.users == 0 && g != e.current
	e.mu.Unlock()
	if last {
		g.transport.CloseIdleConnections()
	}
}

// originOf is scheme://host:port of a URL, the port only if the URL has one.
func originOf(u *url.URL) string { return u.Scheme + "://" + u.Host }
