package webhooks

import (
	"net/netip"
	"strings"
)

// metadataAddrs are where clouds tell a machine, and whoever can make it ask,
// its credentials.
var metadataAddrs = prefixes(
	"169.254.169.254/32", // AWS, Azure, Google, OpenStack, DigitalOcean, Oracle
	"169.254.170.2/32",   // AWS: ECS tasks
	"169.254.170.23/32",  // AWS: EKS pod identity
	"169.254.0.23/32",    // Tencent
	"fd00:ec2::254/128",  // AWS
	"fd00:ec2::23/128",   // AWS: EKS pod identity
	"fd20:ce::254/128",   // Google
	"100.100.100.200/32", // Alibaba
	"192.0.0.192/32",     // Oracle classic
	"168.63.129.16/32",   // Azure: wire server
)

// metadataNames are names that only a proxy could resolve otherwise.
var metadataNames = nameSet("metadata.google.internal", "metadata.goog", "instance-data")

// addressGroups are the words for addresses that NetworkRules know.
var addressGroups = map[string][]netip.Prefix{
	"metadata":   metadataAddrs,
	"link-local": prefixes("169.254.0.0/16", "fe80::/10"),
	// To dial the unspecified address is to dial this machine.
	"loopback": prefixes("127.0.0.0/8", "::1/128", "0.0.0.0/8", "::/128"),
	// RFC 1918, RFC 6598 (carriers and clouds), RFC 4193, RFC 3879.
	"private": prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10"),
}

// nat64 are the prefixes under which a gateway turns IPv6 into IPv4: the
// well-known one (RFC 6052) and the one for local use (RFC 8215). The IPv4
// address is the last four bytes.
var nat64 = prefixes("64:ff9b::/96", "64:ff9b:1::/48")

// sixToFour is RFC 3056: the IPv4 address follows the prefix.
var sixToFour = netip.MustParsePrefix("2002::/16")

// embedded is the IPv4 address that a transition mechanism would make of an
// IPv6 address; the zero Addr if none would.
func embedded(addr netip.Addr) netip.Addr {
	if !addr.Is6() {
		return netip.Addr{}
	}
	bytes := addr.As16()
	switch {
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(bytes[2:6]))
	case contains(nat64, addr):
		return netip.AddrFrom4([4]byte(bytes[12:]))
	case [12]byte(bytes[:12]) == ([12]byte{}):
		// IPv4-compatible, ::a.b.c.d (RFC 4291, deprecated).
		return netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return netip.Addr{}
}

// isOddAddress says whether a lower-case host that is no proper address may be
// taken for one: 2852039166, 0xa9.254.43518. No name ends in a number (RFC 3696,
// 2).
func isOddAddress(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return isDigits(last)
}

func contains(prefixes []netip.Prefix, addr netip.Addr) bool {
	for _, prefix := range prefixes {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

func prefixes(texts ...string) []netip.Prefix {
	parsed := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		parsed[i] = netip.MustParsePrefix(text)
	}
	return parsed
}
