package config

import (
	"mime"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// headerForm is a field name of RFC 9110, 5.1: a token.
var headerForm = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// ownHeaders are names that Sharehook sets itself, and those that frame the
// message or belong to one connection (RFC 9110, 7.6.1). content-encoding is
// not among them: it is how an operator says that all records are compressed.
var ownHeaders = []string{
	"accept-encoding", "baggage", "connection", "content-length", "content-type", "expect", "host", "http2-settings",
	"idempotency-key", "keep-alive", "proxy-connection", "te", "traceparent", "tracestate", "trailer",
	"transfer-encoding", "upgrade", "user-agent",
}

// ownPrefixes are families of names that Sharehook sets itself.
var ownPrefixes = []string{"kafka-", "sharehook-", "webhook-"}

func checkHeaderName(name string) string {
	folded := strings.ToLower(name)
	switch {
	case !headerForm.MatchString(name):
		return "is no lawful header name; use letters, digits and '-'"
	case folded == "authorization":
		return "holds a credential; write it under auth, in any form as auth.header"
	case folded == "content-type":
		return "is set by Sharehook itself; write content_type instead"
	case slices.Contains(ownHeaders, folded):
		return "is set by Sharehook itself, or by HTTP; remove it"
	}
	for _, prefix := range ownPrefixes {
		if strings.HasPrefix(folded, prefix) {
			return "begins with " + prefix + ", as only headers of Sharehook itself do; rename it"
		}
	}
	return ""
}

// checkHeaderValue refuses what HTTP would silently strip. Control characters
// are refused for all texts.
func checkHeaderValue(value string) string {
	if value != strings.Trim(value, " ") {
		return "begins or ends with a blank, which HTTP strips; remove it"
	}
	return ""
}

// checkHeaderPrefix checks what stands before the name of a record header.
func checkHeaderPrefix(prefix string) string {
	if prefix != "" && !headerForm.MatchString(prefix) {
		return "cannot begin a header name; use letters, digits and '-'"
	}
	return ""
}

func checkContentType(value string) string {
	if value == "" {
		return ""
	}
	if form, _, err := mime.ParseMediaType(value); err != nil || !strings.Contains(form, "/") || checkHeaderValue(value) != "" {
		return "is no media type; write one such as application/json"
	}
	return ""
}

func checkGlob(pattern string) string {
	if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
		return "is no glob; use *, ? and [a-z]"
	}
	return ""
}

// checkToken keeps to what a bearer token can be in a request (RFC 6750, 2.1):
// with any other character nobody could ever send it.
func checkToken(token string) string {
	if !isVisible(token) {
		return "holds blanks or other characters than visible ASCII, which no request can carry; choose another token"
	}
	return ""
}

// checkURL never quotes the URL: paths and queries carry tokens, and so may
// anything that was meant as one.
func checkURL(raw string) string {
	u, err := url.Parse(raw)
	switch {
	case err != nil || raw == "":
		return "is no URL; write one such as https://example.com/hooks"
	case u.Scheme != "http" && u.Scheme != "https":
		return "is neither an http nor an https URL; begin it with https://"
	case u.User != nil:
		return "holds a user or password; remove them, and send them in headers"
	case u.Fragment != "" || strings.Contains(raw, "#"):
		return "has a fragment, which is never sent; remove it from the # on"
	case !isHost(u.Hostname()):
		return "has no host; write https://host/path"
	case u.Port() == "" && strings.HasSuffix(u.Host, ":"), u.Port() != "" && !isPort(u.Port(), 1):
		return "has no lawful port; write a number from 1 to 65535"
	}
	return ""
}

// statusForm is a final code or a class of them. Informational answers (1xx)
// are not final, so they have no verdict.
var statusForm = regexp.MustCompile(`^([2-5]xx|[2-5][0-9][0-9])$`)

func checkStatus(entry string) string {
	if !statusForm.MatchString(entry) {
		return "is neither a final status code nor a class; write codes from 200 to 599, or 2xx, 3xx, 4xx, 5xx"
	}
	return ""
}
