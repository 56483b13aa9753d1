package dev

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// gentle is the usual rate: records in a second.
	gentle = 20
	// longest is how long it may take to produce a given number of records.
	longest = 10 * time.Second
	// tick is how often records are produced.
	tick = 50 * time.Millisecond
	// mostOpen is how many records may be on their way: an endpoint that
	// takes none must not fill the memory.
	mostOpen = 2000
)

// pace is the rate for so many records, 0 being no end.
func pace(records int) float64 {
	return max(gentle, float64(records)/longest.Seconds())
}

// producer fills the topics in turn.
type producer struct {
	client *kgo.Client
	plan   plan
	tally  *tally
	rate   float64 // records in a second
}

// run produces until ctx ends or, with a number of records wanted, until so
// many are on their way: a record of a topic that two endpoints have counts
// for two.
func (p *producer) run(ctx context.Context) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	begun := time.Now()
	for n, expected := 0, 0; ; {
		due := 1 + int(time.Since(begun).Seconds()*p.rate)
		for ; n < due && p.tally.open() < mostOpen; n++ {
			if p.tally.want > 0 && expected >= p.tally.want {
				return nil
			}
			topic := p.plan.topics[n%len(p.plan.topics)]
			expected += p.plan.audience[topic]
			p.tally.produced(p.plan.audience[topic]) // before its delivery can be counted
			if err := p.client.ProduceSync(ctx, sampleRecord(topic, n+1)).FirstErr(); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return fmt.Errorf("produce sample records: %w", err)
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}
