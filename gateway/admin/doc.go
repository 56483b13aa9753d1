// Package admin is the gateway's own HTTP server: health, readiness and
// metrics, for probes and scrapers.
//
// It knows nothing of what it shows: readiness and metrics come in by
// [Options]. It is not the way of records, which the gateway sends and never
// receives.
//
// # What is served
//
//	GET /healthz  200 {"status":"ok"} while the process lives.
//	GET /readyz   200 if every enabled endpoint has joined its share group, else
//	              503 (starting, draining, or in trouble); either way a JSON
//	              document with the reason of each endpoint.
//	GET /metrics  Prometheus.
//
// HEAD is answered like GET. Bodies are JSON whatever Accept says: a probe
// looks at the status, a person reads JSON as well as words. Every error is a
// problem document (RFC 9457, application/problem+json).
//
// # Invariants
//
//   - A request can neither hang nor crash the gateway: all phases have
//     timeouts, and a panic ends its request only.
//   - [Server.Shutdown] returns when its context ends, and nothing of the
//     server runs on after it.
//   - Answers and log lines carry no credentials and no query strings.
package admin
