package webhooks

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// What key and record headers may take in a request. Servers answer 400, 413 or
// 431 to more, which would make dead letters of good records: Apache takes a
// line of 8190 bytes, nginx four buffers of 8 KiB.
const (
	maxHeaderLine  = 8190
	maxHeaderBlock = 32 << 10
	// headerOverhead is ": " and the line end.
	headerOverhead = 4
	// ownHeaderCount is how many headers an ordinary message has besides the
	// fixed ones and those of format and signature. It is room in the map, not a
	// limit, and an exact one: above 14 headers a map takes twice the memory.
	ownHeaderCount = 10
)

// errNotCarried is our own fault: the caller made up an id, or a topic, that is
// not printable ASCII. Kafka has no such topics.
var errNotCarried = errors.New("id or topic of the message is not printable ASCII")

// fixedHeader is a header that is the same in all requests. They share the
// slice, which nobody writes to.
type fixedHeader struct {
	name  string
	value []string
}

// fixedHeaders are the headers that every request of the endpoint has.
func fixedHeaders(o *Options) []fixedHeader {
	fixed := []fixedHeader{{"User-Agent", []string{"sharehook/" + o.Version}}}
	for name, value := range o.headersOf() {
		fixed = append(fixed, fixedHeader{canonical(name), []string{value}})
	}
	return fixed
}

// headerBuilder fills one http.Header. All single values lie in one slice, so
// that a request costs one allocation for them and not one each.
type headerBuilder struct {
	header http.Header
	values []string
	// block is what key and record headers take so far.
	block   int
	dropped int
}

func newHeaderBuilder(size int) *headerBuilder {
	return &headerBuilder{header: make(http.Header, size), values: make([]string, 0, size)}
}

// set gives the header with this canonical name one value.
func (b *headerBuilder) set(name, value string) {
	n := len(b.values)
	b.values = append(b.values, value)
	// Without spare capacity: an append to this header must not run over
	// the next one's value.
	b.header[name] = b.values[n : n+1 : n+1]
}

// setNumbers sets the headers that are numbers and times, and returns the time
// of the attempt. Their digits share one string.
func (b *headerBuilder) setNumbers(m *Message, a Attempt, now time.Time) (timestamp string) {
	var room [128]byte
	text := strconv.AppendInt(room[:0], now.Unix(), 10)
	timestampEnd := len(text)
	text = strconv.AppendInt(text, int64(m.Partition), 10)
	partitionEnd := len(text)
	text = strconv.AppendInt(text, m.Offset, 10)
	offsetEnd := len(text)
	text = strconv.AppendInt(text, int64(m.DeliveryCount), 10)
	deliveryEnd := len(text)
	text = strconv.AppendInt(text, int64(a.Number), 10)
	attemptEnd := len(text)
	text = appendTimestamp(text, m.Timestamp)

	all := string(text)
	b.set("Webhook-Timestamp", all[:timestampEnd])
	b.set("Kafka-Partition", all[timestampEnd:partitionEnd])
	b.set("Kafka-Offset", all[partitionEnd:offsetEnd])
	b.set("Sharehook-Delivery", all[offsetEnd:deliveryEnd])
	b.set("Sharehook-Attempt", all[deliveryEnd:attemptEnd])
	if attemptEnd < len(all) {
		b.set("Kafka-Timestamp", all[attemptEnd:])
	}
	return all[:timestampEnd]
}

// addKey sends the key: as it is if it is printable ASCII, else in base64.
func (b *headerBuilder) addKey(key []byte) {
	switch {
	case key == nil:
	case isCarried(key):
		b.addBounded("Kafka-Key", key, false)
	default:
		b.addBounded("Kafka-Key-Base64", key, true)
	}
}

func (b *headerBuilder) addRecordHeader(name forwardedName, value []byte) {
	switch {
	case name.fate == excluded:
	case name.fate == dropped:
		b.dropped++
	case isCarried(value):
		b.addBounded(name.plain, value, false)
	case name.encoded != "":
		b.addBounded(name.encoded, value, true)
	default:
		b.dropped++
	}
}

// addBounded adds a value to the header with this canonical name, unless there
// is no room for it. The size is known before anything is encoded: a key may be
// as large as a record.
func (b *headerBuilder) addBounded(name string, value []byte, encode bool) {
	size := len(value)
	if encode {
		size = base64.StdEncoding.EncodedLen(size)
	}
	if !b.take(name, size) {
		return
	}
	var text string
	if encode {
		text = base64.StdEncoding.EncodeToString(value)
	} else {
		text = string(value)
	}
	if earlier, ok := b.header[name]; ok {
		b.header[name] = append(earlier, text)
		return
	}
	b.set(name, text)
}

// take takes room for a line of a record's, or counts it as dropped if the line
// or all lines together become too long.
func (b *headerBuilder) take(name string, size int) bool {
	size += len(name) + headerOverhead
	if size > maxHeaderLine || b.block+size > maxHeaderBlock {
		b.dropped++
		return false
	}
	b.block += size
	return true
}
