package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// NoProxy as Options.Proxy: directly, whatever the environment says.
const NoProxy = "none"

const (
	keepAlive = 15 * time.Second
	// judgementAge is how long a judgement of a name holds that a proxy is
	// asked for. There it is made for each request, as net/http has no other
	// place for it.
	judgementAge = 5 * time.Second
)

// way is how one host is reached: directly or through a proxy, within the
// network rules.
type way struct {
	host  string
	guard guard
	// proxy is nil if the host is dialled directly. The proxy itself is the
	// operator's choice and not judged.
	proxy    *url.URL
	proxyErr error
	// plain: requests are handed to the proxy as they are, not through a
	// tunnel, so that an answer may be the proxy's own.
	plain bool
	// dialer takes the place of the system's, and of the rules.
	dialer func(ctx context.Context, network, addr string) (net.Conn, error)
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)

	mu        sync.Mutex
	judged    time.Time // guarded by mu: when judgement was made
	judgement error     // guarded by mu
}

// newWay finds the way to the host of a URL. Its error is a fault of the
// options.
func newWay(o *Options, target *url.URL) (*way, error) {
	rules, rulesErr := newGuard(o.Network)
	choose, proxyErr := proxyChoice(o.Proxy)
	if err := errors.Join(rulesErr, proxyErr); err != nil {
		return nil, err
	}
	w := &way{host: target.Hostname(), guard: rules, dialer: o.Dial, lookup: lookup}
	w.proxy, w.proxyErr = choose(&http.Request{URL: target})
	if w.proxyErr != nil {
		// The error repeats the variable's value, and that may hold a password.
		w.proxyErr = &proxyError{errors.New("HTTP_PROXY or HTTPS_PROXY is no URL")}
	}
	w.plain = w.proxy != nil && target.Scheme == "http" && strings.HasPrefix(w.proxy.Scheme, "http")
	return w, nil
}

// proxyChoice reads Options.Proxy. Its error does not repeat it, as it may hold
// a password.
func proxyChoice(proxy string) (func(*http.Request) (*url.URL, error), error) {
	switch proxy {
	case "":
		return http.ProxyFromEnvironment, nil
	case NoProxy:
		return func(*http.Request) (*url.URL, error) { return nil, nil }, nil //nolint:nilnil // what net/http calls "directly"
	}
	u, err := url.Parse(proxy)
	if err != nil || u.Hostname() == "" || !isPort(u.Port()) {
		return nil, errors.New("proxy is no URL; write it as http://host:port, or none")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return http.ProxyURL(u), nil
	default:
		return nil, fmt.Errorf("proxy has scheme %q; use http, https or socks5", u.Scheme)
	}
}

// lookup resolves a name as the system's dialler does.
func lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// dial opens a connection to the host, or to its proxy.
func (w *way) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if w.dialer != nil {
		return w.dialer(ctx, network, addr)
	}
	dialer := net.Dialer{KeepAlive: keepAlive}
	if w.proxy == nil {
		if err := w.judge(ctx); err != nil {
			return nil, err
		}
		// And again on the address that is dialled, as the name is resolved
		// again for it.
		dialer.ControlContext = w.guard.control
	}
	return dialer.DialContext(ctx, network, addr)
}

// choose is the proxy for a request, if there is one.
func (w *way) choose(r *http.Request) (*url.URL, error) {
	if w.proxy == nil || w.proxyErr != nil {
		return nil, w.proxyErr
	}
	// The proxy would dial it, so our own dialler will not see the address.
	if err := w.judgeOften(r.Context()); errors.Is(err, errDenied) {
		return nil, err
	}
	// A name that only the proxy can resolve is left to it.
	return w.proxy, nil
}

// judge says whether the rules let the host be dialled, and what kept us from
// finding out.
func (w *way) judge(ctx context.Context) error {
	if len(w.guard.deny) == 0 {
		return nil
	}
	if w.guard.deniesHost(w.host) {
		return errDenied
	}
	if _, err := netip.ParseAddr(w.host); err == nil {
		return nil
	}
	addrs, err := w.lookup(ctx, w.host)
	if err == nil && w.guard.deniesAny(addrs) {
		err = errDenied
	}
	return err
}

// judgeOften does not judge anew within judgementAge.
func (w *way) judgeOften(ctx context.Context) error {
	w.mu.Lock()
	judged, judgement := w.judged, w.judgement
	w.mu.Unlock()
	if !judged.IsZero() && time.Since(judged) < judgementAge {
		return judgement
	}
	// Attempts that come here at once all look the name up; the resolver
	// makes one question of it.
	judgement = w.judge(ctx)
	if ctx.Err() != nil {
		return judgement // cut short, which says nothing for the next
	}
	w.mu.Lock()
	w.judged, w.judgement = time.Now(), judgement
	w.mu.Unlock()
	return judgement
}

// answersItself says whether an answer is, or may well be, the proxy's own. A
// proxy that gets requests as they are answers in the endpoint's stead: 407
// always, 403 for what it does not permit, 502 for what it does not reach, and
// whatever it marks as its own (Proxy-Status, RFC 9209; Squid).
func (w *way) answersItself(answer *http.Response) bool {
	if !w.plain {
		return false
	}
	switch answer.StatusCode {
	case http.StatusProxyAuthRequired, http.StatusForbidden, http.StatusBadGateway:
		return true
	}
	return strings.Contains(answer.Header.Get("Proxy-Status"), "error=") || answer.Header.Get("X-Squid-Error") != ""
}

// checkProxyAnswer makes a refusal of the proxy an error of its own kind. A tunnel
// begins with an answer that has no body (RFC 9110, 9.3.6); one that announces a
// body is a page that somebody wants to be seen.
func checkProxyAnswer(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode != http.StatusOK {
		return &proxyError{fmt.Errorf("proxy answered %d to CONNECT", answer.StatusCode)}
	}
	if length := answer.Header.Get("Content-Length"); length != "" && length != "0" {
		return &proxyError{errors.New("proxy answered CONNECT with a page of its own")}
	}
	return nil
}
