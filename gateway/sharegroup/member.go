package sharegroup

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// connIdle keeps a connection open between requests: the broker gives
	// back everything a session holds when its connection closes. kgo takes
	// no more than 15 minutes; requests are at most a fetch wait apart.
	connIdle = 14 * time.Minute
	// fetchWait is how long a fetch is parked at the broker when there is
	// nothing to fetch. kgo sends no acknowledgement meanwhile, so it bounds
	// the delay of a lone one; shorter costs CPU while idle.
	fetchWait = 250 * time.Millisecond
	// fetchWaitPerLock keeps the wait well below a lock, renewals being
	// parked as well.
	fetchWaitPerLock = 12
	// fetchBytes and partitionBytes bound the memory of one fetch. A batch
	// that is larger is fetched all the same.
	// The broker reads what may be sent of each partition before it looks how
	// much of it can be acquired, so a large partitionBytes is work for nothing.
	fetchBytes     = 8 << 20
	partitionBytes = 128 << 10
)

// member is one member of the share group: one kgo client.
type member struct {
	group  *Group
	log    *slog.Logger
	client *kgo.Client
	end    context.CancelFunc // ends the requests of client
	health health

	wake   chan struct{} // one slot: group.want became positive, or kgo has buffered a fetch
	toSend chan struct{} // one slot: acknowledgements were handed to kgo

	// Only the goroutine of poll, and the hooks that run on it.
	batch     []*kgo.Record // what the current poll has brought
	paused    bool
	errorWait time.Duration // the back-off after the last poll

	// Guarded by group.mu.
	interrupt context.CancelFunc // of the poll that waits for records; nil: there is none
	single    bool               // the next fetch is the only one: pause as it arrives
	stopped   bool               // it has arrived
	size      int                // about how many bytes a record has, 0: none has come yet
	gauged    time.Time          // when the length of the lock was measured last
	ledgers   map[partitionKey]*ledger
	unsent    int  // acknowledgements at kgo that are not answered
	reopening bool // a goroutine waits for kgo to answer everything
	topicIDs  map[string][16]byte
	sick      map[string]bool // topics that are being healed, hence paused
}

func newMember(g *Group) (*member, error) {
	m := &member{
		group:    g,
		log:      g.log,
		wake:     make(chan struct{}, 1),
		toSend:   make(chan struct{}, 1),
		ledgers:  make(map[partitionKey]*ledger),
		topicIDs: make(map[string][16]byte),
		sick:     make(map[string]bool),
	}
	life, end := context.WithCancel(context.Background())
	m.end = end
	opts := append([]kgo.Opt{}, g.opts.Client...)
	opts = append(opts,
		kgo.WithContext(life),
		kgo.ShareGroup(g.opts.Group),
		// Strict: the broker never hands out more than asked for (KIP-1206).
		kgo.ShareMaxRecords(int32(g.opts.FetchRecords)),
		kgo.ShareMaxRecordsStrict(),
		kgo.MaxConcurrentFetches(g.opts.ConcurrentFetches),
		kgo.FetchMaxWait(min(fetchWait, g.opts.Lock/fetchWaitPerLock)),
		kgo.FetchMaxBytes(fetchBytes),
		kgo.FetchMaxPartitionBytes(partitionBytes),
		kgo.ConnIdleTimeout(connIdle),
		// Transaction markers come as records and are accepted with the
		// others. Left to kgo, they are acknowledged in requests of their
		// own, whose answers could not be told from those to ours.
		kgo.KeepControlRecords(),
		kgo.ShareAckCallback(func(_ *kgo.Client, rs kgo.ShareAckResults) { m.answered(rs) }),
		kgo.WithHooks(&veil{buffered: m.buffered, arrived: m.take}, &m.health),
	)
	opts = append(opts, g.topics.subscription()...)
	client, err := kgo.NewClient(opts...)
	if err != nil {
		end()
		return nil, err
	}
	m.client = client
	return m, nil
}

// take keeps a record that left kgo's buffer. It runs on the goroutine of poll.
func (m *member) take(r *kgo.Record) { m.batch = append(m.batch, r) }

// buffered runs on the fetch's goroutine as a record enters kgo's buffer.
func (m *member) buffered(r *kgo.Record) {
	now := time.Now()
	g := m.group
	g.mu.Lock()
	single := m.single
	m.single, m.stopped = false, m.stopped || single
	// kgo computed the deadline a moment ago: what is left is the length of
	// the lock, which an operator may change at any time.
	if now.Sub(m.gauged) > time.Second {
		m.gauged = now
		g.lock = r.AcquisitionDeadline().Sub(now).Round(10 * time.Millisecond)
	}
	g.mu.Unlock()
	if single {
		// Before the buffered fetch can be taken, and with that the next one
		// be sent.
		m.client.PauseFetchTopics(m.client.GetConsumeTopics()...)
	}
	signal(m.wake)
}

// leave gives back what is held and leaves the group, within ctx.
func (m *member) leave(ctx context.Context) error {
	err := m.client.LeaveGroupContext(ctx)
	// Close waits for requests under way, which brokers that do not answer may
	// hold for long.
	m.end()
	m.client.Close()
	return err
}
