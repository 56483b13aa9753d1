package webhooks

import (
	"fmt"
	"path"
	"strings"
)

// DefaultForwardPrefix is what names of record headers get put before them.
const DefaultForwardPrefix = "kafka-header-"

const base64Suffix = "-base64"

// ForwardRules say which record headers are sent, and under which names.
//
// A name is sent if a glob of Include and none of Exclude matches it, in any
// case ('*' any run of characters, '?' one, '[a-z]' one of a class). Whatever
// the rules say, headers that frame, route or authenticate a request, that Sharehook
// sets itself or that Options.Headers names are never set by a record.
type ForwardRules struct {
	Include []string
	Exclude []string
	// Prefix is put before the names. It may be empty.
	Prefix string
}

// check reports a glob or prefix that cannot be used.
func (r *ForwardRules) check() error {
	for _, pattern := range append(append([]string{}, r.Include...), r.Exclude...) {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("forward headers %q: no such glob; use '*', '?' and '[a-z]'", pattern)
		}
	}
	if r.Prefix != "" && !isToken(r.Prefix) {
		return fmt.Errorf("forward headers prefix %q: HTTP knows no such name; use letters, digits and '-'", r.Prefix)
	}
	return nil
}

// fate is what becomes of a record header because of its name.
type fate uint8

const (
	forwarded fate = iota + 1
	// excluded by the rules, or used otherwise: nobody misses it.
	excluded
	// dropped: somebody may miss it, so it is counted.
	dropped
)

// forwardedName is what is known of one name of record headers.
type forwardedName struct {
	fate fate
	// plain and encoded are the HTTP names for values that HTTP can carry and
	// for those that it cannot. Encoded is empty if a record must not set it.
	plain, encoded string
}

// forwarder decides about names, and remembers what it decided: a topic's
// records have the same few names again and again.
type forwarder struct {
	rules ForwardRules
	// closed are further names, in lower case, that a record must not set.
	closed   map[string]bool
	known    memo[forwardedName]
	included memo[bool]
}

func newForwarder(rules ForwardRules, fixed map[string]string) *forwarder {
	closed := make(map[string]bool, len(fixed))
	for name := range fixed {
		closed[strings.ToLower(name)] = true
	}
	return &forwarder{
		rules:  ForwardRules{Include: lowered(rules.Include), Exclude: lowered(rules.Exclude), Prefix: rules.Prefix},
		closed: closed,
	}
}

// name says what becomes of a record header with this name.
func (f *forwarder) name(name string) forwardedName {
	return f.known.get(name, f.decide)
}

// includes says whether the rules let a record header with this name out, in
// whatever form.
func (f *forwarder) includes(name string) bool {
	return f.included.get(name, f.matches)
}

func (f *forwarder) matches(name string) bool {
	lower := strings.ToLower(name)
	return matchesAny(f.rules.Include, lower) && !matchesAny(f.rules.Exclude, lower)
}

func (f *forwarder) decide(name string) forwardedName {
	if !f.matches(name) {
		return forwardedName{fate: excluded}
	}
	lower := strings.ToLower(name)
	// The name with its prefix is what counts: prefix "content-" makes a
	// framing header of "length".
	full := strings.ToLower(f.rules.Prefix) + lower
	switch {
	case name == "" || !isToken(full):
		return forwardedName{fate: dropped}
	case f.isClosed(full) && consumedHeaders[full]:
		return forwardedName{fate: excluded}
	case f.isClosed(full):
		return forwardedName{fate: dropped}
	}
	decided := forwardedName{fate: forwarded, plain: canonical(full)}
	if !f.isClosed(full + base64Suffix) {
		decided.encoded = canonical(full + base64Suffix)
	}
	return decided
}

func (f *forwarder) isClosed(name string) bool {
	return closedToRecords(name) || f.closed[name]
}

// matchesAny says whether one of the lower-case globs matches.
func matchesAny(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if pattern == "*" {
			return true
		}
		// path.Match keeps '*' from matching a slash, which means nothing in
		// a header's name. No slash: no difference.
		ok, err := path.Match(noSlash(pattern), noSlash(name))
		if err == nil && ok {
			return true
		}
	}
	return false
}

func noSlash(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

func lowered(names []string) []string {
	lower := make([]string, len(names))
	for i, name := range names {
		lower[i] = strings.ToLower(name)
	}
	return lower
}
