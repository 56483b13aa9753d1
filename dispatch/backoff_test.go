package dispatch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestBackOffSchedule(t *testing.T) {
	t.Parallel()
	steep := Retry{Attempts: 50, InitialInterval: time.Second, Multiplier: 10, MaxInterval: time.Hour}
	flat := Retry{Attempts: 50, InitialInterval: time.Second, Multiplier: 1, MaxInterval: time.Hour}
	for _, tc := range []struct {
		name  string
		retry Retry
		step  int
		want  time.Duration
	}{
		{"after the first attempt", exactly, 1, time.Second},
		{"after the second", exactly, 2, 2 * time.Second},
		{"after the fifth", exactly, 5, 16 * time.Second},
		{"at the cap", exactly, 6, 30 * time.Second},
		{"far beyond it", exactly, math.MaxInt32, 30 * time.Second},
		{"steep", steep, 4, 1000 * time.Second},
		{"steep, capped", steep, 5, time.Hour},
		{"steep, attempt 50 of delivery 5", steep, 4*50 + 50, time.Hour},
		{"flat", flat, 5000, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := tc.retry.backOff(tc.step); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// Whatever is configured, a wait is never nothing and never above the cap with
// its randomization.
func TestBackOffBounds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	check := func(r Retry, step int) {
		t.Helper()
		got := r.backOff(step)
		ceiling := float64(r.MaxInterval) * (1 + r.RandomizationFactor)
		if got <= 0 || float64(got) > ceiling {
			t.Fatalf("%+v, step %d: %v, want above 0 and at most %v", r, step, got, ceiling)
		}
	}
	spread := func(most float64) float64 { return math.Exp(random.Float64() * math.Log(most)) }
	for range 20_000 {
		r := Retry{
			Attempts:            1 + random.IntN(50),
			InitialInterval:     time.Duration(spread(float64(time.Hour))),
			Multiplier:          1 + random.Float64()*20,
			RandomizationFactor: random.Float64(),
		}
		r.MaxInterval = time.Duration(min(float64(r.InitialInterval)*spread(1e12), math.MaxInt64/4))
		check(r, 1+random.IntN(25*50))
	}
	// The edges: most steep, widest, longest.
	for _, longest := range []time.Duration{time.Second, time.Hour, math.MaxInt64} {
		for _, factor := range []float64{0, 0.5, 1} {
			for _, multiplier := range []float64{1, 1.0001, 10, 1e300} {
				r := Retry{InitialInterval: time.Second, Multiplier: multiplier, RandomizationFactor: factor, MaxInterval: longest}
				for step := 1; step <= 250; step++ {
					check(r, step)
				}
			}
		}
	}
}

func TestBackOffIsRandom(t *testing.T) {
	t.Parallel()
	r := DefaultRetry
	least, most := time.Hour, time.Duration(0)
	for range 1000 {
		wait := r.backOff(2)
		least, most = min(least, wait), max(most, wait)
	}
	if least < 500*time.Millisecond || least > 600*time.Millisecond || most < 1400*time.Millisecond || most > 1500*time.Millisecond {
		t.Errorf("1000 waits of 1s +-50%% were within %v and %v", least, most)
	}
}
