package rig

import (
	"context"
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/kafka"
)

const (
	// ReadyWait bounds how long a gateway may take to be what it should be:
	// with Kafka's own settings a new group takes a heartbeat of 5 s, and two
	// cores are busy with others.
	ReadyWait = 60 * time.Second
	// SettleWait bounds how long everything may take to be settled once what
	// is wrong is right again: a dead member's partitions wait for its
	// session, and some locks end one after the other.
	SettleWait = 120 * time.Second
)

// Wait waits until a condition holds and ends the test when it does not within
// the timeout, or when the test is to end.
func Wait(tb testing.TB, timeout time.Duration, what string, holds func() bool) {
	tb.Helper()
	kafka.Wait(tb, timeout, what, func() bool {
		if err := context.Cause(tb.Context()); err != nil {
			tb.Fatalf("%v while waiting for %s", err, what)
		}
		return holds()
	})
}

// Pass lets time pass.
func Pass(tb testing.TB, d time.Duration) {
	tb.Helper()
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
	case <-tb.Context().Done():
		tb.Fatal(context.Cause(tb.Context()))
	}
}
