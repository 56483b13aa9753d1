package main

import (
	"context"
	"errors"
	"fmt"
)

const (
	latencyRate   = 500 // records a second
	latencyWindow = 64
)

// measureLatency produces records one by one and looks when they arrive.
func measureLatency(ctx context.Context, b *bed) ([]figure, error) {
	l := load{window: latencyWindow, profile: instant}
	floor, _, err := b.ages(ctx, l.startFloor)
	if err != nil {
		return nil, fmt.Errorf("floor: %w", err)
	}
	ours, notes, err := b.ages(ctx, l.startGateway)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	return []figure{
		{measure: "produce to POST, p50", unit: "ms", gateway: ms(ours.AgeP50), floor: ms(floor.AgeP50), goal: ageP50Goal},
		{measure: "produce to POST, p99", unit: "ms", gateway: ms(ours.AgeP99), floor: ms(floor.AgeP99), goal: ageP99Goal},
		{measure: "duplicates", unit: "records", gateway: float64(ours.Duplicates), floor: float64(floor.Duplicates), worst: true},
		{measure: lostMeasure, unit: "records", gateway: float64(ours.lost()), floor: float64(floor.lost()), goal: noLoss, worst: true, notes: notes},
	}, nil
}

// steadily is the report of a run at a steady rate.
type steadily struct {
	report

	records int
}

func (s steadily) lost() int { return s.records - s.Distinct }

// ages runs a process while records are produced at a steady rate.
func (b *bed) ages(ctx context.Context, start starter) (s steadily, notes []string, err error) {
	s.records = 1 + int(latencyRate*b.options.time.Seconds())
	topic, remove, err := b.createTopic()
	if err != nil {
		return s, nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := b.endpoint.begin(ctx, s.records, instant); err != nil {
		return s, nil, err
	}
	p, err := start(ctx, b, topic)
	if err != nil {
		return s, nil, err
	}
	defer func() {
		if end := p.child.stop(); p.drains && end != nil {
			err = errors.Join(err, fmt.Errorf("%s ended badly: %w", p.child.name, end))
		}
	}()
	client, err := b.newProducer(false)
	if err != nil {
		return s, nil, err
	}
	defer client.Close()
	// The first one shows that the process has joined and knows the topic.
	if err := b.produceSteadily(ctx, client, topic, 0, 1, latencyRate); err != nil {
		return s, nil, err
	}
	if _, err := b.endpoint.awaitAnswered(ctx, 1, p.child); err != nil {
		return s, nil, err
	}
	if err := b.produceSteadily(ctx, client, topic, 1, s.records-1, latencyRate); err != nil {
		return s, nil, err
	}
	if _, err := b.endpoint.awaitAnswered(ctx, s.records, p.child); err != nil {
		return s, nil, err
	}
	if p.finish != nil {
		if notes, err = p.finish(ctx); err != nil {
			return s, nil, err
		}
	}
	s.report, err = b.endpoint.report(ctx)
	return s, notes, err
}
