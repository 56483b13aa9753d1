package kafka

import (
	"testing"
	"time"
)

// WaitTimeout bounds each wait of the helpers.
const WaitTimeout = 60 * time.Second

// waitInterval is the time between two looks at a condition.
const waitInterval = 20 * time.Millisecond

// Wait waits until a condition holds, looking every 20 ms, and ends the test
// when it does not within the timeout. What is waited for reads as in "the
// lag to be 0".
func Wait(tb testing.TB, timeout time.Duration, what string, holds func() bool) {
	tb.Helper()
	late := time.NewTimer(timeout)
	defer late.Stop()
	look := time.NewTicker(waitInterval)
	defer look.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-late.C:
			tb.Fatalf("waited %s for %s", timeout, what)
		}
	}
}
