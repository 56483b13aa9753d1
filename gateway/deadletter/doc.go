// Package deadletter writes dead letters by the gateway: the rejected record
// as it was, with the story of its last delivery in headers. It is for groups
// whose broker writes none (before Kafka 4.4, and where dead_letter.by is
// gateway).
//
// It does not decide what is rejected, and does not retry: a [Writer.Write]
// that fails leaves the record with the caller, who holds it and tries again.
// It imports nothing of ours.
//
// # What a dead letter is
//
// Key and value are the source record's (null stays null), its headers come
// first, in order, repeats and nulls kept. After them comes the story, one
// header of each name below, in this order; the names are promises. What the
// story does not know is null, not left out.
//
//	sharehook.dead_letter.endpoint        name of the endpoint
//	sharehook.dead_letter.share_group     name of the share group
//	sharehook.dead_letter.topic           where the record is from
//	sharehook.dead_letter.partition       "
//	sharehook.dead_letter.offset          "
//	sharehook.dead_letter.timestamp       the record's, RFC 3339 with milliseconds, UTC
//	sharehook.dead_letter.webhook_id      the record's webhook-id
//	sharehook.dead_letter.verdict         reject, or release if the deliveries are used up
//	sharehook.dead_letter.reason          why, from the fixed list of package webhooks
//	sharehook.dead_letter.status          status code of the last answer
//	sharehook.dead_letter.cause           the last error, in words
//	sharehook.dead_letter.attempts        POSTs in the last delivery
//	sharehook.dead_letter.delivery_count  Kafka's count
//	sharehook.dead_letter.trace_id        of the last delivery
//	sharehook.dead_letter.time            when it became a dead letter, RFC 3339 with milliseconds, UTC
//	sharehook.dead_letter.answer          start of the last answer's body, base64
//
// A source record may have such headers itself: a dead letter that died again
// on the way from its own topic. They are kept as they are, so that the whole
// history stays readable. As every story has all the names and the newest is
// last, a reader takes the last header of each name and never mixes two
// stories.
//
// # Invariants
//
//   - Write answers nil only when all in-sync replicas have the letter.
//   - Write always returns when its context ends.
//   - A letter that is refused as too large is so alone, not for the company
//     it travelled in.
//   - A topic that is missing, full or without a leader holds up nobody but the
//     letters to it.
package deadletter
