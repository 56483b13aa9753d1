package main

import (
	"math/rand/v2"
	"time"
)

// profile says how long the endpoint takes to answer.
type profile struct {
	name   string
	shares []share // of 1000 records
}

type share struct {
	records int
	wait    time.Duration
}

var (
	instant = profile{"0ms", []share{{1000, 0}}}
	steady  = profile{"20ms", []share{{1000, 20 * time.Millisecond}}}
	// tail is an endpoint that mostly answers soon and sometimes not: with 64
	// records in flight, two thirds of them soon are ones that take 5 s.
	tail = profile{"tail", []share{{950, 5 * time.Millisecond}, {45, 200 * time.Millisecond}, {5, 5 * time.Second}}}
)

// profileOf finds a profile by its name.
func profileOf(name string) (profile, bool) {
	for _, p := range []profile{instant, steady, tail} {
		if p.name == name {
			return p, true
		}
	}
	return profile{}, false
}

// mean is the time an answer takes.
func (p profile) mean() time.Duration {
	var sum time.Duration
	for _, s := range p.shares {
		sum += time.Duration(s.records) * s.wait
	}
	return sum / 1000
}

// longest is the longest time that an answer takes.
func (p profile) longest() time.Duration {
	var longest time.Duration
	for _, s := range p.shares {
		longest = max(longest, s.wait)
	}
	return longest
}

// seed makes every run deal the same.
const seed = 932

// deal says for each of n records how long its answer takes. Each 1000 of them
// are shuffled by themselves: drawn freely, the few slow ones would make the
// mean of a run differ from the profile's by several percent.
func (p profile) deal(n int) []time.Duration {
	waits := make([]time.Duration, 0, n+1000)
	random := rand.New(rand.NewPCG(seed, 0))
	for len(waits) < n {
		thousand := waits[len(waits):]
		for _, s := range p.shares {
			for range s.records {
				thousand = append(thousand, s.wait)
			}
		}
		random.Shuffle(len(thousand), func(i, j int) { thousand[i], thousand[j] = thousand[j], thousand[i] })
		waits = append(waits, thousand...)
	}
	return waits[:n]
}
