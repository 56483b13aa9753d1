package main

import (
	"strings"
	"testing"
)

// scenario is one way to break things.
type scenario struct {
	name, about string
	short       bool // also with -short
	run         func(testing.TB, *bed, *report)
}

func scenarios() []scenario {
	return []scenario{
		{"outage", "an endpoint goes away with records waiting", true, outage},
		{"misrouted", "an endpoint answers 404 to everything", true, misrouted},
		{"restart", "the only replica is killed and started again", true, restart},
		{"crashes", "the only replica is killed again and again behind a slow endpoint", true, crashes},
	}
}

func scenarioNames() string {
	var names []string
	for _, s := range scenarios() {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}
