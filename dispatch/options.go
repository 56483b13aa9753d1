package dispatch

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"
)

// Options are what an [Endpoint] is made of. Source and Attempter are
// required.
type Options struct {
	// Concurrency is how many attempts run at once; 0 means 64.
	Concurrency int
	// MaxHeld is how many records are held at once, those that wait
	// included; 0 means 1000.
	MaxHeld int
	// ReadAhead is how many records are acquired beyond the free attempt slots.
	ReadAhead int
	// ReadAheadAuto lets the pace of the endpoint decide instead: as many as
	// will start within about a second, at most Concurrency.
	ReadAheadAuto bool
	// Retry says how a delivery is retried; zero means [DefaultRetry].
	Retry Retry
	// Breaker says when an endpoint is left alone; zero means that it never is.
	Breaker Breaker
	// RateLimit is how many attempts may start in a second; 0 means no limit.
	RateLimit float64
	// MaxDeliveries is the group's delivery limit as known now, 0 while
	// unknown. nil means never known.
	MaxDeliveries func() int32

	Source      Source
	Attempter   Attempter
	DeadLetters DeadLetterer // nil: not written by us
	Observer    Observer     // nil: none
	Logger      *slog.Logger // nil: none
}

// Retry says how often and when a delivery is attempted.
type Retry struct {
	Attempts            int           // POSTs before the record is released, at least 1
	InitialInterval     time.Duration // the wait after the first attempt
	Multiplier          float64       // each wait is this much longer, at least 1
	RandomizationFactor float64       // 0..1: a wait is up to this share shorter or longer
	MaxInterval         time.Duration // no wait is longer, but for the randomization
	MaxElapsedTime      time.Duration // no delivery holds a record longer
}

// DefaultRetry is the Retry of an endpoint that names none.
var DefaultRetry = Retry{
	Attempts:            3,
	InitialInterval:     500 * time.Millisecond,
	Multiplier:          2,
	RandomizationFactor: 0.5,
	MaxInterval:         30 * time.Second,
	MaxElapsedTime:      10 * time.Minute,
}

// Breaker says when an endpoint is left alone, and for how long.
type Breaker struct {
	Enabled      bool
	Window       time.Duration // how far back verdicts count
	MinAttempts  int           // verdicts in the window before it may open
	FailureRatio float64       // 0..1: this share of release verdicts opens it
	RejectRatio  float64       // 0..1: this share of reject verdicts opens it
	Cooldown     time.Duration // the wait before a probe, never less than a second
	MaxCooldown  time.Duration // what it doubles to, once in each minute and a half of being down
}

// DefaultBreaker is what an endpoint's breaker is like unless it says otherwise.
var DefaultBreaker = Breaker{
	Enabled:      true,
	Window:       10 * time.Second,
	MinAttempts:  10,
	FailureRatio: 0.5,
	RejectRatio:  0.9,
	Cooldown:     5 * time.Second,
	MaxCooldown:  time.Minute,
}

const (
	// maxRoom is more than anybody asks for.
	maxRoom = math.MaxInt32

	defaultConcurrency = 64
	defaultMaxHeld     = 1000
)

func (o Options) withDefaults() Options {
	if o.Concurrency == 0 {
		o.Concurrency = defaultConcurrency
	}
	if o.MaxHeld == 0 {
		o.MaxHeld = defaultMaxHeld
	}
	if o.Retry == (Retry{}) {
		o.Retry = DefaultRetry
	}
	if o.MaxDeliveries == nil {
		o.MaxDeliveries = func() int32 { return 0 }
	}
	if o.Observer == nil {
		o.Observer = unobserved{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// check reports every fault, not only the first.
func (o Options) check() error {
	var faults []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	require(o.Source != nil, "source is missing")
	require(o.Attempter != nil, "attempter is missing")
	require(o.Concurrency > 0, "concurrency is %d, must be at least 1", o.Concurrency)
	require(o.MaxHeld > 0, "max held is %d, must be at least 1", o.MaxHeld)
	require(o.ReadAhead >= 0, "read ahead is %d, must not be negative", o.ReadAhead)
	require(o.Retry.Attempts > 0, "retry attempts is %d, must be at least 1", o.Retry.Attempts)
	require(o.Retry.InitialInterval > 0, "retry initial interval is %v, must be positive", o.Retry.InitialInterval)
	require(o.Retry.Multiplier >= 1, "retry multiplier is %v, must be at least 1", o.Retry.Multiplier)
	require(o.Retry.RandomizationFactor >= 0 && o.Retry.RandomizationFactor <= 1,
		"retry randomization factor is %v, must be within 0 and 1", o.Retry.RandomizationFactor)
	require(o.Retry.MaxInterval >= o.Retry.InitialInterval,
		"retry max interval is %v, must not be below the initial interval", o.Retry.MaxInterval)
	require(o.Retry.MaxElapsedTime > 0, "retry max elapsed time is %v, must be positive", o.Retry.MaxElapsedTime)
	require(o.RateLimit >= 0 && !math.IsInf(o.RateLimit, 0), "rate limit is %v, must be a number and not negative", o.RateLimit)
	if b := o.Breaker; b.Enabled {
		require(b.Window > 0, "breaker window is %v, must be positive", b.Window)
		require(b.MinAttempts > 0, "breaker min attempts is %d, must be at least 1", b.MinAttempts)
		require(b.FailureRatio > 0 && b.FailureRatio <= 1, "breaker failure ratio is %v, must be above 0 and at most 1", b.FailureRatio)
		require(b.RejectRatio > 0 && b.RejectRatio <= 1, "breaker reject ratio is %v, must be above 0 and at most 1", b.RejectRatio)
		require(b.Cooldown > 0, "breaker cooldown is %v, must be positive", b.Cooldown)
		require(b.MaxCooldown >= b.Cooldown, "breaker max cooldown is %v, must not be below the cooldown", b.MaxCooldown)
	}
	return errors.Join(faults...)
}
