// Package cluster is the gateway's view of the Kafka cluster's settings: it
// reads them, compares them with what the configuration file wishes, checks
// that dead letters will really be written, and, when asked to provision,
// plans and makes the changes.
//
// It acquires no records and knows nothing of endpoints beyond the [Wishes]
// it is given; it imports nothing of ours.
//
// Invariants:
//
//   - Only [Cluster.Apply] and [Cluster.PinStart] change anything, and what
//     Apply changes is what the plan said.
//   - Nothing is ever deleted or lowered: no topic, no partition, no limit of
//     a topic. Clearing a group's dead-letter topic, when somebody else is to
//     write dead letters, is the one value that Plan takes away.
//   - A plan that was applied is empty the next time.
//   - What the cluster does not tell is "not known": never a zero that looks
//     like a value, never silently well.
//   - What is decided is decided by pure functions (Compare, judge, draft);
//     reading the cluster is apart from it.
package cluster
