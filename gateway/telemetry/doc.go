// Package telemetry owns what the gateway tells about itself: the metrics of
// /metrics, and the OpenTelemetry SDK with its exporters. It is the only
// package that knows the SDK; elsewhere only the OpenTelemetry API is used.
//
// It is not a place for decisions, names of spans or log lines: those stand
// where the thing happens.
//
// # Metrics
//
// The instruments are those of the Prometheus client, one registry for the
// process and one for each endpoint, gathered together. What a scrape of
// /metrics shows is also what is pushed by OTLP, under the same names, through
// the Prometheus bridge of OpenTelemetry. Two reasons for one set of
// instruments and not two: a delivered record costs a few atomic additions and
// no allocation, and the series of an endpoint that is gone go with its
// registry, which a MeterProvider of the SDK cannot do.
//
// # Invariants
//
//   - No call that stands on a record's way blocks, whatever a collector does:
//     spans go to a bounded queue and are dropped when it is full, metrics are
//     read by a goroutine of the reader.
//   - [Telemetry.Shutdown] returns when its context ends, and cuts short what
//     is still being exported.
//   - Attributes are bounded: endpoint, topic as configured, verdict, reason,
//     and the other short fixed lists. Never a key, an offset or a URL.
//   - Of a URL in an error of an exporter only scheme, host and port are
//     logged.
//
// # Locks
//
// instruments.mu, then nothing: callbacks of gauges run without it.
package telemetry
