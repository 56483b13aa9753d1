// Package dev runs everything on one machine, for trying Sharehook without
// Kafka: an embedded broker, a sample receiver, sample records and the gateway.
//
// It adds nothing to the gateway and takes nothing away: the configuration is
// YAML that a user could write, the broker speaks Kafka's protocol over TCP,
// the receiver HTTP. Only what the embedded broker cannot do is otherwise:
// it writes no dead letters, so the gateway does.
//
// # Invariants
//
//   - A record counts once as settled for each endpoint that it is for, however
//     often it is delivered.
//   - With a number of records no more are produced than that number needs, and
//     [Run] ends when they are settled.
//   - Watching never holds up a delivery: lines that nobody reads are left out
//     and counted.
//   - Everything listens on loopback addresses only.
//   - When [Run] has returned, nothing of it is left: no goroutine, no listener,
//     no file.
package dev
