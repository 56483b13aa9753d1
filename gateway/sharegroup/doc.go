// Package sharegroup is the gateway's membership of a Kafka share group
// (KIP-932). It is the only package that speaks Kafka's share-group side, and
// it does so through the public interface of kgo.
//
// A [Group] is our part in a share group: one or more members of it. It
// acquires records, keeps their acquisition locks by renewing (KIP-1222) for as
// long as they are held, and acknowledges each of them on its own, in any
// order. It knows nothing of HTTP and decides nothing about a
// record.
//
// # How it stands on kgo
//
// kgo accepts, at each poll, every record of the poll before that nobody has
// acknowledged. A gateway polls while attempts are running, so that would lose
// records. The [veil] hides the acknowledgement state of a record while kgo
// buffers it: the poll finds nothing to remember, the next poll nothing to
// accept. Records are taken from kgo's hook, never from a poll's result, so
// that those of paused topics reach us too.
//
// # Invariants
//
//   - A record that a caller got is acknowledged by that caller or given back
//     by the broker. One that nobody takes is given back after a while.
//   - Nothing is fetched unless somebody wants records. What a fetch under way
//     brings all the same is kept here.
//   - Nothing stays in kgo's buffer for longer than [bufferDwell]: what waits
//     there has its lock running and nobody who renews it.
//   - No acknowledgement is handed to kgo after its record's lock deadline, as
//     the broker would refuse its neighbours with it. The deadline is ours:
//     kgo's does not move when a lock is renewed.
//   - A partition has at most one batch of acknowledgements under way. So an
//     answer names its records, although kgo tells only the partition, and a
//     renewal never races the final acknowledgement of its record.
//   - A record that arrives again while it is held (a leader moved, a session
//     was lost) takes the place of its old handle under the running attempt. A
//     record whose acceptance or rejection was lost on the way is acknowledged
//     again when it comes back, without a second delivery.
//   - A topic made again has other records at the same offsets: nothing that is
//     known of the old ones counts for them, and their topic ID is another.
//   - A renewal that is lost with its session ends the lock: it is not repeated,
//     as kgo would neither send it nor say so.
//
// # Locks and goroutines
//
// Group.mu guards all state of members, records and ledgers. It is never held
// while a caller's function, a request or a poll runs; kgo's MarkAcks is called
// under it and only queues. Goroutines: one a member polls, one a member asks
// kgo to send what waits, one a group keeps the locks and one looks after
// topics; others heal a topic or wait to open a ledger again. All end in
// [Group.Leave].
package sharegroup
