package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	// idleConnTimeout is below the 2 to 10 minutes after which firewalls and
	// load balancers forget a silent connection without a word.
	idleConnTimeout = 90 * time.Second
	// maxAnswerHeader bounds the memory that an answer's header can take.
	maxAnswerHeader = 256 << 10
	// A dead HTTP/2 connection would take all requests of an endpoint with it:
	// without a frame for pingAfter it is asked, and closed if it does not
	// answer within pingTimeout.
	pingAfter   = 10 * time.Second
	pingTimeout = 5 * time.Second
	keepAlive   = 15 * time.Second
)

// newTransport makes the pool of connections of one generation. Its requests
// are made with RoundTrip, which follows no redirect and keeps no cookie.
func (e *Endpoint) newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  e.proxy,
		OnProxyConnectResponse: checkProxyAnswer,
		DialContext:            e.dial,
		DialTLSContext:         e.dialTLS,
		// For servers behind a proxy, whose TLS net/http itself begins.
		TLSClientConfig:     e.tlsConfig(""),
		TLSHandshakeTimeout: e.options.Timeout,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},

		// As many as there are attempts, so that a burst reuses what the one
		// before it dialled; Go's default is 2. And no more: a request that finds
		// no idle connection dials, also if one comes free meanwhile, and with
		// handshakes slower than answers such dials pile up.
		MaxIdleConnsPerHost:    e.options.Concurrency,
		MaxConnsPerHost:        e.options.Concurrency,
		IdleConnTimeout:        idleConnTimeout,
		MaxResponseHeaderBytes: maxAnswerHeader,
		// We read little of an answer; it need not be compressed for us.
		DisableCompression: true,
	}
}

// dial opens a connection. It is bounded by itself: net/http lets a dial go on
// after the request that wanted it is gone, as another may come to use it.
func (e *Endpoint) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, e.options.Timeout)
	defer cancel()
	defer context.AfterFunc(e.lifetime, cancel)()

	raw, err := e.dialRaw(ctx, network, addr)
	if err != nil {
		return nil, &dialError{err}
	}
	tracked, err := e.conns.add(raw)
	if err != nil {
		return nil, err
	}
	return newAnswerConn(tracked), nil
}

func (e *Endpoint) dialRaw(ctx context.Context, network, addr string) (net.Conn, error) {
	if e.options.Dial != nil {
		return e.options.Dial(ctx, network, addr)
	}
	// Judged on the address that is dialled, after the name was resolved: a
	// name can resolve to anything, and to something else each time.
	dialer := net.Dialer{KeepAlive: keepAlive, ControlContext: denyControl}
	return dialer.DialContext(ctx, network, addr)
}

// dialTLS opens a connection and its TLS session. It is done here rather than by
// net/http so that what goes wrong can be told from what goes wrong later, and
// so that the answer is seen in the clear by answerConn.
func (e *Endpoint) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, e.options.Timeout)
	defer cancel()
	defer context.AfterFunc(e.lifetime, cancel)()

	raw, err := e.dialRaw(ctx, network, addr)
	if err != nil {
		return nil, &dialError{err}
	}
	tracked, err := e.conns.add(raw)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	session := tls.Client(tracked, e.tlsConfig(host))
	if err := session.HandshakeContext(ctx); err != nil {
		// Not session.Close, which would wait to say goodbye.
		_ = tracked.Close()
		return nil, &tlsError{err}
	}
	if session.ConnectionState().NegotiatedProtocol == "h2" {
		// net/http looks for the bare type to speak HTTP/2 on it.
		return session, nil
	}
	return newAnswerConn(session), nil
}

// tlsConfig is the endpoint's, for a server of that name. Without a name it is
// left to net/http.
func (e *Endpoint) tlsConfig(host string) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.options.TLS != nil {
		config = e.options.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	if config.ClientSessionCache == nil {
		config.ClientSessionCache = e.sessions
	}
	if len(config.NextProtos) == 0 {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	return config
}

// proxy is the proxy for the endpoint, if there is one.
func (e *Endpoint) proxy(r *http.Request) (*url.URL, error) {
	via, err := e.proxyFor(r)
	if err != nil {
		// The error repeats the variable's value, and that may hold a password.
		return nil, &proxyError{errors.New("HTTP_PROXY or HTTPS_PROXY is no URL")}
	}
	if via != nil && isDeniedHost(r.URL.Hostname()) {
		// The proxy would dial it, so our own dialler will not see it.
		return nil, errDenied
	}
	return via, nil
}

// checkProxyAnswer makes a refusal of the proxy an error of its own kind.
func checkProxyAnswer(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode != http.StatusOK {
		return &proxyError{fmt.Errorf("proxy answered %d to CONNECT", answer.StatusCode)}
	}
	return nil
}
