package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	loneRecords = 20
	loneEvery   = time.Second
	loneWait    = 10 * time.Second // for one of them
)

// measureLone sends lone records and looks how long the gateway takes from
// acquiring one to knowing that the broker has taken its acknowledgement. It
// counts that itself; with an endpoint that answers at once nearly all of it
// is the acknowledgement's.
func measureLone(ctx context.Context, b *bed) (_ []figure, err error) {
	topic, remove, err := b.createTopic()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := b.endpoint.begin(ctx, 1+loneRecords, instant); err != nil {
		return nil, err
	}
	g, err := b.startGateway(ctx, latencyWindow, newRoute(topic))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.stop()) }()

	// The first one is for joining.
	confirmed := make([]time.Duration, 0, loneRecords)
	ticker := time.NewTicker(loneEvery)
	defer ticker.Stop()
	for number := range 1 + loneRecords {
		took, err := b.loneRecord(ctx, g, topic, number)
		if err != nil {
			return nil, err
		}
		if number > 0 {
			confirmed = append(confirmed, took)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	slices.Sort(confirmed)
	return []figure{
		{measure: "acknowledgement confirmed, p50", unit: "ms", gateway: ms(percentile(confirmed, 50)), alone: true},
		{measure: "acknowledgement confirmed, max", unit: "ms", gateway: ms(confirmed[len(confirmed)-1]), goal: loneGoal, worst: true, alone: true},
	}, nil
}

// loneRecord produces one record and answers how long its delivery took.
func (b *bed) loneRecord(ctx context.Context, g *gateway, topic string, number int) (time.Duration, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, loneWait,
		fmt.Errorf("record %d: no delivery within %s", number, loneWait))
	defer cancel()
	if err := g.awaitReady(ctx); err != nil {
		return 0, err
	}
	_, before, err := g.deliveries(ctx)
	if err != nil {
		return 0, err
	}
	client, err := b.newProducer(false)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	if err := b.produceSteadily(ctx, client, topic, number, 1, latencyRate); err != nil {
		return 0, err
	}
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		count, sum, err := g.deliveries(ctx)
		if err != nil {
			return 0, err
		}
		if count == number+1 {
			return sum - before, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// deliveries are how many were confirmed and how long they took in all.
func (g *gateway) deliveries(ctx context.Context) (count int, sum time.Duration, err error) {
	m, err := g.metrics(ctx)
	const name = "sharehook_delivery_duration_seconds"
	return int(m.sum(name+"_count", nil)), time.Duration(m.sum(name+"_sum", nil) * float64(time.Second)), err
}
