package sharegroup

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// matcher finds the entry of Options.Topics that a topic belongs to.
type matcher struct {
	entries  []string
	patterns []*regexp.Regexp // by entry; nil for a plain name
	regex    bool
	known    *sync.Map // topic -> entry
}

func newMatcher(entries []string) (matcher, error) {
	t := matcher{entries: entries, known: &sync.Map{}}
	for _, entry := range entries {
		var pattern *regexp.Regexp
		if strings.HasPrefix(entry, "^") {
			var err error
			if pattern, err = regexp.Compile(entry); err != nil {
				return t, fmt.Errorf("topic expression: %w", err)
			}
			t.regex = true
		} else {
			t.known.Store(entry, entry)
		}
		t.patterns = append(t.patterns, pattern)
	}
	return t, nil
}

// newTopicsEvery is how often an expression looks for topics that came later.
const newTopicsEvery = 10 * time.Second

// subscription are the options that subscribe a client. kgo takes either
// names or expressions, so beside an expression a name is made one.
func (t matcher) subscription() []kgo.Opt {
	if !t.regex {
		return []kgo.Opt{kgo.ConsumeTopics(t.entries...)}
	}
	var expressions []string
	for i, entry := range t.entries {
		if t.patterns[i] == nil {
			entry = "^" + regexp.QuoteMeta(entry) + "$"
		}
		expressions = append(expressions, entry)
	}
	return []kgo.Opt{kgo.ConsumeTopics(expressions...), kgo.ConsumeRegex(), kgo.MetadataMaxAge(newTopicsEvery)}
}

// names are the entries that are plain names.
func (t matcher) names() []string {
	var names []string
	for i, entry := range t.entries {
		if t.patterns[i] == nil {
			names = append(names, entry)
		}
	}
	return names
}

// expression is the entry that a topic belongs to.
func (t matcher) expression(topic string) string {
	if entry, ok := t.known.Load(topic); ok {
		return entry.(string) //nolint:forcetypeassert // only strings are stored
	}
	found := topic
	for i, pattern := range t.patterns {
		if pattern != nil && pattern.MatchString(topic) {
			found = t.entries[i]
			break
		}
	}
	t.known.Store(topic, found)
	return found
}

const (
	// metadataTimeout bounds one request for metadata.
	metadataTimeout = 5 * time.Second
	// metadataWait is the pause between requests that fail.
	metadataWait = 200 * time.Millisecond
)

// knowTopics learns the IDs of topics that a batch shows for the first time.
// It is asked after the records were fetched: a topic made again since then
// has ended the fetch session, so that the ID is the one that the records were
// fetched under. It returns false when the group is left meanwhile.
func (m *member) knowTopics(batch []*kgo.Record) bool {
	for {
		missing := m.unknownTopics(batch)
		if len(missing) == 0 {
			return true
		}
		ids, err := m.topicMetadata(missing)
		m.group.mu.Lock()
		for topic, meta := range ids {
			if meta.err == nil {
				m.topicIDs[topic] = meta.id
			}
		}
		m.group.mu.Unlock()
		if err == nil && len(m.unknownTopics(batch)) == 0 {
			return true
		}
		if !sleep(m.group.stop, metadataWait) {
			return false
		}
	}
}

func (m *member) unknownTopics(batch []*kgo.Record) []string {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	var missing []string
	last := ""
	for _, r := range batch {
		if r.Topic == last {
			continue
		}
		last = r.Topic
		if _, ok := m.topicIDs[r.Topic]; !ok {
			missing = append(missing, r.Topic)
		}
	}
	return missing
}

type topicMeta struct {
	id  [16]byte
	err error
}

// topicMetadata asks the cluster for topics by name.
func (m *member) topicMetadata(topics []string) (map[string]topicMeta, error) {
	ctx, cancel := until(m.group.stop, metadataTimeout)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	for _, topic := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = new(topic)
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, m.client)
	if err != nil {
		return nil, fmt.Errorf("ask for the topics of share group %q: %w", m.group.opts.Group, err)
	}
	found := make(map[string]topicMeta, len(resp.Topics))
	for _, t := range resp.Topics {
		if t.Topic != nil {
			found[*t.Topic] = topicMeta{t.TopicID, kerr.ErrorForCode(t.ErrorCode)}
		}
	}
	return found, nil
}

// heal takes a topic out of the subscription and in again once it is there.
// kgo stays with the ID that a topic had when it was subscribed; a topic that
// was deleted and made again has another one. The topics beside it go on.
func (m *member) heal(topic string) {
	g := m.group
	g.mu.Lock()
	started := m.sick[topic]
	m.sick[topic] = true
	g.mu.Unlock()
	if started {
		return
	}
	m.client.PauseFetchTopics(topic)
	g.log.Warn("topic is gone: waiting for it to be made again", "topic", topic)
	g.wg.Go(func() {
		wait := metadataWait
		for {
			found, err := m.topicMetadata([]string{topic})
			if meta, ok := found[topic]; err == nil && ok && meta.err == nil {
				m.resubscribe(topic, meta.id)
				return
			}
			if !sleep(g.stop, wait) {
				return
			}
			wait = min(2*wait, maxErrorWait)
		}
	})
}

// resubscribe takes a topic, which has this ID now, out of the subscription and
// in again.
func (m *member) resubscribe(topic string, id [16]byte) {
	g := m.group
	g.forget(topic, id)
	m.client.PurgeTopicsFromConsuming(topic)
	if !g.topics.regex {
		m.client.AddConsumeTopics(topic)
	}
	m.client.ForceMetadataRefresh()
	g.mu.Lock()
	delete(m.topicIDs, topic)
	delete(m.sick, topic)
	g.mu.Unlock()
	m.client.ResumeFetchTopics(topic)
	m.health.healed(topic)
	signal(m.wake)
	g.log.Info("topic is subscribed anew", "topic", topic)
}

// forget lapses the records of a topic that is no more: its successor, which
// has the ID now, has other records at the same offsets. A zero ID: there is
// none.
func (g *Group) forget(topic string, now [16]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for key, r := range g.held {
		if key.topic != topic || r.TopicID == now {
			continue
		}
		g.lapse(r)
		if r.decided != 0 {
			g.lose(r, ErrLapsed)
		}
		g.remove(r)
	}
	for key, known := range g.memory {
		if key.topic == topic && known.topicID != now {
			delete(g.memory, key)
		}
	}
	g.dropLapsed()
}

// watchEvery is how often topics are looked for while a member cannot fetch,
// and those of an expression always. It is well below the 15 s after which kgo
// takes a topic that is gone out of an expression's subscription by itself.
const watchEvery = 2 * time.Second

// watch is the goroutine that finds out which topics are missing, as kgo waits
// for them, or drops them, without a word.
func (g *Group) watch() {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		for _, m := range g.members {
			if m.health.err() != nil {
				m.lookForTopics()
			}
			if g.topics.regex {
				m.checkTopicIDs()
			}
		}
		select {
		case <-ticker.C:
		case <-g.stop:
			return
		}
	}
}

// checkTopicIDs forgets topics that are gone, before they can be made again.
func (m *member) checkTopicIDs() {
	g := m.group
	g.mu.Lock()
	known := maps.Clone(m.topicIDs)
	g.mu.Unlock()
	if len(known) == 0 {
		return
	}
	found, err := m.topicMetadata(slices.Collect(maps.Keys(known)))
	if err != nil {
		return
	}
	for topic, id := range known {
		meta, ok := found[topic]
		if ok && meta.err == nil && meta.id == id || ok && meta.err != nil && !errors.Is(meta.err, kerr.UnknownTopicOrPartition) {
			continue
		}
		g.mu.Lock()
		delete(m.topicIDs, topic)
		g.mu.Unlock()
		g.forget(topic, meta.id)
	}
}

func (m *member) lookForTopics() {
	names := m.group.topics.names()
	if len(names) == 0 {
		return
	}
	found, err := m.topicMetadata(names)
	if err != nil {
		m.health.setMissing(err)
		return
	}
	var missing error
	for _, name := range names {
		if meta := found[name]; meta.err != nil {
			missing = fmt.Errorf("topic %q: %w", name, meta.err)
			break
		}
	}
	m.health.setMissing(missing)
}

// Expression is the entry of Options.Topics that a topic belongs to.
func (g *Group) Expression(topic string) string { return g.topics.expression(topic) }
