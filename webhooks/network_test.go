package webhooks

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// guardOf is the rules ready to judge by.
func guardOf(t *testing.T, rules *NetworkRules) *guard {
	t.Helper()
	g, err := newGuard(rules)
	if err != nil {
		t.Fatal(err)
	}
	return &g
}

func TestNetworkDeniesMetadata(t *testing.T) {
	g := guardOf(t, nil)
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
		if got := g.denies(netip.MustParseAddr(addr)); got != denied {
			t.Errorf("%s: denied %v, want %v", addr, got, denied)
		}
	}
	for host, denied := range map[string]bool{
		"169.254.169.254": true, "Metadata.Google.Internal.": true, "example.com": false, "": false,
		"10.0.0.1": false, "fd00:ec2::254": true, "instance-data": true,
		// What resolvers of C take for an address.
		"2852039166": true, "0xa9fea9fe": true, "169.254.43518": true, "0251.0376.0251.0376": true, "169.254.0xa9fe": true,
	} {
		if got := g.deniesHost(host); got != denied {
			t.Errorf("%s: denied %v, want %v", host, got, denied)
		}
	}
}

func TestNetworkRules(t *testing.T) {
	for _, test := range []struct {
		rules           NetworkRules
		denied, allowed string
	}{
		{NetworkRules{}, "", "169.254.169.254 127.0.0.1 10.0.0.1 ::"},
		{NetworkRules{Deny: []string{"link-local"}}, "169.254.0.1 fe80::1%eth0 ::ffff:169.254.169.254 64:ff9b::169.254.1.1", "127.0.0.1 fec0::1 100.100.100.200"},
		{NetworkRules{Deny: []string{"loopback"}}, "127.0.0.1 127.9.9.9 ::1 0.0.0.0 :: ::ffff:127.0.0.1 ::127.0.0.1 2002:7f00:1::", "10.0.0.1 169.254.169.254 1.1.1.1"},
		{
			NetworkRules{Deny: []string{"private"}},
			"10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 fd00::1 fc00::1 ::ffff:10.0.0.1 64:ff9b::10.0.0.1",
			"172.15.0.1 172.32.0.1 127.0.0.1 11.0.0.1 100.63.0.1 2001:db8::1",
		},
		{NetworkRules{Deny: []string{"private", "loopback"}}, "10.0.0.1 127.0.0.1", "169.254.169.254"},
		{NetworkRules{Deny: []string{"203.0.113.0/24", "2001:db8::/32"}}, "203.0.113.7 2001:db8::7", "203.0.114.7 169.254.169.254"},
		{NetworkRules{Deny: []string{"0.0.0.0/0", "::/0"}, Allow: []string{"10.1.0.0/16"}}, "10.2.0.1 1.1.1.1 ::1", "10.1.0.1 ::ffff:10.1.0.1 64:ff9b::10.1.0.1"},
		{NetworkRules{Deny: []string{"metadata"}, Allow: []string{"169.254.169.254/32"}}, "169.254.170.2", "169.254.169.254"},
		{NetworkRules{Allow: []string{"10.0.0.0/8"}}, "", "11.0.0.1"},
	} {
		g := guardOf(t, &test.rules)
		for addr := range strings.FieldsSeq(test.denied) {
			if !g.denies(netip.MustParseAddr(addr)) {
				t.Errorf("%v: %s is allowed", test.rules, addr)
			}
		}
		for addr := range strings.FieldsSeq(test.allowed) {
			if g.denies(netip.MustParseAddr(addr)) {
				t.Errorf("%v: %s is denied", test.rules, addr)
			}
		}
	}
}

func TestNetworkFaults(t *testing.T) {
	for _, rules := range []NetworkRules{
		{Deny: []string{"everything"}},
		{Deny: []string{"10.0.0.1"}},
		{Deny: []string{"10.0.0.0/33"}},
		{Deny: []string{"Private"}},
		{Allow: []string{"private"}},
		{Allow: []string{"10.0.0.1"}},
		{Deny: []string{""}},
	} {
		if e, err := New(Options{Name: "orders", URL: "http://localhost", Network: &rules}); err == nil {
			e.Close()
			t.Errorf("%v: no error", rules)
		}
	}
}

// resolving makes an endpoint take names for these addresses.
func resolving(e *Endpoint, addrs ...string) {
	e.way.lookup = func(context.Context, string) ([]netip.Addr, error) {
		var found []netip.Addr
		for _, addr := range addrs {
			found = append(found, netip.MustParseAddr(addr))
		}
		return found, nil
	}
}

// No packet goes to a denied host, in whatever form it is written and however
// many good addresses its name has besides, directly or by a proxy.
func TestDeniedHostsAreNotAsked(t *testing.T) {
	r, proxy := newReceiver(t), newReceiver(t)
	_, port, err := net.SplitHostPort(r.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	deny := &NetworkRules{Deny: []string{"metadata", "203.0.113.0/24"}}
	for _, via := range []string{NoProxy, proxy.URL} {
		for _, host := range []string{
			"169.254.169.254", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376",
			"metadata.google.internal", "203.0.113.1", "localhost",
		} {
			e := newEndpoint(t, "http://"+host+":"+port+"/latest", func(o *Options) { o.Proxy, o.Network = via, deny })
			resolving(e, "127.0.0.1", "203.0.113.9")
			want(t, post(t, e, message()), Release, ReasonDenied, 0)
		}
	}
	if n := len(r.requests()) + len(proxy.requests()); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}

// A name that resolves otherwise when it is dialled is judged again.
func TestRebindingNameIsDenied(t *testing.T) {
	r := newReceiver(t)
	_, port, err := net.SplitHostPort(r.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	e := newEndpoint(t, "http://localhost:"+port, func(o *Options) {
		o.Proxy, o.Network = NoProxy, &NetworkRules{Deny: []string{"loopback"}}
	})
	resolving(e, "192.0.2.1") // which is not what the dialler finds
	want(t, post(t, e, message()), Release, ReasonDenied, 0)
	if n := len(r.requests()); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}

func TestAllowedHostIsAsked(t *testing.T) {
	r := newReceiver(t)
	for _, rules := range []*NetworkRules{
		{Deny: []string{"loopback"}, Allow: []string{"127.0.0.0/8", "::1/128"}}, {}, {Deny: []string{"private", "link-local"}},
	} {
		e := newEndpoint(t, r.URL, func(o *Options) { o.Network = rules })
		want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
	}
}

func TestNameThatIsNotFound(t *testing.T) {
	e := newEndpoint(t, "http://no-such-host.invalid", func(o *Options) { o.Proxy = NoProxy })
	e.way.lookup = func(context.Context, string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "no-such-host.invalid", IsNotFound: true}
	}
	want(t, post(t, e, message()), Release, ReasonDNS, 0)
}
