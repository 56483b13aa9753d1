package sharegroup

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Acknowledgement ends a delivery (KIP-932). Zero is invalid.
type Acknowledgement uint8

// The acknowledgements.
const (
	_       Acknowledgement = iota
	Accept                  // done
	Release                 // give back for another delivery, at once
	Reject                  // never again; the broker's dead letter, if it has one
)

// String is the acknowledgement's name in logs and metrics.
func (a Acknowledgement) String() string {
	switch a {
	case Accept:
		return "accept"
	case Release:
		return "release"
	case Reject:
		return "reject"
	default:
		return "invalid"
	}
}

func (a Acknowledgement) status() kgo.AckStatus {
	switch a {
	case Accept:
		return kgo.AckAccept
	case Release:
		return kgo.AckRelease
	case Reject:
		return kgo.AckReject
	default:
		return 0
	}
}

// Errors that end an acknowledgement. Others come from the broker (kerr) or
// from the connection.
var (
	// ErrLapsed: the acquisition lock ended before the acknowledgement could
	// be sent. The broker hands the record out again.
	ErrLapsed = errors.New("the acquisition lock has lapsed")
	// ErrLeft: the member left the group. The broker hands the record out
	// again.
	ErrLeft = errors.New("the member has left the share group")
	// ErrSettled: the record was acknowledged before.
	ErrSettled = errors.New("the record is acknowledged already")
	// ErrUnanswered: the broker did not answer in time; whether it has seen
	// the acknowledgement is not known.
	ErrUnanswered = errors.New("the acknowledgement was not answered")
)

// recordKey names a record within a group.
type recordKey struct {
	topic     string
	partition int32
	offset    int64
}

// Header is a record header. A nil value is Kafka's null.
type Header struct {
	Name  string
	Value []byte
}

// Record is a record under our acquisition lock. Its coordinates and data do
// not change; the handle under it may be replaced when the broker hands the
// record out again.
type Record struct {
	group *Group
	first *kgo.Record // the data; never its acknowledgement state
	// Expression is the entry of Options.Topics that the topic matches.
	Expression string
	// TopicID is the broker's ID of the topic, other for a topic made again.
	TopicID [16]byte

	acquired time.Time

	// Guarded by group.mu.
	member   *member     // the one that holds it
	handle   *kgo.Record // the latest acquisition, through which it is acknowledged
	count    int32
	deadline time.Time // of the lock, moved by a confirmed renewal
	decided  Acknowledgement
	done     func(error)
	renewing bool // a renewal is queued or under way
	lapsed   bool
	gone     bool // settled, or dropped: no longer in group.held
}

// Topic is the topic's name.
func (r *Record) Topic() string { return r.first.Topic }

// Partition is the partition's number.
func (r *Record) Partition() int32 { return r.first.Partition }

// Offset is the record's offset.
func (r *Record) Offset() int64 { return r.first.Offset }

// Key is the record's key; nil if it has none. Not to be changed.
func (r *Record) Key() []byte { return r.first.Key }

// Value is the record's value; nil for a tombstone. Not to be changed.
func (r *Record) Value() []byte { return r.first.Value }

// Timestamp is the record's timestamp, zero if it has none.
func (r *Record) Timestamp() time.Time {
	// Kafka writes -1 where a producer gave no timestamp.
	if r.first.Timestamp.UnixMilli() < 0 {
		return time.Time{}
	}
	return r.first.Timestamp
}

// Headers are the record's headers in order.
func (r *Record) Headers() []Header {
	if len(r.first.Headers) == 0 {
		return nil
	}
	hs := make([]Header, len(r.first.Headers))
	for i, h := range r.first.Headers {
		hs[i] = Header{Name: h.Key, Value: h.Value}
	}
	return hs
}

// DeliveryCount is Kafka's delivery count, from 1. It may change while the
// record is held: after a leader move it starts anew.
func (r *Record) DeliveryCount() int32 {
	r.group.mu.Lock()
	defer r.group.mu.Unlock()
	return r.count
}

// Acquired is the time of the first acquisition of this delivery.
func (r *Record) Acquired() time.Time { return r.acquired }

// LockDeadline is the time at which the lock ends unless it is renewed.
func (r *Record) LockDeadline() time.Time {
	r.group.mu.Lock()
	defer r.group.mu.Unlock()
	return r.deadline
}

// Lapsed says that the lock was lost: the broker hands the record out again,
// to us or to another member. It may turn back to false when the record
// arrives here again.
func (r *Record) Lapsed() bool {
	r.group.mu.Lock()
	defer r.group.mu.Unlock()
	return r.lapsed || r.gone && r.decided == 0 || !time.Now().Before(r.deadline)
}

// Acknowledge ends the delivery. It returns at once; done is called once, on
// another goroutine, with nil when the broker has confirmed and else with what
// became of it: ErrLapsed, ErrLeft, ErrSettled, ErrUnanswered, or the broker's
// error.
func (r *Record) Acknowledge(a Acknowledgement, done func(error)) {
	r.group.acknowledge(r, a, done)
}

// Drop lets go of a record whose lock has lapsed and which the caller does not
// deliver. The lock is not renewed any more; nothing is acknowledged.
func (r *Record) Drop() { r.group.drop(r) }
