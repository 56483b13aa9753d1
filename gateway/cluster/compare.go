package cluster

import (
	"fmt"
	"strconv"
	"time"
)

// Difference is a setting that the cluster has otherwise than the file
// wishes.
type Difference struct {
	Setting string `json:"setting"` // Kafka's name of it
	Wish    string `json:"wish"`
	Have    string `json:"have"` // empty: not known, or not set
	Text    string `json:"text"` // one sentence, with what to do
}

// String is the sentence.
func (d Difference) String() string { return d.Text }

// Compare returns every difference between what the file wishes for a share
// group's settings and what the cluster has, in the order of the file's keys.
// Whether dead letters are sound is more than settings: see CheckDeadLetters.
func Compare(w Wishes, s Settings) []Difference {
	var ds []Difference
	add := func(setting, wish, have, effect string) {
		ds = append(ds, Difference{
			Setting: setting, Wish: wish, Have: have,
			Text: fmt.Sprintf("share group %q has %s=%s, the file wishes %s: %s; run `sharehook provision`, or change the file",
				w.Group, setting, orUnknown(have), wish, effect),
		})
	}
	if s.OffsetReset != startEarliest && s.known[groupReset] {
		add(groupReset, startEarliest, s.OffsetReset, "the first records of a topic that is made later, or again, are not delivered")
	}
	if w.Isolation != "" && s.Isolation != w.Isolation && s.known[groupIsolation] {
		add(groupIsolation, w.Isolation, s.Isolation, isolationEffect(s.Isolation))
	}
	if w.Lock != 0 && s.Lock != w.Lock {
		add(groupLock, millis(w.Lock), number(s.Lock.Milliseconds()), "records are locked for another time than planned")
	}
	if w.MaxDeliveries != 0 && s.MaxDeliveries != w.MaxDeliveries {
		add(groupMaxDeliveries, strconv.Itoa(w.MaxDeliveries), number(int64(s.MaxDeliveries)), "records become dead letters after another number of deliveries")
	}
	if w.MaxRecordLocks != 0 && s.MaxRecordLocks != w.MaxRecordLocks {
		add(groupMaxLocks, strconv.Itoa(w.MaxRecordLocks), number(int64(s.MaxRecordLocks)), "a slow record holds up its partition after another number of records")
	}
	if !s.Renew {
		add(groupRenew, "true", "false", "a record whose POST or back-off outlasts its lock is delivered again while it is still held")
	}
	if w.DeadLetterBy == ByBroker && s.KnowsDeadLetters() && s.CopyRecord != w.CopyRecord {
		add(groupCopyRecord, strconv.FormatBool(w.CopyRecord), strconv.FormatBool(s.CopyRecord), copyEffect(s.CopyRecord))
	}
	return ds
}

func isolationEffect(have string) string {
	if have == readCommitted {
		return "records of transactions are held back until those end"
	}
	return "records of aborted transactions are delivered too"
}

func copyEffect(have bool) string {
	if have {
		return "dead letters hold the record's key and value"
	}
	return "dead letters do not hold the record's key and value"
}

func orUnknown(have string) string {
	if have == "" {
		return "(not known)"
	}
	return have
}

// number is n in digits; empty for 0, which stands for not known.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
