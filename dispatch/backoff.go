package dispatch

import (
	"math"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// minWait keeps the randomization from making a wait vanish (a factor of 1
// reaches 0), which would turn a retry into a busy loop.
const minWait = time.Millisecond

// backOff is the wait number step, from 1 for the wait after the very first
// attempt. It is never 0, never negative and never above
// MaxInterval x (1 + RandomizationFactor).
func (r Retry) backOff(step int) time.Duration {
	b := backoff.ExponentialBackOff{
		InitialInterval:     r.InitialInterval,
		RandomizationFactor: r.RandomizationFactor,
		Multiplier:          r.Multiplier,
		MaxInterval:         r.MaxInterval,
		MaxElapsedTime:      0, // never stops: the policy looks at the time
		Clock:               backoff.SystemClock,
	}
	b.Reset()
	for range min(step-1, r.stepsToMax()) {
		b.NextBackOff()
	}
	return r.clamp(b.NextBackOff())
}

// stepsToMax is after how many steps the interval has surely reached
// MaxInterval, or all that it will ever reach: a late delivery need not walk
// through thousands of equal steps.
func (r Retry) stepsToMax() int {
	if r.Multiplier <= 1 {
		return 0
	}
	ratio := float64(r.MaxInterval) / float64(r.InitialInterval)
	steps := math.Log(ratio) / math.Log(r.Multiplier)
	// One more for the library, which cuts each interval to whole nanoseconds
	// and so may need it.
	return int(min(math.Ceil(steps)+1, math.MaxInt32))
}

// clamp meets the randomization's edges: next to nothing, and intervals so
// long that the library's arithmetic overflows into the negative.
func (r Retry) clamp(wait time.Duration) time.Duration {
	ceiling := time.Duration(math.MaxInt64)
	if c := float64(r.MaxInterval) * (1 + r.RandomizationFactor); c < math.MaxInt64 {
		ceiling = time.Duration(c)
	}
	if wait < 0 || wait > ceiling {
		return ceiling
	}
	return max(wait, min(minWait, r.InitialInterval))
}
