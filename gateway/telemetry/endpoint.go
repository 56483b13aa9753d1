package telemetry

import "time"

// EndpointMetrics is a handle on the instruments of one endpoint. Its methods
// may be called from any goroutine, do not block and do not allocate for label
// values that were seen before. Label values must come from short fixed lists.
type EndpointMetrics struct {
	*endpointSeries
	gauges

	owner *instruments
	name  string
}

// Close gives the handle back; the endpoint's series go with the last one.
// What is counted through a closed handle is not lost while another is open.
// A callback may still run once, for a scrape that had begun before.
func (m *EndpointMetrics) Close() { m.owner.close(m) }

// Acquired counts n records acquired from the topic.
func (m *EndpointMetrics) Acquired(topic string, n int) {
	m.acquired.WithLabelValues(topic).Add(float64(n))
}

// Acknowledged counts n acknowledgements of the type (accept, release,
// reject) that the broker confirmed.
func (m *EndpointMetrics) Acknowledged(topic, acknowledgement string, n int) {
	m.acknowledged.WithLabelValues(topic, acknowledgement).Add(float64(n))
}

// Renewed counts n renewals of acquisition locks.
func (m *EndpointMetrics) Renewed(n int) { m.renewed.Add(float64(n)) }

// Lapsed counts n records whose lock ended before they were acknowledged.
func (m *EndpointMetrics) Lapsed(n int) { m.lapsed.Add(float64(n)) }

// AcknowledgementError counts n records whose acknowledgement failed with the error of
// that name, one of Kafka's or a short word of ours.
func (m *EndpointMetrics) AcknowledgementError(name string, n int) {
	m.acknowledgementErrors.WithLabelValues(name).Add(float64(n))
}

// Attempt counts a finished attempt and how long it took.
func (m *EndpointMetrics) Attempt(verdict, reason string, elapsed time.Duration) {
	m.attempts.WithLabelValues(verdict, reason).Inc()
	m.attemptDuration.Observe(elapsed.Seconds())
}

// DeliveryDuration records the time from acquisition to acknowledgement.
func (m *EndpointMetrics) DeliveryDuration(elapsed time.Duration) {
	m.deliveryDuration.Observe(elapsed.Seconds())
}

// RecordAge records the age of a record at its acceptance. A record from the
// future, by a producer's wrong clock, counts as new.
func (m *EndpointMetrics) RecordAge(age time.Duration) {
	m.recordAge.Observe(max(age, 0).Seconds())
}

// DeadLetter counts a dead letter: by whom it is written (broker, gateway,
// none) and its cause.
func (m *EndpointMetrics) DeadLetter(by, cause string) {
	m.deadLetters.WithLabelValues(by, cause).Inc()
}

// HeadersDropped counts n record headers that HTTP cannot carry.
func (m *EndpointMetrics) HeadersDropped(n int) { m.headersDropped.Add(float64(n)) }
