package main

import (
	"slices"
	"time"

	"github.com/sharehook/sharehook/test/rig"
)

// rateWindow is what a rate is taken of.
const rateWindow = time.Second

// acceptedAt are the times of acceptances, in their order.
func acceptedAt(h *rig.Hook) []time.Time {
	var all []time.Time
	for _, p := range h.Posts(rig.Accepted) {
		all = append(all, p.Answered)
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// between counts the times from one moment to another.
func between(times []time.Time, from, to time.Time) int {
	at := func(m time.Time) int {
		i, _ := slices.BinarySearchFunc(times, m, time.Time.Compare)
		return i
	}
	return at(to) - at(from)
}

// perSecond is the rate from one moment to another.
func perSecond(times []time.Time, from, to time.Time) float64 {
	return float64(between(times, from, to)) / to.Sub(from).Seconds()
}

// backAt is how long after a moment the rate was at least so many a second,
// for a whole window; 0: never.
func backAt(times []time.Time, from time.Time, rate float64) time.Duration {
	for _, end := range times {
		begin := end.Add(-rateWindow)
		if begin.Before(from) {
			continue
		}
		if perSecond(times, begin, end) >= rate {
			return end.Sub(from)
		}
	}
	return 0
}

// mostInASecond is the highest number of posts of one replica in any second.
func mostInASecond(posts []rig.Post) (most int) {
	byReplica := make(map[string][]time.Time)
	for _, p := range posts {
		byReplica[p.Replica] = append(byReplica[p.Replica], p.At)
	}
	for _, times := range byReplica {
		for _, t := range times {
			most = max(most, between(times, t, t.Add(time.Second)))
		}
	}
	return most
}
