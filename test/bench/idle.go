package main

import (
	"context"
	"errors"
	"time"
)

const (
	idleSettle = 10 * time.Second // past joining, the first heartbeats and the first collections
	idleLook   = 30 * time.Second
	idleMore   = 10 // endpoints
)

// idling is what a process costs that has nothing to do.
type idling struct {
	cpu    float64 // percent of a core
	broker float64 // percent of a core, of the broker
	memory float64 // MiB
}

// measureIdle compares a gateway of one endpoint with one of eleven.
func measureIdle(ctx context.Context, b *bed) ([]figure, error) {
	one, err := b.idle(ctx, 1)
	if err != nil {
		return nil, err
	}
	many, err := b.idle(ctx, 1+idleMore)
	if err != nil {
		return nil, err
	}
	return []figure{
		{measure: "one endpoint, CPU", unit: "% of a core", gateway: one.cpu, alone: true},
		{measure: "one endpoint, RSS", unit: "MiB", gateway: one.memory, alone: true},
		{measure: "one more endpoint, CPU", unit: "% of a core", gateway: (many.cpu - one.cpu) / idleMore, goal: idleGoal, alone: true},
		{measure: "one more endpoint, RSS", unit: "MiB", gateway: (many.memory - one.memory) / idleMore, goal: idleMemory, alone: true},
		{measure: "one more endpoint, CPU of the broker", unit: "% of a core", gateway: (many.broker - one.broker) / idleMore, alone: true},
	}, nil
}

// idle runs a gateway with so many endpoints, each with a topic of its own to
// which nobody writes.
func (b *bed) idle(ctx context.Context, endpoints int) (_ idling, err error) {
	var routes []route
	for range endpoints {
		topic, remove, err := b.createTopic()
		if err != nil {
			return idling{}, err
		}
		defer func() { err = errors.Join(err, remove()) }()
		routes = append(routes, newRoute(topic))
	}
	g, err := b.startGateway(ctx, latencyWindow, routes...)
	if err != nil {
		return idling{}, err
	}
	defer func() { err = errors.Join(err, g.stop()) }()
	if err := g.awaitReady(ctx); err != nil {
		return idling{}, err
	}
	if err := pause(ctx, idleSettle); err != nil {
		return idling{}, err
	}
	cpu, err := measureCPU(ctx, idleLook, g.pid(), b.broker)
	if err != nil {
		return idling{}, err
	}
	m, err := memoryOf(g.pid())
	if err != nil {
		return idling{}, err
	}
	return idling{cpu: cpu[0], broker: cpu[1], memory: mib(m.now)}, g.ended()
}

// measureCPU is what processes use for a while, each in percent of a core.
func measureCPU(ctx context.Context, while time.Duration, pids ...int) ([]float64, error) {
	used := make([]float64, len(pids))
	began := time.Now()
	for i, pid := range pids {
		cpu, err := cpuTime(pid)
		if err != nil {
			return nil, err
		}
		used[i] = -cpu.Seconds()
	}
	if err := pause(ctx, while); err != nil {
		return nil, err
	}
	for i, pid := range pids {
		cpu, err := cpuTime(pid)
		if err != nil {
			return nil, err
		}
		used[i] = 100 * (used[i] + cpu.Seconds()) / time.Since(began).Seconds()
	}
	return used, nil
}

// pause lets time pass.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
