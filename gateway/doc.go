// Package gateway puts the parts together and runs them: for each endpoint of
// the configuration a share group that it acquires from, a dispatcher that
// delivers and an HTTP endpoint that is delivered to.
//
//	acquire           deliver              acknowledge
//	sharegroup  ->    dispatch  ->  webhooks
//	            <-              <-
//
// The parts know nothing of each other. What one needs of another it declares
// as a small interface; the adapters in here fill it and decide nothing:
//
//   - build.go: configuration -> options of the parts
//   - record.go, attempt.go, letter.go: records, attempts and dead letters
//   - observe.go: what happens to a delivery -> spans, metrics, log lines
//
// What the package does decide is when an endpoint runs:
//
//   - endpoint.go: check, pin the start, join, deliver, watch; and from the
//     beginning again when something of that is missing
//   - gateway.go, drain.go: all endpoints together, from the start to the last
//     flushed span
//   - provision.go: the cluster's settings, when asked to
//
// # Invariants
//
//   - Endpoints share nothing that one of them could hold up: each has its own
//     members, connections, limits and goroutines.
//   - An endpoint whose dead letters would be lost does not run.
//   - A stop is not a failure: nothing that is cut short by it is charged to a
//     record or an endpoint.
//   - The order of a drain is fixed: not ready, acquire nothing, finish
//     attempts, leave the groups, flush telemetry, close the admin server.
package gateway
