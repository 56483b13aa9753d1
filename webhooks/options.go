package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Defaults of Options.
const (
	DefaultTimeout       = 10 * time.Second
	DefaultConcurrency   = 64
	DefaultMaxRetryAfter = 5 * time.Minute
	DefaultContentType   = "application/octet-stream"
	DefaultVersion       = "devel"
)

// Options say where and how an Endpoint is reached. Only URL is required.
type Options struct {
	// Name is the endpoint's in the configuration, for errors and spans.
	Name string
	// URL is http or https, without userinfo and fragment.
	URL string
	// Timeout bounds one attempt from dialling to the end of the answer's
	// header. Default: DefaultTimeout.
	Timeout time.Duration
	// Headers are sent with every attempt. A name that Sharehook sets itself
	// or that frames the request is an error, see ReservedHeader.
	Headers map[string]string
	// Forward says which record headers are sent. Nil: all of them, with
	// DefaultForwardPrefix.
	Forward *ForwardRules
	// Format is what the body is made like. Default: FormatRaw.
	Format Format
	// ContentType is the media type of the body, of CloudEvents that of the
	// data. Empty: what the format says; of FormatRaw the record's content-type
	// header if it is a valid media type, else DefaultContentType.
	ContentType string
	// CloudEvents are attributes of the events that are made of records.
	CloudEvents CloudEvents
	// Auth is how the gateway authenticates. Zero: it does not.
	Auth Auth
	// SigningSecrets are secrets of Standard Webhooks, whsec_ (v1, HMAC-SHA256)
	// or whsk_ (v1a, Ed25519). Each attempt is signed with all of them, the
	// newest first. None: it is not signed.
	SigningSecrets []string

	// Status maps final status codes to verdicts.
	Status StatusMap
	// HonourAction lets the answer's sharehook-action header decide.
	HonourAction bool
	// MaxRetryAfter caps the answer's Retry-After. Default:
	// DefaultMaxRetryAfter; negative: the header is ignored.
	MaxRetryAfter time.Duration

	// Concurrency is how many attempts the caller makes at once. It is the
	// size of the pool of connections: of more attempts some would wait for a
	// connection, within their timeout. Default: DefaultConcurrency.
	Concurrency int
	// Network says which addresses are not dialled. Nil: cloud metadata.
	Network *NetworkRules
	// Proxy is the URL of a proxy (http, https, socks5), which may hold a user
	// and a password, or NoProxy. Empty: what HTTP_PROXY, HTTPS_PROXY and
	// NO_PROXY say.
	Proxy string
	// TLS is for https. Nil: the system's roots.
	TLS *tls.Config
	// Version is sent as user-agent sharehook/VERSION. Default: DefaultVersion.
	Version string

	// Tracer makes the client span of an attempt. Nil: none.
	Tracer trace.Tracer
	// Propagator writes the trace context into the request. Nil: none.
	Propagator propagation.TextMapPropagator
	// CountDropped is told how many headers of a record were left out of a
	// request because HTTP cannot carry them, or not so many, or not from a
	// record. It may be called concurrently. Nil: nobody is.
	CountDropped func(n int)

	// Now is the wall clock. Default: time.Now.
	Now func() time.Time
	// Dial replaces the system's dialler, and with it the network rules, which
	// are judged on the addresses that the system's dialler finds. It is for
	// networks that exist in the process only.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// check completes o with its defaults and reports all that is wrong with it.
func (o *Options) check() (*url.URL, error) {
	target, err := parseURL(o.URL)
	problems := []error{err}
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		problems = append(problems, checkFixedHeader(name, o.Headers[name]))
	}
	if o.ContentType != "" {
		if parseMediaType(o.ContentType).text != o.ContentType {
			problems = append(problems, fmt.Errorf("content type %q is no media type; write it as application/json", o.ContentType))
		}
	}
	if o.Timeout < 0 {
		problems = append(problems, fmt.Errorf("timeout %v is negative; use 10s or so", o.Timeout))
	}
	if o.Concurrency < 0 {
		problems = append(problems, fmt.Errorf("concurrency %d is negative; use 64 or so", o.Concurrency))
	}
	if !isPrintable(o.Version) {
		problems = append(problems, errors.New("version is not printable ASCII"))
	}
	o.setDefaults()
	problems = append(problems, o.Forward.check(), o.checkFormat(), o.Auth.check())
	for name := range o.Auth.fixed() {
		if sameHeader(o.Headers, name) {
			problems = append(problems, fmt.Errorf("header %q is set by auth; remove it from one of them", name))
		}
	}
	return target, errors.Join(problems...)
}

func (o *Options) setDefaults() {
	setDefault(&o.Timeout, DefaultTimeout)
	setDefault(&o.Concurrency, DefaultConcurrency)
	setDefault(&o.MaxRetryAfter, DefaultMaxRetryAfter)
	setDefault(&o.Version, DefaultVersion)
	setDefault(&o.Format, FormatRaw)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.CountDropped == nil {
		o.CountDropped = func(int) {}
	}
	if o.Forward == nil {
		o.Forward = &ForwardRules{Include: []string{"*"}, Prefix: DefaultForwardPrefix}
	}
}

func setDefault[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}

// parseURL checks an endpoint's URL. Its errors do not repeat the URL, as paths
// and queries carry tokens.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("url cannot be parsed; write it as https://host:port/path")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("url has scheme %q; use http or https", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("url has no host; write it as https://host:port/path")
	case !isPort(u.Port()):
		return nil, errors.New("url has no such port; use one from 1 to 65535")
	case u.User != nil:
		return nil, errors.New("url holds a user or password; use headers for credentials")
	case u.Fragment != "":
		return nil, errors.New("url has a fragment, which is never sent; remove it")
	}
	u.Host = strings.TrimSuffix(u.Host, ":")
	return u, nil
}

// isPort says whether s is the port of a URL, or none.
func isPort(s string) bool {
	port, err := strconv.ParseUint(s, 10, 16)
	return s == "" || err == nil && port > 0
}

// checkFixedHeader checks one entry of Options.Headers. Its errors hold no
// value, which may be a credential.
func checkFixedHeader(name, value string) error {
	switch {
	case !isToken(name):
		return fmt.Errorf("header %q: HTTP knows no such name; use letters, digits and '-'", name)
	case ReservedHeader(name):
		return fmt.Errorf("header %q is set by Sharehook itself; remove it", name)
	case !isFieldValue(value):
		return fmt.Errorf("header %q: the value has a control character or a blank at an end; remove it", name)
	}
	return nil
}

// isFieldValue says whether HTTP carries s as the value of a header: no control
// characters but tabs, and no blanks at the ends, which receivers strip.
func isFieldValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return strings.Trim(s, " \t") == s
}

// canonical is the form in which net/http keeps a header's name.
func canonical(name string) string { return http.CanonicalHeaderKey(name) }
