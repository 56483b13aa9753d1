package dev

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// sampleTopic is the name of a topic for an entry of an endpoint's topics: the
// entry itself, or something short that its expression matches. It is not ok
// if nothing was found that Kafka takes as a name.
func sampleTopic(entry string) (name string, ok bool) {
	if !strings.HasPrefix(entry, "^") {
		return entry, true
	}
	tree, err := syntax.Parse(entry, syntax.Perl)
	if err != nil {
		return "", false
	}
	pattern, err := regexp.Compile(entry)
	if err != nil {
		return "", false
	}
	// An expression without an end matches longer names too, which say more
	// than the shortest one, perhaps an empty one.
	example := shortest(tree.Simplify())
	for _, name := range []string{example + "sample", example} {
		if topicName.MatchString(name) && pattern.MatchString(name) {
			return name, true
		}
	}
	return "", false
}

// topicName is what Kafka takes.
var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// shortest is a string that a simplified expression matches; if it demands what
// no topic's name has, one that it does not match.
func shortest(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return pick(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "x"
	case syntax.OpCapture, syntax.OpPlus:
		return shortest(re.Sub[0])
	case syntax.OpAlternate:
		return shortest(re.Sub[0])
	case syntax.OpConcat:
		var all strings.Builder
		for _, sub := range re.Sub {
			all.WriteString(shortest(sub))
		}
		return all.String()
	default: // nothing is enough, or nothing helps
		return ""
	}
}

// pick is a character of a class, given as pairs of first and last, that a
// topic's name may have; the nicest first.
func pick(ranges []rune) string {
	const nice = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_."
	for _, c := range nice {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= c && c <= ranges[i+1] {
				return string(c)
			}
		}
	}
	return ""
}
