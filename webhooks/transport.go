package webhooks

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
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
)

// newTransport makes the pool of connections of one generation. Its requests
// are made with RoundTrip, which follows no redirect and keeps no cookie.
func (e *Endpoint) newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  e.way.choose,
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

	tracked, err := e.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return newAnswerConn(tracked), nil
}

// connect opens a connection that Close ends.
func (e *Endpoint) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	raw, err := e.way.dial(ctx, network, addr)
	if err != nil {
		return nil, &dialError{err}
	}
	return e.conns.add(raw)
}

// dialTLS opens a connection and its TLS session. It is done here rather than by
// net/http so that what goes wrong can be told from what goes wrong later, and
// so that the answer is seen in the clear by answerConn.
func (e *Endpoint) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, e.options.Timeout)
	defer cancel()
	defer context.AfterFunc(e.lifetime, cancel)()

	tracked, err := e.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	config := e.tlsConfig(host)
	if e.way.proxy != nil {
		config = e.proxyTLSConfig(host)
	}
	session := tls.Client(tracked, config)
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

// proxyTLSConfig is for the session with an https proxy. What the endpoint is to
// be called, and who we are to it, is nothing to the proxy; the authorities are
// those of this network all the same.
func (e *Endpoint) proxyTLSConfig(host string) *tls.Config {
	config := e.tlsConfig(host)
	config.ServerName, config.Certificates, config.GetClientCertificate = host, nil, nil
	config.NextProtos = []string{"http/1.1"}
	return config
}
