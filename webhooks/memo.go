package webhooks

import (
	"maps"
	"sync/atomic"
)

// These bound a memo. Topics have a handful of short header names; one that has
// others pays for each decision anew, but not with memory.
const (
	memoSize   = 256
	memoKeyLen = 256
)

// memo remembers what a pure function said about the first memoSize strings. It is read for each header of each record and written a few times in
// its life, hence a map that is copied to be changed and read without a lock.
// The zero memo is ready for use.
type memo[V any] struct {
	known atomic.Pointer[map[string]V]
}

func (m *memo[V]) get(key string, decide func(string) V) V {
	old := m.known.Load()
	if old != nil {
		if value, ok := (*old)[key]; ok {
			return value
		}
	}
	value := decide(key)
	if len(key) > memoKeyLen {
		return value
	}
	next := map[string]V{}
	if old != nil {
		if len(*old) >= memoSize {
			return value // full
		}
		next = maps.Clone(*old)
	}
	next[key] = value
	// Lost against another writer: that one's entry stays and this one is
	// decided again. Both are right.
	m.known.CompareAndSwap(old, &next)
	return value
}
