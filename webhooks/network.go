package webhooks

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"syscall"
)

// errDenied is the error of a dial that the network rules forbid.
var errDenied = errors.New("the address serves a cloud's machine metadata, which no endpoint may name")

// metadataAddrs are where clouds tell a machine, and whoever can make it ask,
// its credentials.
var metadataAddrs = addrSet(
	"169.254.169.254", // AWS, Azure, Google, OpenStack, DigitalOcean, Oracle
	"169.254.170.2",   // AWS: ECS tasks
	"169.254.170.23",  // AWS: EKS pod identity
	"169.254.0.23",    // Tencent
	"fd00:ec2::254",   // AWS
	"fd00:ec2::23",    // AWS: EKS pod identity
	"fd20:ce::254",    // Google
	"100.100.100.200", // Alibaba
	"192.0.0.192",     // Oracle classic
	"168.63.129.16",   // Azure: wire server
)

// metadataNames are names that only a proxy could resolve otherwise.
var metadataNames = map[string]bool{"metadata.google.internal": true, "metadata.goog": true, "instance-data": true}

// nat64 are the prefixes under which a gateway turns IPv6 into IPv4: the
// well-known one (RFC 6052) and the one for local use (RFC 8215). The IPv4
// address is the last four bytes.
var nat64 = []netip.Prefix{netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48")}

// sixToFour is RFC 3056: the IPv4 address follows the prefix.
var sixToFour = netip.MustParsePrefix("2002::/16")

// denyControl is called with each resolved address before it is dialled.
func denyControl(_ context.Context, _, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err == nil && isDenied(addr.Addr()) {
		return errDenied
	}
	return nil
}

// isDenied says whether an address is denied, also in its disguises.
func isDenied(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return metadataAddrs[addr] || metadataAddrs[embedded(addr)]
}

// isDeniedHost says whether the host of a URL is denied, before a proxy is asked
// to resolve and dial it.
func isDeniedHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return isDenied(addr)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return metadataNames[host] || isOddAddress(host)
}

// isOddAddress says whether a host that is no proper address may be taken for
// one: 2852039166, 0xa9.254.43518. No name ends in a number (RFC 3696, 2).
func isOddAddress(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return isDigits(last) || strings.HasPrefix(last, "0x")
}

// embedded is the IPv4 address that a transition mechanism would make of an
// IPv6 address; the zero Addr if none would.
func embedded(addr netip.Addr) netip.Addr {
	if !addr.Is6() {
		return netip.Addr{}
	}
	bytes := addr.As16()
	if sixToFour.Contains(addr) {
		return netip.AddrFrom4([4]byte(bytes[2:6]))
	}
	for _, prefix := range nat64 {
		if prefix.Contains(addr) {
			return netip.AddrFrom4([4]byte(bytes[12:]))
		}
	}
	if [12]byte(bytes[:12]) == ([12]byte{}) {
		// IPv4-compatible, ::a.b.c.d (RFC 4291, deprecated).
		return netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return netip.Addr{}
}

func addrSet(addrs ...string) map[netip.Addr]bool {
	set := make(map[netip.Addr]bool, len(addrs))
	for _, addr := range addrs {
		set[netip.MustParseAddr(addr)] = true
	}
	return set
}
