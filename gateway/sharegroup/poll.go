package sharegroup

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// bufferDwell is how long records may wait in kgo's buffer, where nobody
	// renews their locks. Then they are taken out and kept here.
	bufferDwell = 100 * time.Millisecond
	// pausedLook is how often a paused member looks for errors.
	pausedLook = 5 * time.Second
	// recordOverhead is what a record takes on the wire beside key and value,
	// with a few headers.
	recordOverhead = 64
	// Back-off after polls that brought errors only. kgo answers such a poll
	// at once, 2500 times a second.
	minErrorWait = 50 * time.Millisecond
	maxErrorWait = 5 * time.Second
)

// poll is the goroutine that takes records out of kgo. It fetches while
// somebody wants records. Else it pauses fetching and takes what was already
// under way.
func (m *member) poll() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m.group.wg.Go(func() {
		<-m.group.stop
		cancel()
	})
	timer := time.NewTimer(bufferDwell)
	defer timer.Stop()
	for ctx.Err() == nil {
		if want := m.wants(); want > 0 {
			m.resume(want)
			m.pollWhileWanted(ctx)
			continue
		}
		wait := bufferDwell
		if m.paused {
			wait = pausedLook
			if m.client.BufferedFetchRecords() > 0 {
				m.drainBuffer()
				continue
			}
		}
		timer.Reset(wait)
		select {
		case <-m.wake:
		case <-ctx.Done():
		case <-timer.C:
			m.drainBuffer()
		}
	}
	// What a parked fetch brings from here on is given back with the session.
	m.drainBuffer()
}

// pollWhileWanted waits for records until there are some or nobody wants any.
func (m *member) pollWhileWanted(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := m.group
	g.mu.Lock()
	if g.want == 0 {
		g.mu.Unlock()
		return
	}
	m.interrupt = cancel
	g.mu.Unlock()
	m.pollOnce(ctx)
	g.mu.Lock()
	m.interrupt = nil
	g.mu.Unlock()
}

// wants is the number of records that somebody waits for.
func (m *member) wants() int {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	return m.group.want
}

// resume lets the next fetch go out. While much is wanted kgo sends another
// one behind it as soon as the first has been taken, which keeps a fast
// endpoint busy. While little is wanted there is only one, and that is kept
// small: a fetch's number of records is fixed when the client is made, its
// bytes are not.
func (m *member) resume(want int) {
	g := m.group
	bytes := int32(fetchBytes)
	g.mu.Lock()
	m.single = 2*want < g.opts.FetchRecords*g.opts.ConcurrentFetches
	if m.single && m.size > 0 {
		bytes = int32(min(fetchBytes, max(1, want/g.opts.ConcurrentFetches)*m.size))
	}
	topics := m.client.PauseFetchTopics() // with no argument: those that are paused
	topics = slices.DeleteFunc(topics, func(t string) bool { return m.sick[t] })
	g.mu.Unlock()
	m.client.UpdateFetchMaxBytes(bytes, partitionBytes)
	m.paused = false
	if len(topics) > 0 {
		m.client.ResumeFetchTopics(topics...)
	}
}

// drainBuffer pauses fetching and takes what kgo has buffered. The poll strips
// paused topics; their records come by the hook. The pause is renewed each
// time, as a regular expression may have met a new topic.
func (m *member) drainBuffer() {
	m.client.PauseFetchTopics(m.client.GetConsumeTopics()...)
	m.paused = true
	var noWait context.Context // kgo takes nil for "do not wait"
	m.pollOnce(noWait)
}

// pollOnce takes everything that kgo has buffered, waiting for something
// unless ctx is nil.
func (m *member) pollOnce(ctx context.Context) {
	fetches := m.client.PollRecords(ctx, -1)
	m.group.mu.Lock()
	// The hook has paused the topics as the one fetch arrived.
	m.paused = m.paused || m.stopped
	m.stopped = false
	m.group.mu.Unlock()

	brought := len(m.batch) > 0
	if brought {
		m.arrive(m.batch)
		clear(m.batch)
		m.batch = m.batch[:0]
	}
	if !m.failed(fetches) || brought {
		m.errorWait = 0
		return
	}
	m.errorWait = min(max(minErrorWait, 2*m.errorWait), maxErrorWait)
	sleep(m.group.stop, m.errorWait)
}

// failed handles the errors of a poll and says whether there was one.
func (m *member) failed(fetches kgo.Fetches) bool {
	failed := false
	fetches.EachError(func(topic string, partition int32, err error) {
		if errors.Is(err, context.Canceled) || errors.Is(err, kgo.ErrClientClosed) {
			return
		}
		failed = true
		if m.health.failed(topic, err) {
			m.log.Warn("fetch records: trying again", "topic", topic, "partition", partition, "error", err)
		}
		if errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.UnknownTopicOrPartition) {
			m.heal(topic)
		}
	})
	return failed
}

// arrive takes over records that kgo has handed out.
func (m *member) arrive(batch []*kgo.Record) {
	if !m.knowTopics(batch) {
		return // leaving: the session gives them back
	}
	g := m.group
	now := time.Now()
	counts := make(map[string]int, 1)
	late, bytes := 0, 0
	g.mu.Lock()
	for _, r := range batch {
		bytes += len(r.Key) + len(r.Value) + recordOverhead
		// Through what is left of it, as kgo's deadline is of the wall clock,
		// which may be set: ours is of the monotonic one.
		deadline := now.Add(r.AcquisitionDeadline().Sub(now) - deadlineReserve(g.lock))
		switch {
		case !now.Before(deadline):
			// It waited in kgo's buffer for too long. The broker has taken it
			// back or is about to: to touch it would only spoil its
			// neighbours.
			late++
			continue
		case r.Attrs.IsControl():
			m.settleQuietly(r)
			continue
		}
		expression := g.topics.expression(r.Topic)
		counts[expression]++
		g.acquire(m, r, expression, now, deadline)
	}
	if m.size == 0 {
		m.size = bytes / len(batch)
	}
	m.size = (m.size + bytes/len(batch)) / 2
	ready := len(g.arrived) > 0
	if ready {
		// Whoever waits gets these, and asks again for more: until then the
		// next poll must not fetch on the strength of the old number.
		g.want = 0
	}
	g.mu.Unlock()
	if ready {
		g.wake()
	}
	for expression, n := range counts {
		g.observer.Acquired(expression, n)
	}
	if late > 0 {
		g.observer.Lapsed(late)
		g.log.Warn("records lapsed in the fetch buffer: they are delivered again", "records", late)
	}
}

// acquire enters one record. g.mu is held.
func (g *Group) acquire(m *member, r *kgo.Record, expression string, now, deadline time.Time) {
	key := recordKey{r.Topic, r.Partition, r.Offset}
	old := g.held[key]
	if old != nil && old.decided == Release {
		// It comes back in the same answer that confirms its release, or that
		// release was late: either way a new delivery.
		g.remove(old)
		old = nil
	}
	if old != nil {
		// Handed out again while we hold it: a leader moved or a session was
		// lost. The new acquisition takes the old one's place, so that the
		// running attempt is the only one.
		old.member, old.handle, old.deadline = m, r, deadline
		old.count, old.lapsed, old.renewing = r.DeliveryCount(), false, false
		if old.decided != 0 {
			m.ledger(r).add(entry{record: old, handle: r, status: old.decided.status()})
			m.feed(partitionKey{r.Topic, r.Partition})
		}
		return
	}
	rec := &Record{
		group: g, first: r, Expression: expression, TopicID: m.topicIDs[r.Topic],
		acquired: now, member: m, handle: r, count: r.DeliveryCount(), deadline: deadline,
	}
	g.held[key] = rec
	if known, ok := g.memory[key]; ok {
		// Delivered before; only its acknowledgement was lost on the way.
		delete(g.memory, key)
		rec.decided = known.decided
		m.ledger(r).add(entry{record: rec, handle: r, status: known.decided.status()})
		m.feed(partitionKey{r.Topic, r.Partition})
		return
	}
	g.arrived = append(g.arrived, rec)
}

// deadlineReserve is what we keep off a lock: the broker's clock began before
// the answer was sent, and an acknowledgement needs its way back.
func deadlineReserve(lock time.Duration) time.Duration {
	return min(lock/20, time.Second)
}
