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
// # Breaker
//
// Each endpoint has a [Breaker]. Closed, it counts verdicts in a sliding
// window and opens when too many are releases (the endpoint is down) or
// rejects (everything is rejected: the route is presumed wrong). Open, nothing
// is acquired and what is held stays held, but one record at a time is probed
// with: one that is held anyway, so that it costs no delivery. An accept
// half-opens it; then attempts double with each round that goes well, until it
// is closed.
//
// What an endpoint answers while it is shut out uses up neither attempts nor
// deliveries, and a reject of one that rejects everything makes no dead letter:
// the record is kept and has its verdict when attempts start again. Answers
// that say nothing about the endpoint (a drain, a fault of ours, a record that
// can never be sent) do not count. Before the first acceptance no more
// attempts run than it takes to open: a new endpoint with a wrong route costs
// that many records.
//
// It is written here because neither failsafe-go nor gobreaker fits: both say
// yes or no to one call at a time, while ours is asked how many attempts may
// start and how many records to acquire. Neither has two ratios over one
// window, a ramp, a probe that gives its slot back without an answer, or a
// cooldown that grows with the time of being down.
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
//     for a dead letter, which last as long as it takes, and that of a record
//     on its last permitted delivery for an endpoint which is paused, held
//     back or shut out by the breaker: given back it would be dead unjudged.
//  7. While paused, held back or draining no attempt starts and nothing is
//     acquired. While the breaker is open one probe runs at a time, at most
//     one begins in a second, and a record is acquired only to probe with.
//  8. A record whose lock has lapsed is not attempted any more.
//  9. An attempt that a drain cut short is an interruption, not a failure.
//  10. A panic in an attempt ends that delivery and nothing else.
//  11. When Run has returned, no goroutine and no timer of the endpoint is
//     left.
//  12. RateLimit is kept by every attempt, and waiting for it is none.
//
// # Locks
//
// Endpoint.mu guards all that changes. Under it are called only
// Record.Lapsed and nothing else from outside, so the order is: Endpoint.mu,
// then whatever lock Lapsed takes. Observer, Attempter, DeadLetterer, Source,
// Record.Acknowledge and Options.MaxDeliveries are called without it. Before
// it comes Endpoint.announcing, which has the breaker's changes told in order.
package dispatch
