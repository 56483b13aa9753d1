package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// BreakerState is the state of an endpoint's breaker. Its numbers are the
// values of sharehook_breaker_state, hence a zero that means something.
type BreakerState int

// The states, in the order of how little is delivered.
const (
	BreakerClosed   BreakerState = 0
	BreakerHalfOpen BreakerState = 1
	BreakerOpen     BreakerState = 2
	BreakerPaused   BreakerState = 3
)

// callbacks are what a scrape asks; those that are nil have no series.
type callbacks struct {
	held     func() int64
	inFlight func() int64
	breaker  func() BreakerState
	lag      func() map[string]int64
}

// gauges hold the callbacks of one handle. A callback must return at once,
// since the scrape waits for it.
type gauges struct {
	mu    sync.Mutex // guards calls; callbacks run without it
	calls callbacks
}

// SetHeld says how to learn the number of records acquired and not yet
// acknowledged.
func (g *gauges) SetHeld(held func() int64) {
	g.set(func(calls *callbacks) { calls.held = held })
}

// SetInFlight says how to learn the number of attempts that run now.
func (g *gauges) SetInFlight(inFlight func() int64) {
	g.set(func(calls *callbacks) { calls.inFlight = inFlight })
}

// SetBreakerState says how to learn the state of the breaker.
func (g *gauges) SetBreakerState(state func() BreakerState) {
	g.set(func(calls *callbacks) { calls.breaker = state })
}

// SetLag says how to learn the share group's lag (KIP-1226) in records by
// topic. Topics whose lag is not known are left out of the map.
func (g *gauges) SetLag(lag func() map[string]int64) {
	g.set(func(calls *callbacks) { calls.lag = lag })
}

func (g *gauges) set(change func(*callbacks)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.calls)
}

func (g *gauges) callbacks() callbacks {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls
}

var (
	heldDesc = prometheus.NewDesc("sharehook_records_held",
		"Records acquired and not yet acknowledged.", nil, nil)
	inFlightDesc = prometheus.NewDesc("sharehook_attempts_in_flight",
		"Attempts (POSTs) that run now.", nil, nil)
	breakerDesc = prometheus.NewDesc("sharehook_breaker_state",
		"State of the endpoint's breaker: 0 closed, 1 half-open, 2 open, 3 paused.", nil, nil)
	lagDesc = prometheus.NewDesc("sharehook_share_group_lag",
		"Records that the share group has still to finish.", []string{"topic"}, nil)
)

// gaugeCollector asks the handles of one endpoint at each scrape.
type gaugeCollector struct {
	users func() []*EndpointMetrics
}

// Describe implements [prometheus.Collector].
func (gaugeCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- heldDesc
	descs <- inFlightDesc
	descs <- breakerDesc
	descs <- lagDesc
}

// Collect implements [prometheus.Collector]. What several handles hold is
// added up; of the breaker and the lag there is one, which the newest handle
// knows best.
func (c gaugeCollector) Collect(out chan<- prometheus.Metric) {
	var newest callbacks
	var held, inFlight sum
	for _, user := range c.users() {
		calls := user.callbacks()
		held.add(calls.held)
		inFlight.add(calls.inFlight)
		if calls.breaker != nil {
			newest.breaker = calls.breaker
		}
		if calls.lag != nil {
			newest.lag = calls.lag
		}
	}
	held.collect(out, heldDesc)
	inFlight.collect(out, inFlightDesc)
	if newest.breaker != nil {
		out <- prometheus.MustNewConstMetric(breakerDesc, prometheus.GaugeValue, float64(newest.breaker()))
	}
	if newest.lag != nil {
		for topic, lag := range newest.lag() {
			out <- prometheus.MustNewConstMetric(lagDesc, prometheus.GaugeValue, float64(lag), topic)
		}
	}
}

// sum adds up what callbacks answer; without one it is not known.
type sum struct {
	known bool
	value int64
}

func (s *sum) add(ask func() int64) {
	if ask != nil {
		s.known = true
		s.value += ask()
	}
}

func (s *sum) collect(out chan<- prometheus.Metric, desc *prometheus.Desc) {
	if s.known {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(s.value))
	}
}
