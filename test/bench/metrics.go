package main

import (
	"fmt"
	"strconv"
	"strings"
)

// metrics is a page in Prometheus' text format.
type metrics string

// sum adds up the series of a metric whose labels pass; nil passes all.
func (m metrics) sum(name string, pass func(labels string) bool) float64 {
	sum := 0.0
	for line := range strings.Lines(string(m)) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest == "" || rest[0] != '{' && rest[0] != ' ' {
			continue
		}
		labels, value := "", rest
		if i := strings.LastIndexByte(rest, '}'); i >= 0 {
			labels, value = rest[1:i], rest[i+1:]
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err == nil && (pass == nil || pass(labels)) {
			sum += v
		}
	}
	return sum
}

// oddities are what should not have happened in a run in which every answer
// was well.
func (m metrics) oddities() []string {
	var odd []string
	for _, o := range []struct {
		name, what string
		pass       func(string) bool
	}{
		{"sharehook_attempts_total", "attempts that were no accept", func(l string) bool { return !strings.Contains(l, `verdict="accept"`) }},
		{"sharehook_records_lapsed_total", "locks lapsed", nil},
		{"sharehook_acknowledgement_errors_total", "acknowledgements failed", nil},
		{"sharehook_dead_letters_total", "dead letters", nil},
	} {
		if n := m.sum(o.name, o.pass); n > 0 {
			odd = append(odd, fmt.Sprintf("%.0f %s", n, o.what))
		}
	}
	return odd
}
