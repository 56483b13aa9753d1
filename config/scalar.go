package config

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// scalar is a single value after its replacements.
type scalar struct {
	replacement
	quoted bool // written in quotes or as a block
	tag    string
}

// scalar decodes a single value into its field.
func (s *section) scalar(k key, n *yaml.Node, into reflect.Value, path string) {
	if k.kind == text || k.kind == secret {
		if v, ok := s.text(k, n, path); ok {
			into.SetString(v)
		}
		return
	}
	v, ok := s.read(k, n, path)
	if !ok {
		return
	}
	if v.quoted && !v.brought && !v.isWord(k) {
		s.fault(n, path, fmt.Sprintf("wants %s, has a string; remove the quotes", k.kind.wants()))
		return
	}
	if complaint := v.store(k, into); complaint != "" {
		s.fault(n, path, v.quote(k)+complaint)
	}
}

// isWord tells whether the value may stand in quotes though its key is no text.
// What is written in quotes is a string, and a string is no number; not so a
// replacement, which YAML often forces into quotes.
func (v scalar) isWord(k key) bool {
	return k.kind == duration || k.kind == rate || k.kind == readAhead && v.text == autoWord
}

// read takes a scalar out of a node.
func (s *section) read(k key, n *yaml.Node, path string) (scalar, bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		s.fault(n, path, fmt.Sprintf("wants %s, has %s; write a single value", k.kind.single(), nodeForm(n)))
	case n.Style&yaml.TaggedStyle != 0 || n.Tag == "!":
		s.fault(n, path, "has a tag, which is not supported; remove the word that begins with !")
	case isNull(n):
		s.fault(n, path, "is empty; write a value, or remove it")
	default:
		r, err := s.replace(n.Value)
		if err != nil {
			s.fault(n, path, err.Error())
			return scalar{}, false
		}
		if r.brought {
			s.hidden[path] = r.shown
		}
		const quoting = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
		return scalar{replacement: r, quoted: n.Style&quoting != 0, tag: n.Tag}, true
	}
	return scalar{}, false
}

// single is the kind of one element.
func (k kind) single() string {
	if k == texts || k == secrets || k == textMap {
		return text.wants()
	}
	return k.wants()
}

// text decodes a string. A plain number or word is taken letter by letter, so
// 0123 keeps its zero and no stays no.
func (s *section) text(k key, n *yaml.Node, path string) (string, bool) {
	v, ok := s.read(k, n, path)
	if !ok {
		return "", false
	}
	complaint := controlCharacters(v.text)
	if complaint == "" && len(k.enum) > 0 {
		complaint = k.choose(v)
	}
	if complaint == "" && k.check != nil {
		if c := k.check(v.text); c != "" {
			complaint = v.quote(k) + c
		}
	}
	if complaint != "" {
		s.fault(n, path, complaint)
		return "", false
	}
	if k.isPath {
		return s.resolve(v.text), true
	}
	return v.text, true
}

// choose checks a text against the values that its key may have.
func (k key) choose(v scalar) string {
	if slices.Contains(k.enum, v.text) {
		return ""
	}
	choice := strings.Join(k.enum, ", ")
	if slices.Contains(k.enumLater, v.text) {
		return fmt.Sprintf("%sis not supported yet; use %s", v.quote(k), choice)
	}
	if near := nearest(v.text, k.enum); near != "" && !v.brought {
		return fmt.Sprintf("%sis none of its values; did you mean %s?", v.quote(k), near)
	}
	return fmt.Sprintf("%sis none of its values; use %s", v.quote(k), choice)
}

// controlCharacters complains of what no single-line value can hold, with the
// place inside it and never with the value: it may be a secret.
func controlCharacters(value string) string {
	if !utf8.ValidString(value) {
		return "holds bytes that are no UTF-8 text; write it as text, or encode it"
	}
	line, column := 1, 0
	for _, r := range value {
		column++
		if unicode.IsControl(r) {
			return fmt.Sprintf("holds the control character %U at line %d, character %d of the value; remove it "+
				"(of a file one line end is dropped, of a block none: use |-)", r, line, column)
		}
	}
	return ""
}

// quote begins a complaint with the value, where that may be shown.
func (v scalar) quote(k key) string {
	const longest = 80
	switch {
	case k.kind == secret || k.kind == secrets || k.private:
		return ""
	case v.brought:
		return "what was brought in "
	case len(v.text) > longest:
		return strconv.Quote(strings.ToValidUTF8(v.text[:longest], "")) + "... "
	default:
		return strconv.Quote(v.text) + " "
	}
}

var wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// store reads the value as its key's kind and puts it into the field; it
// answers with what is wrong.
func (v scalar) store(k key, into reflect.Value) string {
	switch k.kind {
	case boolean:
		return v.storeBool(into)
	case integer:
		n, complaint := v.wholeNumber(k)
		into.SetInt(n)
		return complaint
	case decimal:
		f, err := strconv.ParseFloat(v.text, 64)
		if err != nil || math.IsNaN(f) {
			return "is no number; write one such as 2 or 0.5"
		}
		into.SetFloat(f)
		return k.outside(f, trimFloat)
	case duration:
		return v.storeDuration(k, into)
	case rate:
		r, complaint := parseRate(v.text)
		into.Set(reflect.ValueOf(r))
		return complaint
	case readAhead:
		if v.text == autoWord {
			into.Set(reflect.ValueOf(ReadAhead{Auto: true}))
			return ""
		}
		n, complaint := v.wholeNumber(k)
		into.Set(reflect.ValueOf(ReadAhead{Records: int(n)}))
		return complaint
	default:
		return "has a kind that is no single value"
	}
}

func (v scalar) storeBool(into reflect.Value) string {
	for _, b := range []bool{true, false} {
		if word := strconv.FormatBool(b); v.text == word || v.tag == "!!bool" && strings.EqualFold(v.text, word) {
			into.SetBool(b)
			return ""
		}
	}
	return "is neither true nor false; write one of them"
}

// wholeNumber refuses what YAML's versions read differently: 010, 1_000, 0x10.
func (v scalar) wholeNumber(k key) (int64, string) {
	if !wholeNumber.MatchString(v.text) {
		return 0, "is no whole number; write " + k.kind.wants() + " in plain digits"
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil {
		return 0, "is too large; write a number " + k.span(trimFloat)
	}
	return n, k.outside(float64(n), trimFloat)
}

func (v scalar) storeDuration(k key, into reflect.Value) string {
	if _, err := strconv.ParseFloat(v.text, 64); err == nil {
		return "has no unit; write a duration such as 500ms, 10s or 2m"
	}
	d, err := time.ParseDuration(v.text)
	if err != nil {
		return "is no duration; write one such as 500ms, 10s or 2m"
	}
	into.SetInt(int64(d))
	return k.outside(float64(d), trimNanoseconds)
}

// outside complains of a number that is not within its key's limits.
func (k key) outside(n float64, show func(float64) string) string {
	if k.limits == nil || n >= k.limits.least && n <= k.limits.most {
		return ""
	}
	return "is out of bounds; write a value " + k.span(show)
}

func (k key) span(show func(float64) string) string {
	if k.limits == nil {
		return ""
	}
	return fmt.Sprintf("from %s to %s", show(k.limits.least), show(k.limits.most))
}

func trimFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func trimNanoseconds(f float64) string { return durationText(time.Duration(f)) }

// durationText writes a duration as a person would: 10m, not 10m0s.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// defaultText writes the default of a key as the file would.
func defaultText(k key) string {
	switch d := k.def.(type) {
	case time.Duration:
		return durationText(d)
	case ReadAhead:
		return d.String()
	case []string:
		return "[" + strings.Join(d, ", ") + "]"
	case string:
		return strconv.Quote(d)
	default:
		return fmt.Sprint(d)
	}
}
