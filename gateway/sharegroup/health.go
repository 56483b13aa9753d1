package sharegroup

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// errorFades is how long an error of a fetch counts when it does not come
// again. kgo retries with a back-off below it.
const errorFades = 15 * time.Second

// silence is how long no heartbeat may be answered. Kafka wants one at least
// every 15 s (group.share.max.heartbeat.interval.ms). kgo says nothing of those
// that do not reach a broker: it tries again until one answers.
const silence = 30 * time.Second

var (
	// errNotJoined: nothing is wrong yet.
	errNotJoined = errors.New("has not joined the share group yet")
	errSilence   = fmt.Errorf("no broker has answered a heartbeat for %s: the member is out of its share group, or soon will be, and joins again by itself", silence)
)

// health gathers what kgo tells of a member's state. It is a set of hooks of
// its client.
type health struct {
	mu        sync.Mutex
	heartbeat time.Time // the last heartbeat that the broker answered
	manageErr error     // what the last refused heartbeat was refused with
	manageAt  time.Time
	missing   error            // topics that are not there
	topics    map[string]fault // by topic; "" for errors of no topic
}

type fault struct {
	err error
	at  time.Time
}

var (
	_ kgo.HookBrokerE2E        = (*health)(nil)
	_ kgo.HookGroupManageError = (*health)(nil)
)

// OnBrokerE2E notes heartbeats.
func (h *health) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	if key != int16(kmsg.ShareGroupHeartbeat) || e2e.Err() != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heartbeat = time.Now()
}

// OnGroupManageError notes that a heartbeat was refused. It comes after the
// OnBrokerE2E of the same heartbeat.
func (h *health) OnGroupManageError(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.manageErr, h.manageAt = err, time.Now()
}

// failed notes an error of a poll and says whether it is news.
func (h *health) failed(topic string, err error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics == nil {
		h.topics = make(map[string]fault)
	}
	old := h.topics[topic]
	h.topics[topic] = fault{err, time.Now()}
	return old.err == nil || time.Since(old.at) > errorFades || !errors.Is(old.err, err)
}

// healed forgets the errors of a topic.
func (h *health) healed(topic string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.topics, topic)
}

// setMissing notes that topics are not there, or with nil that they are.
func (h *health) setMissing(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.missing = err
}

// err is nil when the member has joined and nothing keeps it from fetching.
func (h *health) err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.manageAt.After(h.heartbeat):
		return fmt.Errorf("join the share group: %w", h.manageErr)
	case h.missing != nil:
		return h.missing
	case h.heartbeat.IsZero():
		return errNotJoined
	case time.Since(h.heartbeat) > silence:
		return errSilence
	}
	for topic, f := range h.topics {
		if time.Since(f.at) > errorFades {
			continue
		}
		if topic == "" {
			return f.err
		}
		return fmt.Errorf("fetch from topic %q: %w", topic, f.err)
	}
	return nil
}
