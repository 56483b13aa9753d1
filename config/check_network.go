package config

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
)

// noProxy is how the file says that the environment's proxy is not used either.
const noProxy = "none"

// checkProxy never quotes the URL, which may hold a password.
func checkProxy(raw string) string {
	if raw == "" || raw == noProxy {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) || !isHost(u.Hostname()) {
		return "is no URL of a proxy; write one such as http://proxy.example:3128, or none"
	}
	if u.Port() != "" && !isPort(u.Port(), 1) {
		return "has no lawful port; write a number from 1 to 65535"
	}
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return "has more than a proxy can use; write scheme, host and port, and user and password if it wants them"
	}
	return ""
}

// userInfo is user and password in a URL.
var userInfo = regexp.MustCompile(`//[^/]*@`)

// hideUser hides user and password of a URL from those who are shown the
// configuration, like what was brought in.
func hideUser(path, raw string, hidden map[string]string) {
	shown, ok := hidden[path]
	if !ok {
		shown = raw
	}
	if userInfo.MatchString(shown) {
		hidden[path] = userInfo.ReplaceAllString(shown, "//"+hiddenText+"@")
	}
}

// addressGroups are the words that network.deny knows.
var addressGroups = []string{"metadata", "link-local", "loopback", "private"}

func checkDenied(entry string) string {
	if slices.Contains(addressGroups, entry) {
		return ""
	}
	if _, err := netip.ParsePrefix(entry); err != nil {
		return "is neither metadata, link-local, loopback, private nor a prefix; write one of them, or 10.1.0.0/16, and 10.1.2.3/32 for one address"
	}
	return checkPrefix(entry)
}

func checkPrefix(entry string) string {
	prefix, err := netip.ParsePrefix(entry)
	switch {
	case err != nil:
		return "is no prefix; write one such as 10.1.0.0/16, and 10.1.2.3/32 for one address"
	case prefix.Addr().Is4In6():
		return "is IPv4 within IPv6; write it as IPv4, which all its disguises count as"
	}
	return ""
}
