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
		{"kill", "one of two replicas is killed again and again under load", false, striking("kill -9", kill, false)},
		{"term", "one of two replicas is asked to end again and again under load", false, striking("SIGTERM", term, true)},
		{"freeze", "one of two replicas stands still for longer than its locks and its session", false, striking("SIGSTOP", freeze, false)},
		{"slow", "an endpoint answers later than a lock lasts", false, slow},
		{"hang", "an endpoint hangs beside another one", false, hang},
		{"broker", "the only broker is killed and started again under load", false, broker},
		{"leaders", "three brokers: leaders move, and are killed", false, leaders},
		{"remade", "the topic is deleted and made again", false, remade},
		{"rights", "rights are withdrawn and granted again", false, rights},
		{"collector", "nobody takes the telemetry", false, collector},
		{"others", "members of other make are in the group", false, others},
	}
}

func scenarioNames() string {
	var names []string
	for _, s := range scenarios() {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}
