package sharegroup

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// keepsPerLock is how often the locks are looked at while one lasts.
	keepsPerLock = 12
	// A lock is renewed when this share of it is left. What remains must
	// outlast two looks and two parked fetches (fetchWaitPerLock).
	renewAtNum, renewAtDen = 2, 3
	// Lost acknowledgements are remembered for so many locks, and so many of
	// them: they come back within one, unless the partition moved elsewhere.
	memoryLocks = 4
	memoryMost  = 10_000
)

// memo is an acceptance or rejection that the broker has not confirmed.
type memo struct {
	topicID [16]byte
	decided Acknowledgement
	expires time.Time
}

// keep is the goroutine that renews locks, and counts those that are lost.
func (g *Group) keep() {
	for sleep(g.quit, g.Lock()/keepsPerLock) {
		g.keepOnce(time.Now())
	}
}

func (g *Group) keepOnce(now time.Time) {
	g.mu.Lock()
	touched := make(map[*member]map[partitionKey]bool)
	for _, r := range g.held {
		left := r.deadline.Sub(now)
		switch {
		case r.gone, r.lapsed:
		case left <= 0:
			g.lapse(r)
		case !g.closing && r.decided == 0 && !r.renewing && left < g.lock*renewAtNum/renewAtDen:
			r.renewing = true
			m := r.member
			m.ledger(r.handle).add(entry{record: r, handle: r.handle, status: kgo.AckRenew})
			if touched[m] == nil {
				touched[m] = make(map[partitionKey]bool)
			}
			touched[m][partitionKey{r.Topic(), r.Partition()}] = true
		}
	}
	g.giveBackUnwanted(now)
	// Fed together, so that a partition's renewals travel in one request.
	for m, keys := range touched {
		for key := range keys {
			m.feed(key)
		}
	}
	g.dropLapsed()
	for key, known := range g.memory {
		if now.After(known.expires) {
			delete(g.memory, key)
		}
	}
	lapses := g.lapses
	g.lapses = 0
	g.mu.Unlock()
	if lapses > 0 {
		g.observer.Lapsed(lapses)
		g.log.Warn("acquisition locks lapsed: the records are delivered again", "records", lapses)
	}
}

// lapse marks a record whose lock was lost. It stays in held, so that it is
// recognised when it comes again while its attempt runs. g.mu is held.
func (g *Group) lapse(r *Record) {
	if !r.lapsed {
		r.lapsed = true
		g.lapses++
	}
}

// dropLapsed lets go of lapsed records that no caller has got. g.mu is held.
func (g *Group) dropLapsed() {
	kept := g.arrived[:0]
	for _, r := range g.arrived {
		if r.lapsed {
			g.remove(r)
			continue
		}
		kept = append(kept, r)
	}
	clear(g.arrived[len(kept):])
	g.arrived = kept
}

// unwantedMost is how long a record may wait that nobody takes.
const unwantedMost = time.Minute

// giveBackUnwanted releases records that were fetched and that nobody has
// wanted for long, as the endpoint rests: other replicas may have better use
// for them, and behind them their partition stands still. g.mu is held.
func (g *Group) giveBackUnwanted(now time.Time) {
	for len(g.arrived) > 0 && now.Sub(g.arrived[0].acquired) > unwantedMost {
		r := g.arrived[0]
		g.arrived = g.arrived[1:]
		if r.gone || r.lapsed {
			g.remove(r)
			continue
		}
		r.decided = Release
		r.member.ledger(r.handle).add(entry{record: r, handle: r.handle, status: kgo.AckRelease})
		r.member.feed(partitionKey{r.Topic(), r.Partition()})
	}
}

// remember keeps an acknowledgement that may come to be needed again. g.mu is
// held.
func (g *Group) remember(r *Record) {
	if len(g.memory) < memoryMost {
		g.memory[r.key()] = memo{r.TopicID, r.decided, time.Now().Add(memoryLocks * g.lock)}
	}
}

const (
	// piggybackWait is how long acknowledgements may wait for the next fetch
	// to take them along, which costs no request of their own.
	piggybackWait = 10 * time.Millisecond
	// flushAgain is how often kgo is told to send while any are unanswered.
	flushAgain = 50 * time.Millisecond
	// reopenWait bounds the wait until kgo has answered everything. What it
	// answers late it answers with the same request or the next, while on a
	// busy member there is always something unanswered.
	reopenWait = time.Second
)

// send is the goroutine that has kgo send acknowledgements which no fetch has
// taken along. Left alone, kgo waits for a second.
func (m *member) send() {
	for {
		select {
		case <-m.group.quit:
			return
		case <-m.toSend:
		}
		wait := piggybackWait
		for {
			if !sleep(m.group.quit, wait) {
				return
			}
			if !m.unanswered() {
				break
			}
			// A context that has ended: only the signal is wanted here, not
			// the wait for the answers.
			_ = m.client.FlushAcks(ended)
			wait = flushAgain
		}
	}
}

// ended is a context that is over.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// sleep waits for d and says whether it has done so: false means that stop
// came first.
func sleep(stop <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return false
	}
}

// until is a context that ends with stop, or after timeout.
func until(stop <-chan struct{}, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// unanswered looks after batches without an answer and ledgers that an error
// has closed, and says whether there are any.
func (m *member) unanswered() bool {
	var t tally
	g := m.group
	now := time.Now()
	g.mu.Lock()
	waiting := m.unsent > 0
	for _, l := range m.ledgers {
		// kgo answers everything in the end, but not a renewal of a record
		// whose last one was lost: it takes that for under way still.
		if len(l.sent) > 0 && now.Sub(l.sentAt) > l.patience(g.lock) {
			m.settle(l, ErrUnanswered, &t)
		}
		if l.closed && !m.reopening {
			m.reopening = true
			g.wg.Go(m.reopen)
		}
		waiting = waiting || l.closed
	}
	g.mu.Unlock()
	t.report(g)
	return waiting
}

// reopen waits until kgo has answered everything, so that no late answer is
// taken for one to a newer batch, and opens the ledgers.
func (m *member) reopen() {
	ctx, cancel := until(m.group.quit, min(reopenWait, m.group.Lock()/4))
	defer cancel()
	_ = m.client.FlushAcks(ctx) // in vain where a broker is down: then its partitions are not ours any more
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	m.reopening = false
	for key, l := range m.ledgers {
		if l.closed {
			l.closed = false
			m.feed(key)
		}
	}
}
