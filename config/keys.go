package config

import "time"

// Bounds that the table and the checks share.
const (
	maxDuration = 24 * time.Hour
	maxRecords  = 1_000_000 // held by one endpoint of one replica
)

// rootKeys is the whole file.
var rootKeys = []key{
	{name: "kafka", kind: object, required: true, keys: kafkaKeys, doc: "How to reach the Kafka cluster."},
	{name: "admin", kind: object, keys: adminKeys, doc: "The admin server: health, metrics, API."},
	{name: "shutdown", kind: object, keys: shutdownKeys, doc: "How long a shutdown may take."},
	{name: "defaults", kind: object, keys: defaultsKeys(), doc: "Keys that every endpoint has unless it sets them itself."},
	{name: "endpoints", kind: objects, required: true, keys: endpointKeys, doc: "The HTTP endpoints that records are pushed to."},
}

var kafkaKeys = []key{
	{name: "brokers", kind: texts, required: true, check: checkBroker, doc: "Addresses of brokers to begin with, as host:port."},
	{name: "client_id", kind: text, def: "sharehook", check: checkClientID, doc: "Names this client in the broker's logs, metrics and quotas."},
	{name: "tls", kind: object, optional: true, keys: tlsKeys, doc: "Present, even empty: TLS."},
	{name: "sasl", kind: object, optional: true, keys: saslKeys, doc: "Present: SASL authentication."},
}

var saslKeys = []key{
	{
		name: "mechanism", kind: text, def: SASLPlain, doc: "The SASL mechanism.",
		enum: []string{SASLPlain, SASLScramSHA256, SASLScramSHA512}, enumLater: []string{"OAUTHBEARER", "AWS_MSK_IAM"},
	},
	{name: "username", kind: text, doc: "The user; required but by OAUTHBEARER and AWS_MSK_IAM."},
	{name: "password", kind: secret, doc: "The user's password; required with username."},
	{name: "token_url", notYet: true, kind: text, doc: "Where OAUTHBEARER gets its tokens."},
	{name: "client_id", notYet: true, kind: text, doc: "The client id of OAUTHBEARER."},
	{name: "client_secret", notYet: true, kind: secret, doc: "The client secret of OAUTHBEARER."},
	{name: "scopes", notYet: true, kind: texts, doc: "The scopes that OAUTHBEARER asks for."},
}

var tlsKeys = []key{
	{name: "ca_file", kind: text, isPath: true, doc: "PEM file of the authorities to trust instead of the system's."},
	{name: "cert_file", kind: text, isPath: true, doc: "PEM file of the client certificate; needs key_file."},
	{name: "key_file", kind: text, isPath: true, doc: "PEM file of the client certificate's key; needs cert_file."},
	{name: "server_name", kind: text, check: checkServerName, doc: "The name that the server's certificate must bear; by default the host."},
	{name: "insecure_skip_verify", kind: boolean, def: false, doc: "Trust any certificate. For experiments only."},
}

var adminKeys = []key{
	{name: "listen", kind: text, def: "127.0.0.1:8400", check: checkListen, doc: "Address of the admin server, as host:port; empty turns it off."},
	{name: "token", kind: secret, check: checkToken, doc: "Bearer token of the API and the dashboard; without it they do not answer on addresses that are not loopback."},
}

var shutdownKeys = []key{
	{name: "grace", kind: duration, def: 25 * time.Second, limits: between(time.Millisecond, time.Hour), doc: "How long a drain may take; below Kubernetes' 30s."},
}

// endpointKeys are the keys of one endpoint.
var endpointKeys = []key{
	{name: "name", kind: text, required: true, alone: true, check: checkName, doc: "Names the endpoint: a-z, 0-9 and '-', at most 63; unique."},
	{name: "topics", kind: texts, required: true, alone: true, check: checkTopicEntry, doc: "Topics whose records are pushed; an entry that starts with ^ is a regular expression."},
	{name: "url", kind: text, required: true, alone: true, private: true, check: checkURL, doc: "Where records are posted; http or https, no userinfo, no fragment."},
	{name: "enabled", kind: boolean, def: true, doc: "false: checked but not run."},
	{name: "share_group", kind: object, keys: shareGroupKeys, doc: "Wishes for the share group that feeds the endpoint."},
	{name: "members", kind: integer, def: 1, limits: between(1, 100), doc: "Share-group members for each replica."},
	{name: "concurrency", kind: integer, def: 64, limits: between(1, maxRecords), doc: "POSTs in flight."},
	{name: "max_held", kind: integer, def: 1000, limits: between(1, maxRecords), doc: "Records acquired and not yet acknowledged, those that wait for a retry included."},
	{name: "read_ahead", kind: readAhead, def: ReadAhead{Auto: true}, limits: between(0, maxRecords), doc: "Records acquired that wait for their first POST; auto, or a number."},
	{name: "rate_limit", kind: rate, defDoc: "no limit", doc: "Greatest rate of POSTs of each replica, as 200/s or 1000/m."},
	{name: "timeout", kind: duration, def: 10 * time.Second, limits: between(time.Millisecond, time.Hour), doc: "One attempt, from dialling to the end of the answer's header."},
	{name: "headers", kind: textMap, private: true, check: checkHeaderValue, checkName: checkHeaderName, doc: "Sent with every POST."},
	{name: "forward_headers", kind: object, keys: forwardHeadersKeys, doc: "Which record headers become HTTP headers."},
	{
		name: "format", kind: text, def: FormatRaw, doc: "What the body holds.",
		enum: []string{FormatRaw, FormatJSON, FormatCloudEventsBinary, FormatCloudEventsStructured},
	},
	{name: "content_type", kind: text, check: checkContentType, defDoc: "of raw the record's content-type header, else application/octet-stream", doc: "The media type of the body; with cloudevents-* of the data."},
	{name: "cloudevents", kind: object, keys: cloudEventsKeys, doc: "Attributes of the CloudEvents made from records."},
	{name: "schema_registry", notYet: true, kind: object, doc: "Decodes Avro, Protobuf and JSON Schema values to JSON."},
	{name: "filter", notYet: true, kind: text, doc: "CEL expression; false: the record is accepted without a POST."},
	{name: "batch", notYet: true, kind: object, doc: "Many records in one POST."},
	{name: "auth", kind: object, keys: authKeys, doc: "How the gateway authenticates at the endpoint; at most one way."},
	{name: "signing", kind: object, keys: signingKeys, doc: "Standard Webhooks signatures."},
	{name: "tls", kind: object, optional: true, keys: tlsKeys, doc: "TLS settings of an https endpoint."},
	{name: "proxy", kind: text, private: true, check: checkProxy, defDoc: "the environment's HTTP_PROXY, HTTPS_PROXY and NO_PROXY", doc: "URL of a proxy, or none."},
	{name: "network", kind: object, keys: networkKeys, doc: "Which addresses are not dialled."},
	{name: "status", kind: object, keys: statusKeys, doc: "What the answer's status means; a code beats a class, and what no list names is released."},
	{name: "honour_action", kind: boolean, def: false, doc: "Obey the answer's sharehook-action header."},
	{name: "retry", kind: object, keys: retryKeys, doc: "Back-off inside one delivery, the lock being renewed."},
	{name: "breaker", kind: object, keys: breakerKeys, doc: "Leaves an endpoint alone that is down, or that rejects everything."},
	{name: "dead_letter", kind: object, keys: deadLetterKeys, doc: "Where rejected records go."},
}

var shareGroupKeys = []key{
	{name: "name", kind: text, alone: true, check: checkGroupName, defDoc: "sharehook.<name>", doc: "The share group; every endpoint has its own."},
	{name: "start", kind: text, def: "latest", check: checkStart, doc: "Where a new group starts: latest, earliest or by_duration:PT1H."},
	{name: "isolation", kind: text, def: "read_committed", enum: []string{"read_committed", "read_uncommitted"}, doc: "Whether records of aborted transactions are delivered (share.isolation.level)."},
	{name: "lock", kind: duration, def: 30 * time.Second, limits: between(time.Second, time.Hour), doc: "How long an acquired record is locked (share.record.lock.duration.ms)."},
	{name: "max_deliveries", kind: integer, def: 10, limits: between(2, 25), doc: "Deliveries before a record is dead (share.delivery.count.limit)."},
	{name: "max_record_locks", kind: integer, def: 4000, limits: between(100, 10_000), doc: "Records in flight of one partition (share.partition.max.record.locks)."},
}

var forwardHeadersKeys = []key{
	{name: "include", kind: texts, def: []string{"*"}, check: checkGlob, doc: "Globs over record header names."},
	{name: "exclude", kind: texts, check: checkGlob, doc: "Globs that take names out again."},
	{name: "prefix", kind: text, def: "kafka-header-", check: checkHeaderPrefix, doc: "Stands before the name; may be empty."},
}

var cloudEventsKeys = []key{
	{name: "type", kind: text, check: checkAttribute, defDoc: "kafka.record", doc: "The attribute type."},
	{name: "source", kind: text, check: checkEventSource, defDoc: "/kafka/<topic>", doc: "The attribute source, a URI reference."},
	{name: "subject", kind: text, check: checkAttribute, defDoc: "the key if it is text", doc: "The attribute subject."},
}

var signingKeys = []key{
	{name: "secrets", kind: secrets, check: checkSigningSecret, doc: "Secrets to sign with, newest first: whsec_ (v1, HMAC-SHA256) or whsk_ (v1a, Ed25519)."},
}

var networkKeys = []key{
	{name: "deny", kind: texts, def: []string{"metadata"}, check: checkDenied, doc: "Addresses that are not dialled: metadata, link-local, loopback, private, or a prefix as 10.1.0.0/16."},
	{name: "allow", kind: texts, check: checkPrefix, doc: "Prefixes that are dialled all the same."},
}

var statusKeys = []key{
	{name: "accept", kind: texts, def: []string{"2xx"}, check: checkStatus, doc: "Codes and classes that mean accept."},
	{name: "release", kind: texts, def: []string{"408", "425", "429", "5xx"}, check: checkStatus, doc: "Codes and classes that mean release."},
	{name: "reject", kind: texts, def: []string{"3xx", "4xx"}, check: checkStatus, doc: "Codes and classes that mean reject."},
}

var retryKeys = []key{
	{name: "attempts", kind: integer, def: 3, limits: between(1, 1000), doc: "POSTs before the record is released; 1: release at once."},
	{name: "initial_interval", kind: duration, def: 500 * time.Millisecond, limits: between(time.Millisecond, maxDuration), doc: "The first wait."},
	{name: "multiplier", kind: decimal, def: 2.0, limits: between(1.0, 100.0), doc: "How much longer each wait is than the one before."},
	{name: "randomization_factor", kind: decimal, def: 0.5, limits: between(0.0, 1.0), doc: "How far a wait may differ by chance."},
	{name: "max_interval", kind: duration, def: 30 * time.Second, limits: between(time.Millisecond, maxDuration), doc: "The longest wait."},
	{name: "max_elapsed_time", kind: duration, def: 10 * time.Minute, limits: between(time.Millisecond, maxDuration), doc: "No delivery holds a record longer."},
	{name: "max_retry_after", kind: duration, def: 5 * time.Minute, limits: between(time.Millisecond, maxDuration), doc: "Cap on the endpoint's Retry-After."},
}

// leastRatio keeps a breaker from opening at the first failure ever.
const leastRatio = 0.01

var breakerKeys = []key{
	{name: "enabled", kind: boolean, def: true, doc: "false: every record is attempted, whatever came of the others."},
	{name: "window", kind: duration, def: 10 * time.Second, limits: between(10*time.Millisecond, time.Hour), doc: "How far back verdicts count."},
	{name: "min_attempts", kind: integer, def: 10, limits: between(1, maxRecords), doc: "Verdicts in the window before it may open."},
	{name: "failure_ratio", kind: decimal, def: 0.5, limits: between(leastRatio, 1.0), doc: "The share of release verdicts that opens it: the endpoint is down."},
	{name: "reject_ratio", kind: decimal, def: 0.9, limits: between(leastRatio, 1.0), doc: "The share of reject verdicts that opens it: the route is wrong."},
	{name: "cooldown", kind: duration, def: 5 * time.Second, limits: between(time.Millisecond, maxDuration), doc: "The time between two probes of an endpoint that has gone down; never less than a second."},
	{name: "max_cooldown", kind: duration, def: time.Minute, limits: between(time.Millisecond, maxDuration), doc: "What the cooldown doubles to while the endpoint stays down."},
}

var deadLetterKeys = []key{
	{name: "by", kind: text, def: DeadLetterByBroker, enum: []string{DeadLetterByBroker, DeadLetterByGateway, DeadLetterByNone}, doc: "Who writes dead letters."},
	{name: "topic", kind: text, check: checkDeadLetterTopic, defDoc: "dlq.<share group>", doc: "The topic of the dead letters."},
	{name: "copy_record", kind: boolean, def: true, doc: "By broker: dead letters hold key and value (errors.deadletterqueue.copy.record.enable)."},
	{name: "report_topic", notYet: true, kind: text, doc: "One record for each dead letter with the story of its attempts."},
}

// defaultsKeys are the keys of an endpoint that may stand in defaults.
func defaultsKeys() []key { return withoutAlone(endpointKeys) }

func withoutAlone(keys []key) []key {
	var shared []key
	for _, k := range keys {
		if k.alone {
			continue
		}
		k.keys = withoutAlone(k.keys)
		shared = append(shared, k)
	}
	return shared
}
