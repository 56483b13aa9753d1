package webhooks

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// viaProxy is an endpoint behind a proxy.
func viaProxy(t *testing.T, proxy, target string) *Endpoint {
	t.Helper()
	e := newEndpoint(t, target, func(o *Options) { o.Proxy = proxy })
	e.way.lookup = func(context.Context, string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	return e
}

// A refusal of the proxy is no answer of the endpoint: to CONNECT, and to a
// request that is handed to it as it is.
func TestProxyRefuses(t *testing.T) {
	for _, status := range []int{http.StatusProxyAuthRequired, http.StatusBadGateway, http.StatusForbidden} {
		proxy := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		want(t, post(t, viaProxy(t, proxy, "https://endpoint.example"), message()), Release, ReasonProxy, 0)
		want(t, post(t, viaProxy(t, proxy, "http://endpoint.example"), message()), Release, ReasonProxy, status)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	want(t, post(t, viaProxy(t, "http://"+listener.Addr().String(), "http://endpoint.example"), message()), Release, ReasonProxy, 0)
}

// What the proxy marks as its own, whatever the status.
func TestProxyMarksItsAnswer(t *testing.T) {
	for name, value := range map[string]string{"Proxy-Status": "squid; error=dns_error", "X-Squid-Error": "ERR_INVALID_URL 0"} {
		proxy := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(name, value)
			w.WriteHeader(http.StatusBadRequest)
		})
		want(t, post(t, viaProxy(t, proxy, "http://endpoint.example"), message()), Release, ReasonProxy, http.StatusBadRequest)
	}
}

// Behind a proxy the endpoint's own answers count as ever, and the file's word
// on a code counts more than what the code may mean.
func TestAnswersThroughAProxy(t *testing.T) {
	var status atomic.Int64
	proxy := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Sharehook-Action", "reject")
		w.Header().Set("Proxy-Status", "proxy; received-status=422")
		w.WriteHeader(int(status.Load()))
	})
	for code, reason := range map[int]Reason{http.StatusOK: ReasonOK, http.StatusUnprocessableEntity: ReasonStatus4xx, http.StatusServiceUnavailable: ReasonStatus5xx} {
		status.Store(int64(code))
		if result := post(t, viaProxy(t, proxy, "http://endpoint.example"), message()); result.Reason != reason {
			t.Errorf("%d: got %s", code, result.Reason)
		}
	}
	status.Store(http.StatusForbidden)
	rules, err := ParseStatusMap(nil, nil, []string{"403"})
	if err != nil {
		t.Fatal(err)
	}
	e := viaProxy(t, proxy, "http://endpoint.example")
	e.answers.Status = rules
	want(t, post(t, e, message()), Reject, ReasonStatus4xx, http.StatusForbidden)
	e = viaProxy(t, proxy, "http://endpoint.example")
	e.answers.HonourAction = true
	want(t, post(t, e, message()), Reject, ReasonAction, http.StatusForbidden)
}

// A proxy that opens the tunnel and speaks in it itself, at once or when it is
// spoken to.
func TestProxyAnswersInTheTunnel(t *testing.T) {
	const page = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nWelcome"
	for _, answers := range [][]string{{page, ""}, {"HTTP/1.1 200 OK\r\n\r\n", page}} {
		proxy := serveTCP(t, func(c net.Conn, _ int) {
			in := bufio.NewReader(c)
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			_, _ = io.WriteString(c, answers[0])
			if _, err := in.ReadByte(); err == nil {
				_, _ = io.WriteString(c, answers[1])
				_, _ = io.Copy(io.Discard, c)
			}
		})
		want(t, post(t, viaProxy(t, proxy, "https://endpoint.example"), message()), Release, ReasonProxy, 0)
	}
}

// The tunnel ends at the endpoint: its certificate is checked, the proxy's
// password is sent to the proxy alone.
func TestTunnel(t *testing.T) {
	var authorization atomic.Value
	target := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "" {
			t.Error("the endpoint was told the proxy's password")
		}
	}))
	t.Cleanup(target.Close)
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		authorization.Store(r.Header.Get("Proxy-Authorization"))
		tunnel(t, w, target.Listener.Addr().String())
	})
	e := newEndpoint(t, "https://example.com/hooks", func(o *Options) {
		o.Proxy = strings.Replace(proxy, "http://", "http://user:s3cret@", 1)
		o.TLS = &tls.Config{RootCAs: trustOf(target)} //nolint:gosec // version by default
	})
	resolving(e, "192.0.2.1")
	want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
	if got := authorization.Load(); got != "Basic dXNlcjpzM2NyZXQ=" {
		t.Errorf("the proxy got %q", got)
	}
	e = newEndpoint(t, "https://example.com/hooks", func(o *Options) { o.Proxy = proxy })
	resolving(e, "192.0.2.1")
	want(t, post(t, e, message()), Release, ReasonTLS, 0)
}

// tunnel connects a request's connection with an address.
func tunnel(t *testing.T, w http.ResponseWriter, address string) {
	far, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	defer far.Close()
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer near.Close()
	_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		_, _ = io.Copy(far, buffered)
		_ = far.Close()
	}()
	_, _ = io.Copy(near, far)
}

// An https proxy is spoken to by its own name, and without our certificate.
func TestSecureProxy(t *testing.T) {
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || len(r.TLS.PeerCertificates) != 0 || r.URL.Host != "endpoint.example" {
			t.Errorf("got %v", r.URL)
		}
	}))
	proxy.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, NextProtos: []string{"h2", "http/1.1"}} //nolint:gosec // version by default
	proxy.StartTLS()
	t.Cleanup(proxy.Close)
	e := newEndpoint(t, "http://endpoint.example", func(o *Options) {
		o.Proxy = proxy.URL
		o.TLS = &tls.Config{RootCAs: trustOf(proxy), ServerName: "endpoint.example", Certificates: proxy.TLS.Certificates} //nolint:gosec // version by default
	})
	resolving(e, "192.0.2.1")
	want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
}

// A proxy may live where no endpoint may.
func TestProxyIsNotJudged(t *testing.T) {
	proxy := newReceiver(t)
	e := newEndpoint(t, "http://endpoint.example", func(o *Options) {
		o.Proxy, o.Network = proxy.URL, &NetworkRules{Deny: []string{"loopback", "private"}}
	})
	resolving(e, "192.0.2.1")
	want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
	proxy.last(t)
}

func TestNoProxyIsDirect(t *testing.T) {
	r := newReceiver(t)
	e := newEndpoint(t, r.URL, func(o *Options) { o.Proxy = NoProxy })
	want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
	if e.way.proxy != nil {
		t.Errorf("proxy %v", e.way.proxy)
	}
}

// The judgement of a name behind a proxy is made anew after a time, not for
// each request.
func TestJudgementGetsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEndpoint(t, "http://endpoint.example", func(o *Options) { o.Proxy = "http://proxy.example" })
		asked, good := 0, true
		e.way.lookup = func(context.Context, string) ([]netip.Addr, error) {
			asked++
			if good {
				return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("169.254.169.254")}, nil
		}
		request := (&http.Request{URL: &url.URL{Scheme: "http", Host: "endpoint.example"}}).WithContext(t.Context())
		for range 10 {
			if via, err := e.way.choose(request); err != nil || via.Host != "proxy.example" {
				t.Fatalf("got %v, %v", via, err)
			}
		}
		good = false
		if _, err := e.way.choose(request); err != nil || asked != 1 {
			t.Errorf("asked %d times, %v", asked, err)
		}
		pass(judgementAge)
		if _, err := e.way.choose(request); !errors.Is(err, errDenied) || asked != 2 {
			t.Errorf("asked %d times, %v", asked, err)
		}
		pass(judgementAge)
		good = true
		ctx, cancel := context.WithCancel(t.Context())
		e.way.lookup = func(ctx context.Context, _ string) ([]netip.Addr, error) { cancel(); return nil, ctx.Err() }
		_, _ = e.way.choose(request.WithContext(ctx))
		if _, err := e.way.choose(request.WithContext(t.Context())); errors.Is(err, errDenied) {
			t.Error("a lookup that was cut short left the old judgement")
		}
	})
}

func TestProxyFaultsTellNoSecret(t *testing.T) {
	for _, proxy := range []string{"user:s3cret@proxy:3128", "ftp://user:s3cret@proxy", "http://user:s3cret@", "http://user:s3cret@proxy:99999", "http://user:s3cret@pr oxy", "None"} {
		e, err := New(Options{Name: "orders", URL: "http://localhost", Proxy: proxy})
		if err == nil {
			e.Close()
			t.Errorf("%s: no error", proxy)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", proxy, err)
		}
	}
	e := newEndpoint(t, "http://endpoint.example", nil)
	e.way.proxyErr = &proxyError{errors.New("HTTP_PROXY or HTTPS_PROXY is no URL")}
	want(t, post(t, e, message()), Release, ReasonProxy, 0)

	// Nor does an attempt that the proxy did not let through.
	for _, target := range []string{"http://endpoint.example/path-s3cret?s3cret", "https://endpoint.example/path-s3cret"} {
		e = viaProxy(t, "http://user:s3cret@127.0.0.1:1", target)
		if result := post(t, e, message()); result.Reason != ReasonProxy || strings.Contains(result.Cause.Error(), "s3cret") {
			t.Errorf("%s: %s, %v", target, result.Reason, result.Cause)
		}
	}
}

// The environment's proxies, NO_PROXY by suffix, port and prefix included. It is
// read once in a process, so the test runs itself in one of its own.
func TestEnvironmentChoosesTheProxy(t *testing.T) {
	const child = "SHAREHOOK_TEST_PROXIES"
	if os.Getenv(child) == "" {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEnvironmentChoosesTheProxy$")
		again.Env = append(os.Environ(), child+"=1", "HTTP_PROXY=http://plain.example:1", "HTTPS_PROXY=http://secure.example:2",
			"NO_PROXY=.internal.example,direct.example:8080,10.1.0.0/16")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	for target, proxy := range map[string]string{
		"http://a.example": "plain.example:1", "https://a.example": "secure.example:2",
		"http://a.internal.example": "", "https://internal.example.com": "secure.example:2",
		"http://direct.example:8080": "", "http://direct.example": "plain.example:1",
		"http://10.1.2.3": "", "http://10.2.2.3": "plain.example:1", "http://127.0.0.1:8000": "", "http://localhost": "",
	} {
		got := ""
		if via := newEndpoint(t, target, nil).way.proxy; via != nil {
			got = via.Host
		}
		if got != proxy {
			t.Errorf("%s: by %q, want %q", target, got, proxy)
		}
		if via := newEndpoint(t, target, func(o *Options) { o.Proxy = NoProxy }).way.proxy; via != nil {
			t.Errorf("%s without a proxy: by %v", target, via)
		}
	}
}
