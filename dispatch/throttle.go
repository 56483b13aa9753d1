package dispatch

import (
	"time"

	"golang.org/x/time/rate"
)

// throttleSlice is how much of a rate may come at once. A whole second's
// worth would let the first second see twice the rate.
const throttleSlice = 100 * time.Millisecond

// throttle keeps attempts within a rate. Endpoint.mu guards it. The zero
// throttle lets everything pass.
type throttle struct {
	limiter *rate.Limiter // nil: no limit
	wake    time.Time     // when there is more to be had for somebody who wanted it; zero: nobody did
}

func newThrottle(perSecond float64, slots int) throttle {
	if perSecond == 0 {
		return throttle{}
	}
	burst := int(perSecond * throttleSlice.Seconds())
	return throttle{limiter: rate.NewLimiter(rate.Limit(perSecond), max(1, min(burst, slots)))}
}

// take asks for one attempt now. If there is none to be had it takes nothing.
func (t *throttle) take() bool {
	if t.limiter == nil {
		return true
	}
	now := time.Now()
	if now.Before(t.wake) {
		return false
	}
	r := t.limiter.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return true
	}
	r.CancelAt(now)
	t.wake = now.Add(wait)
	return false
}

// soon is how many attempts may start within about a second: more records
// would only wait here instead of with the broker. At a rate of few a minute
// it is 0 until a second before the next.
func (t *throttle) soon() int {
	if t.limiter == nil {
		return maxRoom
	}
	now := time.Now()
	perSecond := float64(t.limiter.Limit())
	n := t.limiter.TokensAt(now) + perSecond
	if n >= 1 {
		return int(n)
	}
	wait := time.Duration((1 - n) / perSecond * float64(time.Second))
	t.wake = now.Add(wait + 1) // one more, as the division cuts
	return 0
}

// awake forgets what has come.
func (t *throttle) awake(now time.Time) {
	if !t.wake.After(now) {
		t.wake = time.Time{}
	}
}
