package webhooks

import "strings"

// ownHeaders are set by Sharehook itself. The names are in lower case.
var ownHeaders = nameSet(
	"content-type", "user-agent", "idempotency-key", "authorization",
	"traceparent", "tracestate", "baggage",
	"kafka-topic", "kafka-partition", "kafka-offset", "kafka-timestamp",
	"kafka-key", "kafka-key-base64", "kafka-tombstone",
)

// framingHeaders decide where a request ends, where it goes and what becomes of
// its connection (RFC 9110, 7.6.1; RFC 9112; RFC 9113, 8.2.2). net/http or the
// connection sets them. Set by anyone else they break this request or the next.
var framingHeaders = nameSet(
	"host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection",
	"te", "trailer", "upgrade", "http2-settings", "expect",
)

// delicateHeaders say who sends a request, from where and on what condition.
// The operator may set them for an endpoint; a record, which anyone with write
// access to the topic can produce, may not.
var delicateHeaders = nameSet(
	// Credentials and signatures.
	"authorization", "cookie", "cookie2", "set-cookie", "x-api-key", "x-auth-token", "x-csrf-token",
	"signature", "signature-input", "digest", "content-digest", "repr-digest", "content-md5", "date",
	// Where it came from and where it goes, as proxies tell it.
	"forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "x-original-url", "x-rewrite-url", "x-host", "x-original-host",
	"x-http-method", "x-http-method-override", "x-method-override", "max-forwards", "origin", "referer",
	// How body and answer are encoded, and whether there is an answer at all.
	"content-encoding", "content-range", "accept-encoding", "range",
)

// delicatePrefixes are families of delicateHeaders.
var delicatePrefixes = []string{"proxy-", "x-forwarded-", "x-amz-", "cf-", "sec-", "if-"}

// ownPrefixes are families of ownHeaders: Standard Webhooks', and ours.
var ownPrefixes = []string{"webhook-", "sharehook-"}

// consumedHeaders are used in another way than forwarding them, so that it is no
// loss when they cannot be forwarded under their own names.
var consumedHeaders = nameSet("content-type", "traceparent", "tracestate", "baggage")

// ReservedHeader says whether name, in any case, is a header that Sharehook or
// the transport sets, so that Options.Headers must not.
func ReservedHeader(name string) bool {
	name = strings.ToLower(name)
	return ownHeaders[name] || framingHeaders[name] || hasAnyPrefix(name, ownPrefixes)
}

// closedToRecords says whether a record must not set the header with this
// lower-case name.
func closedToRecords(name string) bool {
	return ReservedHeader(name) || delicateHeaders[name] || hasAnyPrefix(name, delicatePrefixes)
}

func hasAnyPrefix(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func nameSet(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}
