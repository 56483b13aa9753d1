package webhooks

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestNetworkDeniesMetadata(t *testing.T) {
	for addr, denied := range map[string]bool{
		"169.254.169.254":           true,
		"::ffff:169.254.169.254":    true,
		"::169.254.169.254":         true,
		"64:ff9b::169.254.169.254":  true,
		"64:ff9b:1::a9fe:a9fe":      true,
		"2002:a9fe:a9fe::1":         true,
		"fd00:ec2::254":             true,
		"fd00:ec2::254%eth0":        true,
		"169.254.170.2":             true,
		"100.100.100.200":           true,
		"168.63.129.16":             true,
		"169.254.169.253":           false,
		"127.0.0.1":                 false,
		"::1":                       false,
		"10.0.0.1":                  false,
		"64:ff9b::1.2.3.4":          false,
		"2001:db8::169.254.169.254": false,
		"::":                        false,
		"2a00:1450:4001:829::200e":  false,
		"fd00:ec2::253":             false,
	} {
		if got := isDenied(netip.MustParseAddr(addr)); got != denied {
			t.Errorf("%s: denied %v, want %v", addr, got, denied)
		}
	}
	for host, denied := range map[string]bool{
		"169.254.169.254": true, "Metadata.Google.Internal.": true, "example.com": false, "": false,
		"10.0.0.1": false, "fd00:ec2::254": true, "instance-data": true,
		// What resolvers of C take for an address.
		"2852039166": true, "0xa9fea9fe": true, "169.254.43518": true, "0251.0376.0251.0376": true, "169.254.0xa9fe": true,
	} {
		if got := isDeniedHost(host); got != denied {
			t.Errorf("%s: denied %v, want %v", host, got, denied)
		}
	}
}

// A refusal of the proxy is no answer of the endpoint.
func TestProxyRefuses(t *testing.T) {
	for _, status := range []int{http.StatusProxyAuthRequired, http.StatusBadGateway, http.StatusForbidden} {
		proxy := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		want(t, post(t, viaProxy(t, proxy, "https://endpoint.example"), message()), Release, ReasonProxy, 0)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	want(t, post(t, viaProxy(t, "http://"+listener.Addr().String(), "http://endpoint.example"), message()), Release, ReasonProxy, 0)
}

// A proxy is not asked for what our own dialler would not dial.
func TestProxyIsNotAskedForMetadata(t *testing.T) {
	proxy := newReceiver(t)
	for _, target := range []string{"http://169.254.169.254/latest", "http://metadata.google.internal/", "http://2852039166/"} {
		want(t, post(t, viaProxy(t, proxy.URL, target), message()), Release, ReasonDenied, 0)
	}
	want(t, post(t, viaProxy(t, proxy.URL, "http://endpoint.example/hooks"), message()), Accept, ReasonOK, http.StatusOK)
	if n := len(proxy.requests()); n != 1 {
		t.Errorf("the proxy was asked %d times, want once", n)
	}
}

func TestProxyFaultTellsNoSecret(t *testing.T) {
	e := newEndpoint(t, "http://endpoint.example", nil)
	e.proxyFor = func(*http.Request) (*url.URL, error) { return nil, errors.New("http://user:s3cret@proxy") }
	result := post(t, e, message())
	want(t, result, Release, ReasonProxy, 0)
	if strings.Contains(result.Cause.Error(), "s3cret") {
		t.Errorf("cause: %v", result.Cause)
	}
}

// viaProxy is an endpoint behind a proxy. The environment's cannot be set for
// a test: net/http reads it once in a process.
func viaProxy(t *testing.T, proxy, target string) *Endpoint {
	via, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	e := newEndpoint(t, target, nil)
	e.proxyFor = http.ProxyURL(via)
	return e
}
