// Package kafka runs a real Apache Kafka for tests: one node or three, on free
// loopback ports, ready after two to six seconds.
//
// It is a test harness and nothing else: no program of ours imports it. It is
// also no mock: what it starts are the jars of the release named in pom.xml,
// and they must be on the machine (`make kafka` puts them there). Without them
// a test fails with that advice; it is never skipped, since a promise that was
// not tried is not kept.
//
// What holds:
//
//   - A node dies with the test process, however that ends (Linux; elsewhere a
//     killed test process leaves its nodes behind).
//   - Only processes that a Cluster started are ever signalled.
//   - A node keeps its ports and its data over Stop, Kill and Restart.
//   - Ports lie below the ephemeral range, so that no client's own connection
//     can take the port of a node that is down.
//   - Helpers wait for conditions, never for a time, and end the test with a
//     sentence when a condition does not come.
//
// The default settings allow short heartbeats, sessions and locks; with
// Options.Production the share-group settings are Kafka's own.
package kafka
