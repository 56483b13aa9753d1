// Package dispatch delivers the records of one endpoint: attempts, back-off
// and limits, until each record has an outcome.
//
// It is policy alone. It does not know Kafka's client, HTTP or the
// configuration file; what it needs of them it declares as small interfaces
// ([Source], [Record], [Attempter], [DeadLetterer], [Observer]), which the
// gateway fills. It does not keep acquisition locks either: whoever handed a
// record out renews its lock until the record is acknowledged or its member
// leaves. dispatch bounds how many records are held and for how long.
//
// # Words
//
// A delivery is one acquisition of a record and ends in one [Outcome]. An
// attempt is one POST within it. A delivery is held from its acquisition to
// its end; while held it is queued (it could be attempted now), running (its
// attempt or dead letter is under way) or waiting (for its back-off).
//
// # Invariants
//
//  1. Every record that a Source hands out ends in exactly one outcome:
//     acknowledged once, given back, or lapsed; Finished is told once.
//  2. Accept follows only from an attempt whose verdict was accept.
//  3. With a DeadLetterer, Reject is acknowledged only after the dead letter
//     was written. While writing fails the record is held.
//  4. With a DeadLetterer and a known delivery limit, a record on its last
//     permitted delivery is never released, and is given back only when a
//     drain has run out of time: the broker would archive it without a trace.
//  5. At most Concurrency attempts run, at most MaxHeld records are held. A
//     record that waits takes neither a slot nor a goroutine.
//  6. No wait ends later than MaxElapsedTime after the acquisition, but those
//     for a dead letter, which last as long as it takes.
//  7. While paused, held back or draining no attempt starts and nothing is
//     acquired.
//  8. A record whose lock has lapsed is not attempted any more.
//  9. An attempt that a drain cut short is an interruption, not a failure.
//  10. A panic in an attempt ends that delivery and nothing else.
//  11. When Run has returned, no goroutine and no timer of the endpoint is
//     left.
//
// # Locks
//
// One mutex, Endpoint.mu, guards all that changes. Under it are called only
// Record.Lapsed and nothing else from outside, so the order is: Endpoint.mu,
// then whatever lock Lapsed takes. Observer, Attempter, DeadLetterer, Source,
// Record.Acknowledge and Options.MaxDeliveries are called without it.
package dispatch
