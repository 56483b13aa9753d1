package cluster

import (
	"regexp"
	"strings"
	"time"
)

// Who writes dead letters.
const (
	ByBroker  = "broker"  // the broker's own dead-letter queue (KIP-1191)
	ByGateway = "gateway" // package deadletter
	ByNone    = "none"    // nobody: rejected records are dropped
)

// Wishes are what the configuration file asks of the cluster for one
// endpoint. A zero number or duration, and an empty Isolation, is no wish.
type Wishes struct {
	Endpoint        string
	Group           string
	Topics          []string // names; an entry that starts with ^ is a regular expression
	Start           string   // latest, earliest, by_duration:<ISO 8601>; see PinStart
	Isolation       string   // read_committed, read_uncommitted
	Lock            time.Duration
	MaxDeliveries   int
	MaxRecordLocks  int
	DeadLetterBy    string // ByBroker, ByGateway, ByNone
	DeadLetterTopic string // where dead letters go; not used with ByNone
	CopyRecord      bool   // with ByBroker: key and value go into the dead letter too
}

// carriesRecord says whether a dead letter holds the record's key and value,
// and so needs a topic that takes records of their size.
func (w Wishes) carriesRecord() bool {
	return w.DeadLetterBy == ByGateway || w.DeadLetterBy == ByBroker && w.CopyRecord
}

// names says whether the topics wished for include topic.
func (w Wishes) names(topic string) bool {
	for _, t := range w.Topics {
		if t == topic {
			return true
		}
		if !isPattern(t) {
			continue
		}
		if re, err := regexp.Compile(t); err == nil && re.MatchString(topic) {
			return true
		}
	}
	return false
}

// isPattern says whether an entry of Wishes.Topics is a regular expression.
func isPattern(topic string) bool { return strings.HasPrefix(topic, "^") }
