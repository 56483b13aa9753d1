package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// The bounds of the histograms, in seconds. An attempt lasts from a
// millisecond to a timeout, a delivery up to the longest
// retry.max_elapsed_time that is usual, and a record may have waited for a
// day.
var (
	attemptBuckets  = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	deliveryBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}
	ageBuckets      = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21600, 86400}
)

// endpointSeries are the series of one endpoint, in a registry of their own.
type endpointSeries struct {
	registry *prometheus.Registry
	users    []*EndpointMetrics // guarded by instruments.mu

	acquired              *prometheus.CounterVec // topic
	acknowledged          *prometheus.CounterVec // topic, type
	renewed               prometheus.Counter
	lapsed                prometheus.Counter
	acknowledgementErrors *prometheus.CounterVec // error
	attempts              *prometheus.CounterVec // verdict, reason
	attemptDuration       prometheus.Histogram
	deliveryDuration      prometheus.Histogram
	recordAge             prometheus.Histogram
	deadLetters           *prometheus.CounterVec // by, cause
	headersDropped        prometheus.Counter
}

func newEndpointSeries(name string, usersOf func(*endpointSeries) []*EndpointMetrics) *endpointSeries {
	registry := prometheus.NewRegistry()
	labelled := prometheus.WrapRegistererWith(prometheus.Labels{"endpoint": name}, registry)
	auto := promauto.With(labelled)
	counter := func(name, help string) prometheus.Counter {
		return auto.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return auto.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}

	s := &endpointSeries{
		registry: registry,
		acquired: counters("sharehook_records_acquired_total",
			"Records acquired from the share group, redeliveries included.", "topic"),
		acknowledged: counters("sharehook_records_acknowledged_total",
			"Acknowledgements that the broker confirmed.", "topic", "type"),
		renewed: counter("sharehook_records_renewed_total",
			"Renewals of acquisition locks."),
		lapsed: counter("sharehook_records_lapsed_total",
			"Records whose acquisition lock ended before they were acknowledged; Kafka delivers them again."),
		acknowledgementErrors: counters("sharehook_acknowledgement_errors_total",
			"Records whose acknowledgement failed: delivered, perhaps, and not acknowledged.", "error"),
		attempts: counters("sharehook_attempts_total",
			"Finished attempts (POSTs) by what they meant.", "verdict", "reason"),
		attemptDuration: histogram("sharehook_attempt_duration_seconds",
			"Duration of one attempt (POST).", attemptBuckets),
		deliveryDuration: histogram("sharehook_delivery_duration_seconds",
			"Duration of one delivery, from acquisition to acknowledgement.", deliveryBuckets),
		recordAge: histogram("sharehook_record_age_seconds",
			"Age of a record when it was accepted, from its timestamp.", ageBuckets),
		deadLetters: counters("sharehook_dead_letters_total",
			"Records that became dead letters.", "by", "cause"),
		headersDropped: counter("sharehook_record_headers_dropped_total",
			"Record headers left out of a request because HTTP cannot carry their names."),
	}
	labelled.MustRegister(gaugeCollector{users: func() []*EndpointMetrics { return usersOf(s) }})
	// What happens on the first record of a healthy endpoint is there from the
	// start, so that a rate has something to rise from.
	s.attempts.WithLabelValues("accept", "ok")
	return s
}

// declare makes the series of the topics, with value 0.
func (s *endpointSeries) declare(topics []string) {
	for _, topic := range topics {
		s.acquired.WithLabelValues(topic)
		for _, acknowledgement := range []string{"accept", "release", "reject"} {
			s.acknowledged.WithLabelValues(topic, acknowledgement)
		}
	}
}
