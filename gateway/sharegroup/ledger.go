package sharegroup

import (
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

type partitionKey struct {
	topic     string
	partition int32
}

// entry is one acknowledgement or renewal of one acquisition.
type entry struct {
	record *Record // nil for a transaction marker
	handle *kgo.Record
	status kgo.AckStatus
}

// ledger keeps the acknowledgements of a partition. At most one batch is with
// kgo at a time: kgo's callback names only the partition, so that it is the
// batch that tells which records the answer is for. It also keeps a renewal
// and the final acknowledgement of a record in different requests, which the
// broker demands and kgo does not ensure.
type ledger struct {
	waiting []entry
	sent    []entry
	sentAt  time.Time
	// closed: an error came, and with it perhaps a second answer to the same
	// batch (kgo reports acknowledgements of an older session apart). Nothing
	// is sent until kgo has answered everything.
	closed bool
	// limit bounds the next batch, 0 for no bound. The broker refuses a batch
	// as a whole: each refusal halves the batches, so that one record that is
	// no longer ours cannot keep the locks of its neighbours from being
	// renewed; each full one that succeeds doubles them.
	limit int
}

// unlimited is the size of a batch from which on it is no longer bounded.
const unlimited = 256

func (l *ledger) add(e entry) { l.waiting = append(l.waiting, e) }

// patience is how long an answer may take.
func (l *ledger) patience(lock time.Duration) time.Duration {
	if l.sent[0].status == kgo.AckRenew {
		return lock / 4
	}
	return lock
}

// ledger is that of the record's partition. group.mu is held.
func (m *member) ledger(r *kgo.Record) *ledger {
	key := partitionKey{r.Topic, r.Partition}
	l := m.ledgers[key]
	if l == nil {
		l = &ledger{}
		m.ledgers[key] = l
	}
	return l
}

// settleQuietly accepts a transaction marker. group.mu is held.
func (m *member) settleQuietly(r *kgo.Record) {
	m.ledger(r).add(entry{handle: r, status: kgo.AckAccept})
	m.feed(partitionKey{r.Topic, r.Partition})
}

// acknowledge is Record.Acknowledge.
func (g *Group) acknowledge(r *Record, a Acknowledgement, done func(error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case a.status() == 0 || r.decided != 0:
		go done(ErrSettled)
		return
	case r.gone && g.leaving:
		go done(ErrLeft)
		return
	case r.gone:
		go done(ErrLapsed) // its topic is no more
		return
	}
	r.decided, r.done = a, done
	if r.lapsed || !time.Now().Before(r.deadline) {
		g.lapse(r)
		g.lose(r, ErrLapsed)
		return
	}
	m := r.member
	m.ledger(r.handle).add(entry{record: r, handle: r.handle, status: a.status()})
	m.feed(partitionKey{r.Topic(), r.Partition()})
}

// drop is Record.Drop.
func (g *Group) drop(r *Record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.decided != 0 || r.gone {
		return
	}
	g.remove(r)
	if r.lapsed || !time.Now().Before(r.deadline) || g.leaving {
		return
	}
	// Handed out again between the caller's look and this call: the new
	// acquisition is a delivery of its own.
	again := &Record{
		group: g, first: r.first, Expression: r.Expression, TopicID: r.TopicID,
		acquired: time.Now(), member: r.member, handle: r.handle, count: r.count, deadline: r.deadline,
	}
	g.held[again.key()] = again
	g.arrived = append(g.arrived, again)
	g.wake()
}

// remove lets go of a record. g.mu is held.
func (g *Group) remove(r *Record) {
	if r.gone {
		return
	}
	r.gone = true
	delete(g.held, r.key())
}

func (r *Record) key() recordKey {
	return recordKey{r.first.Topic, r.first.Partition, r.first.Offset}
}

// feed hands waiting entries of a partition to kgo, unless a batch is still
// unanswered: all that have the status of the first one, as kgo takes those in
// one piece. Handed over one by one, the first could be in one request and the
// rest in the next, and the answer to the one would be taken for both.
// group.mu is held.
func (m *member) feed(key partitionKey) {
	l := m.ledgers[key]
	if l == nil || l.closed || len(l.sent) > 0 {
		return
	}
	now := time.Now()
	var status kgo.AckStatus
	var handles []*kgo.Record
	l.waiting = slices.DeleteFunc(l.waiting, func(e entry) bool {
		if status != 0 && e.status != status || l.limit > 0 && len(l.sent) == l.limit {
			return false
		}
		if m.sendable(e, now) {
			status = e.status
			l.sent = append(l.sent, e)
			handles = append(handles, e.handle)
		}
		return true
	})
	if len(l.sent) == 0 {
		return
	}
	l.sentAt = now
	m.unsent += len(l.sent)
	m.client.MarkAcks(status, handles...)
	signal(m.toSend)
}

// sendable says whether an entry still stands. group.mu is held.
func (m *member) sendable(e entry, now time.Time) bool {
	r := e.record
	switch {
	case r == nil:
		return true
	case r.handle != e.handle:
		return false // a later acquisition has its own entry
	case e.status == kgo.AckRenew && (r.decided != 0 || r.gone):
		return false // the final acknowledgement is on its way, or was
	case now.Before(r.deadline) && !r.gone:
		return true
	}
	// Past its lock: the broker would refuse the whole batch with it.
	m.group.lapse(r)
	if r.decided != 0 {
		m.group.lose(r, ErrLapsed)
	}
	return false
}

// answered is kgo's callback: the broker, or kgo, has answered batches.
func (m *member) answered(results kgo.ShareAckResults) {
	var t tally
	g := m.group
	g.mu.Lock()
	for _, res := range results {
		key := partitionKey{res.Topic, res.Partition}
		if l := m.ledgers[key]; l != nil {
			m.settle(l, res.Err, &t)
			m.feed(key)
		}
	}
	g.mu.Unlock()
	t.report(g)
}

// settle ends the batch that a ledger has sent. group.mu is held.
func (m *member) settle(l *ledger, err error, t *tally) {
	g := m.group
	batch := l.sent
	l.sent = nil
	m.unsent -= len(batch)
	for _, e := range batch {
		r := e.record
		switch {
		case r == nil:
		case e.status == kgo.AckRenew:
			r.renewing = false
			if err != nil && r.handle == e.handle && (len(batch) == 1 || !errors.Is(err, kerr.InvalidRecordState)) {
				// Its session or its leader is gone, and with it the lock; or
				// it is the one that the broker has refused. kgo would not
				// send a second renewal of it, nor say that it does not.
				g.lapse(r)
			}
			if err == nil {
				t.renewed++
				if r.handle == e.handle && !r.gone {
					// The broker began the new lock when it got the request,
					// which was not before we handed it to kgo.
					r.deadline = l.sentAt.Add(g.lock - deadlineReserve(g.lock))
				}
			}
		case r.handle != e.handle:
			// The record was acquired again meanwhile: that acquisition is
			// acknowledged on its own.
		case err == nil:
			g.remove(r)
			t.acknowledged(r)
		default:
			g.lose(r, err)
		}
	}
	if err == nil {
		if len(batch) >= l.limit {
			l.limit *= 2
		}
		if l.limit > unlimited {
			l.limit = 0
		}
		return
	}
	t.failed(err, len(batch))
	l.closed = true
	if errors.Is(err, kerr.InvalidRecordState) {
		l.limit = max(1, len(batch)/2)
	}
	signal(m.toSend)
}

// lose ends a decided record whose acknowledgement did not arrive. g.mu is held.
func (g *Group) lose(r *Record, err error) {
	g.remove(r)
	if r.decided != Release {
		g.remember(r)
	}
	if done := r.done; done != nil {
		r.done = nil
		go done(err)
	}
}
