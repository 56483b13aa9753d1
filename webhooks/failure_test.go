package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// No answer, of whatever kind, means release; the reason says of which kind.
func TestFailuresOnTheWire(t *testing.T) {
	const status = "HTTP/1.1 200 OK\r\n"
	for name, test := range map[string]struct {
		serve  func(c net.Conn)
		reason Reason
	}{
		"closed at once":     {func(net.Conn) {}, ReasonReset},
		"closed unanswered":  {func(c net.Conn) { readRequest(c) }, ReasonReset},
		"reset unanswered":   {func(c net.Conn) { readRequest(c); reset(c) }, ReasonReset},
		"half a status line": {answer("HTTP/1."), ReasonProtocol},
		"half a header":      {answer(status + "Content-Le"), ReasonProtocol},
		"header, no end":     {answer(status + "Content-Length: 0\r\n"), ReasonReset},
		"only informational": {answer("HTTP/1.1 103 Early Hints\r\n\r\n"), ReasonReset},
		"no HTTP":            {answer("220 mail.example ESMTP ready\r\n\r\n"), ReasonProtocol},
		"binary":             {answer("\x00\x01\x02\x03\x04\r\n\r\n"), ReasonProtocol},
		"no number":          {answer("HTTP/1.1 abc OK\r\n\r\n"), ReasonProtocol},
		"no colon":           {answer(status + "nonsense\r\n\r\n"), ReasonProtocol},
		"two lengths":        {answer(status + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), ReasonProtocol},
		"odd encoding":       {answer(status + "Transfer-Encoding: rot13\r\n\r\n"), ReasonProtocol},
		"HTTP/2 unasked":     {answer("\x00\x00\x00\x04\x00\x00\x00\x00\x00\r\n\r\n"), ReasonProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t, serveTCP(t, func(c net.Conn, _ int) { test.serve(c) }), nil)
			result := post(t, e, message())
			want(t, result, Release, test.reason, 0)
			if result.Cause == nil {
				t.Error("no cause")
			}
		})
	}
}

// answer reads a request, answers with text and closes.
func answer(text string) func(net.Conn) {
	return func(c net.Conn) {
		readRequest(c)
		_, _ = io.WriteString(c, text)
	}
}

func TestFailuresOfTheDial(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := "http://" + listener.Addr().String()
	_ = listener.Close()
	for _, test := range []struct {
		url    string
		reason Reason
	}{
		{refused, ReasonConnect},
		{"http://no-such-host.invalid/", ReasonDNS},
		{"http://169.254.169.254/latest/meta-data", ReasonDenied},
		{"https://[::ffff:169.254.169.254]/", ReasonDenied},
	} {
		want(t, post(t, newEndpoint(t, test.url, nil), message()), Release, test.reason, 0)
	}
}

func TestFailuresOfOurOwnMachine(t *testing.T) {
	for cause, reason := range map[error]Reason{
		syscall.EMFILE:                              ReasonInternal,
		syscall.EADDRNOTAVAIL:                       ReasonInternal,
		syscall.ENETUNREACH:                         ReasonConnect,
		syscall.ETIMEDOUT:                           ReasonTimeout,
		&net.DNSError{Err: "x", IsNotFound: true}:   ReasonDNS,
		&net.DNSError{Err: "x", IsTimeout: true}:    ReasonDNS,
		errors.New("something that nobody foresaw"): ReasonConnect,
	} {
		e := newEndpoint(t, "http://endpoint", func(o *Options) {
			o.Dial = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: cause}
			}
		})
		want(t, post(t, e, message()), Release, reason, 0)
	}
}

func TestFailuresOfTLS(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	strict := httptest.NewUnstartedServer(http.NotFoundHandler())
	strict.Config.ErrorLog = log.New(io.Discard, "", 0)
	strict.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS13}
	strict.StartTLS()
	t.Cleanup(strict.Close)
	plain := serveTCP(t, answer2("HTTP/1.1 400 Bad Request\r\n\r\n"))
	hangsUp := serveTCP(t, func(net.Conn, int) {})

	trusting := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // a test's own server
	for name, test := range map[string]struct {
		url    string
		config *tls.Config
	}{
		"unknown authority":     {secure.URL, nil},
		"other name":            {secure.URL, &tls.Config{RootCAs: trustOf(secure), ServerName: "other.example"}},  //nolint:gosec // version by default
		"other version":         {secure.URL, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS10}}, //nolint:gosec // on purpose
		"no client certificate": {strict.URL, trusting},
		"server speaks no TLS":  {strings.Replace(plain, "http:", "https:", 1), trusting},
		"server hangs up":       {strings.Replace(hangsUp, "http:", "https:", 1), trusting},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, test.url, func(o *Options) { o.TLS = test.config })
			want(t, post(t, e, message()), Release, ReasonTLS, 0)
		})
	}
}

func answer2(text string) func(net.Conn, int) {
	return func(c net.Conn, _ int) { _, _ = io.WriteString(c, text) }
}

func TestTimeout(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // the server sees the client leave only after that
			<-r.Context().Done()
		},
		"only informational": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			for r.Context().Err() == nil {
				w.WriteHeader(http.StatusProcessing)
				pass(time.Second)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEndpoint(t, "http://endpoint", viaPipe(servePipe(t, handler), func(o *Options) { o.Timeout = 7 * time.Second }))
				result := post(t, e, message())
				want(t, result, Release, ReasonTimeout, 0)
				if result.Elapsed != 7*time.Second {
					t.Errorf("after %v", result.Elapsed)
				}
			})
		})
	}
}

// Nobody accepts, or a header drips in for ever: one deadline for all of it.
func TestTimeoutOfDialAndSlowHeader(t *testing.T) {
	t.Run("dial", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEndpoint(t, "http://endpoint", viaPipe(newPipeNet(), nil))
			result := post(t, e, message())
			want(t, result, Release, ReasonTimeout, 0)
			if result.Elapsed != DefaultTimeout {
				t.Errorf("after %v", result.Elapsed)
			}
		})
	})
	t.Run("header", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			network := newPipeNet()
			serveOn(t, network, func(c net.Conn, _ int) {
				readRequest(c)
				for {
					if _, err := io.WriteString(c, "H"); err != nil {
						return
					}
					pass(time.Second)
				}
			})
			e := newEndpoint(t, "http://endpoint", viaPipe(network, nil))
			want(t, post(t, e, message()), Release, ReasonTimeout, 0)
		})
	})
	t.Run("handshake", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			network := newPipeNet()
			serveOn(t, network, func(c net.Conn, _ int) { _, _ = io.Copy(io.Discard, c) })
			e := newEndpoint(t, "https://endpoint", viaPipe(network, nil))
			want(t, post(t, e, message()), Release, ReasonTimeout, 0)
		})
	})
}

// Paths and queries carry tokens, and errors end in logs.
func TestCausesHoldNoSecrets(t *testing.T) {
	for _, url := range []string{
		"http://127.0.0.1:1/hook/s3cret?token=s3cret",
		"http://no-such-host.invalid/s3cret?s3cret",
		"http://169.254.169.254/s3cret?s3cret",
		serveTCP(t, func(c net.Conn, _ int) { reset(c) }) + "/s3cret?s3cret",
		serveTCP(t, func(c net.Conn, _ int) { answer("nonsense\r\n\r\n")(c) }) + "/s3cret?s3cret",
	} {
		e := newEndpoint(t, url, func(o *Options) { o.Auth.Bearer = &BearerAuth{"s3cret"} })
		result := post(t, e, message())
		if result.Cause == nil || strings.Contains(result.Cause.Error(), "s3cret") {
			t.Errorf("%s: %v", url, result.Cause)
		}
	}
}
