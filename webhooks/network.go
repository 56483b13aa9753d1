package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// errDenied is the error of a dial that the network rules forbid.
var errDenied = errors.New("the network rules deny the address; see network.deny and network.allow")

// NetworkRules say which addresses are not dialled. They are judged on what a
// name resolves to, whatever the form of an address: IPv4 within IPv6, NAT64,
// 6to4.
type NetworkRules struct {
	// Deny holds the words metadata, link-local, loopback and private, and
	// prefixes as 10.1.0.0/16.
	Deny []string
	// Allow holds prefixes. It beats Deny.
	Allow []string
}

// guard is rules, ready to judge by.
type guard struct {
	deny, allow []netip.Prefix
	// metadata: names that serve it are denied as well.
	metadata bool
}

// newGuard reads rules; nil: metadata is denied.
func newGuard(rules *NetworkRules) (guard, error) {
	if rules == nil {
		rules = &NetworkRules{Deny: []string{"metadata"}}
	}
	var g guard
	var problems []error
	for _, name := range rules.Deny {
		if group, ok := addressGroups[name]; ok {
			g.deny = append(g.deny, group...)
			g.metadata = g.metadata || name == "metadata"
			continue
		}
		prefix, err := netip.ParsePrefix(name)
		if err != nil {
			problems = append(problems, fmt.Errorf("network: deny %q is neither metadata, link-local, loopback, private nor a prefix as 10.1.0.0/16", name))
		}
		g.deny = append(g.deny, prefix)
	}
	for _, name := range rules.Allow {
		prefix, err := netip.ParsePrefix(name)
		if err != nil {
			problems = append(problems, fmt.Errorf("network: allow %q is no prefix; write one as 10.1.0.0/16", name))
		}
		g.allow = append(g.allow, prefix)
	}
	return g, errors.Join(problems...)
}

// denies says whether an address is denied, also in its disguises.
func (g *guard) denies(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	inner := embedded(addr)
	if contains(g.allow, addr) || contains(g.allow, inner) {
		return false
	}
	return contains(g.deny, addr) || contains(g.deny, inner)
}

// deniesHost says whether the host of a URL is denied before it is resolved:
// an address, or a name that is as good as one.
func (g *guard) deniesHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return g.denies(addr)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return g.metadata && metadataNames[host] || len(g.deny) > 0 && isOddAddress(host)
}

// deniesAny says whether one of the addresses of a name is denied. Then the name
// is: which one of them is dialled is chance.
func (g *guard) deniesAny(addrs []netip.Addr) bool {
	return slices.ContainsFunc(addrs, g.denies)
}

// control is called with each resolved address before it is dialled: a name can
// resolve to something else each time.
func (g *guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err == nil && g.denies(addr.Addr()) {
		return errDenied
	}
	return nil
}
