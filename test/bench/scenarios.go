package main

import (
	"context"
	"strings"
)

// scenario is one thing that is measured.
type scenario struct {
	name string
	run  func(context.Context, *bed) ([]figure, error)
}

func scenarios() []scenario {
	var all []scenario
	for _, l := range loads {
		all = append(all, scenario{l.name(), l.run})
	}
	return append(all,
		scenario{"latency", measureLatency},
		scenario{"lone", measureLone},
		scenario{"idle", measureIdle},
	)
}

func scenarioNames() string {
	var names []string
	for _, s := range scenarios() {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// loads are the backlogs and what is to be reached with them.
var loads = []load{
	{window: 64, profile: instant, cpu: atMost(1.8)},
	{window: 64, profile: steady, bound: atLeast(90)},
	{window: 64, profile: tail, bound: atLeast(95)},
	{window: 256, profile: instant, cpu: atMost(1.8)},
	{window: 256, profile: tail, bound: atLeast(90)},
}

// What is to be reached everywhere.
var (
	noLoss     = atMost(0)
	memoryGoal = atMost(64)  // MiB, with one endpoint under load
	ageP50Goal = atMost(5)   // ms from production to POST at 500 records a second
	ageP99Goal = atMost(25)  // ms
	idleGoal   = atMost(0.3) // percent of a core for one more idle endpoint
	idleMemory = atMost(6)   // MiB
	loneGoal   = atMost(600) // ms until a lone acknowledgement is confirmed
)
