// Package webhooks makes one attempt: it turns a [Message] into a POST to an
// [Endpoint], reads the answer and says what it means, a [Result].
//
// It knows HTTP and nothing of Kafka's protocol. It does not retry, wait, limit
// or acknowledge: what follows from a verdict is decided by its caller.
//
// # How an attempt runs
//
//	message -> headers and body, by the format -> signature -> POST -> final status -> verdict and reason
//
// Invariants:
//
//   - The final status decides, as soon as the header of the answer is complete.
//     A body that drips, breaks or never ends changes nothing but the fate of
//     its connection.
//   - No answer, of whatever kind, means release: nothing that is not the
//     record's own fault is charged to the record. What may be a proxy's own
//     answer is none.
//   - No denied address is dialled, nor is a proxy asked for it (see
//     [NetworkRules]): judged after a name was resolved, on all its addresses.
//   - A record can set no header that frames, routes or authenticates the
//     request (see [ForwardRules]), whatever its headers are called.
//   - Whatever headers a record has, a request is made of it that HTTP can
//     carry: what it cannot carry is encoded, or left out, counted, and said in
//     the request's sharehook-headers-dropped.
//   - A key or value that is JSON is embedded in a body byte for byte. It never
//     passes through an encoder, which would write numbers and escapes anew.
//   - What is signed is the bytes that are sent, at the time of the attempt.
//   - Credentials that we do not have, or that are refused and can be had anew,
//     are our own fault: no request is made without them (Result.Held), and an
//     attempt that they were refused to is made once more with fresh ones.
//   - A request that took a connection which the endpoint had closed already is
//     repeated on another one, within the same attempt and its timeout.
//   - Reasons come from a fixed list and are found by the types of errors,
//     never by their texts.
//   - Of a URL only scheme, host and port appear in errors and spans.
//   - The bytes of a message are shared and only read: after an early answer or
//     a timeout the transport may still be sending them.
//
// # Bounds
//
//	one attempt, dial to end of the answer's header   Options.Timeout
//	one forwarded header line, key included           8190 bytes
//	key, record headers and attributes of events      32 KiB
//	header of an answer                               256 KiB
//	body of an answer: read, kept, waited for         64 KiB, 2 KiB, 500 ms
//	age of a connection                               5 minutes, and the attempt it serves then
//
// # Locks
//
// Endpoint.mu guards the current generation of connections, connSet.mu the set
// of open connections, answerConn.mu what is known of the answer under way,
// way.mu the last judgement of a name, tokens.mu the token and its renewal.
// None is held while another is taken, nor across a call that may block.
package webhooks
