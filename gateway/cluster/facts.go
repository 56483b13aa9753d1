package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// facts are what the cluster tells that decides about dead letters. Each part
// has its own error: that the cluster does not permit to look. Any other
// failure to read is no fact but an error of facts as a whole.
type facts struct {
	settings    Settings
	settingsErr error

	feature feature // only for ByBroker

	brokers    brokerRules // only for ByBroker
	brokersErr error

	letters topic // where dead letters go
	sources []topic
}

// feature is the cluster's level of share.version; KIP-1191 needs 2.
type feature struct {
	finalized int16 // what the cluster runs with
	supported int16 // what the broker asked could at most
}

// brokerRules bind the names of dead-letter topics.
type brokerRules struct {
	prefixes   []string // of all brokers, without repeats
	autoCreate bool     // every broker makes a dead-letter topic that is missing
}

// topic is a topic's part of the facts.
type topic struct {
	name      string
	exists    bool
	err       error // not permitted to see whether it exists
	values    map[string]value
	valuesErr error // not permitted to see its settings
}

func (t topic) maxMessage() int { return t.values[topicMaxMessage].number() }

// facts gathers what the cluster tells. With asWished the dead-letter topic
// looked at is the wished one, else the one the group names.
func (c *Cluster) facts(ctx context.Context, w Wishes, asWished bool) (facts, error) {
	var f facts
	var err error
	f.settings, f.settingsErr = c.Settings(ctx, w.Group)
	if f.settingsErr != nil && !denied(f.settingsErr) {
		return facts{}, f.settingsErr
	}
	if w.DeadLetterBy == ByBroker {
		if f.feature, err = c.shareVersion(ctx); err != nil {
			return facts{}, err
		}
		f.brokers, f.brokersErr = c.brokerRules(ctx)
		if f.brokersErr != nil && !denied(f.brokersErr) {
			return facts{}, f.brokersErr
		}
	}
	name := w.DeadLetterTopic
	if w.DeadLetterBy == ByBroker && !asWished && f.settingsErr == nil {
		name = f.settings.DeadLetterTopic
	}
	if w.DeadLetterBy == ByNone || name == "" {
		return f, nil
	}
	if f.letters, err = c.topic(ctx, name); err != nil {
		return facts{}, err
	}
	if w.carriesRecord() {
		f.sources, err = c.sources(ctx, w.Topics)
	}
	return f, err
}

const shareVersion = "share.version"

// shareVersion asks any broker for the level of share.version (KIP-584).
func (c *Cluster) shareVersion(ctx context.Context) (feature, error) {
	req := kmsg.NewPtrApiVersionsRequest()
	// Brokers refuse an empty name or version (KIP-511).
	req.ClientSoftwareName, req.ClientSoftwareVersion = "sharehook", "0"
	resp, err := req.RequestWith(ctx, c.client)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		return feature{}, fmt.Errorf("read the cluster's features: %w", err)
	}
	var f feature
	for _, s := range resp.SupportedFeatures {
		if s.Name == shareVersion {
			f.supported = s.MaxVersion
		}
	}
	for _, s := range resp.FinalizedFeatures {
		if s.Name == shareVersion {
			f.finalized = s.MaxVersionLevel
		}
	}
	return f, nil
}

// brokerRules asks every broker, as each may have its own server.properties
// and any of them may come to write the dead letters. One that is down does
// not write any.
func (c *Cluster) brokerRules(ctx context.Context) (brokerRules, error) {
	m, err := c.metadata(ctx, []string{})
	if err != nil {
		return brokerRules{}, err
	}
	names := make([]string, len(m.brokers))
	for i, id := range m.brokers {
		names[i] = strconv.Itoa(int(id))
	}
	found, err := c.describe(ctx, kmsg.ConfigResourceTypeBroker, names, []string{brokerPrefix, brokerAutoCreate})
	if err != nil {
		return brokerRules{}, fmt.Errorf("read the brokers' rules for dead-letter topics: %w", err)
	}
	rules := brokerRules{autoCreate: true}
	answered := false
	for _, name := range names {
		d := found[name]
		if denied(d.err) {
			return brokerRules{}, fmt.Errorf("read the rules of broker %s for dead-letter topics: %w", name, d.err)
		}
		if d.err != nil {
			continue
		}
		answered = true
		if p := d.values[brokerPrefix].text; !slices.Contains(rules.prefixes, p) {
			rules.prefixes = append(rules.prefixes, p)
		}
		rules.autoCreate = rules.autoCreate && d.values[brokerAutoCreate].text == "true"
	}
	rules.autoCreate = rules.autoCreate && answered
	return rules, nil
}

// topic reads whether a topic exists and the settings that matter here.
func (c *Cluster) topic(ctx context.Context, name string) (topic, error) {
	m, err := c.metadata(ctx, []string{name})
	if err != nil {
		return topic{}, err
	}
	t := topic{name: name}
	meta, told := m.topics[name]
	switch err := meta.err; {
	case !told || missing(err):
		return t, nil
	case err == nil:
		t.exists = true
	case denied(err):
		t.err = err
		return t, nil
	default:
		return topic{}, fmt.Errorf("read the metadata of topic %q: %w", name, err)
	}
	found, err := c.describe(ctx, kmsg.ConfigResourceTypeTopic, []string{name},
		[]string{topicDeadLetters, topicCleanup, topicMaxMessage})
	if err != nil {
		return topic{}, fmt.Errorf("read the settings of topic %q: %w", name, err)
	}
	switch d := found[name]; {
	case d.err == nil:
		t.values = d.values
	case denied(d.err):
		t.valuesErr = d.err
	case missing(d.err): // deleted since
		t.exists = false
	default:
		return topic{}, fmt.Errorf("read the settings of topic %q: %w", name, d.err)
	}
	return t, nil
}

// sources reads the greatest message of the topics that records come from.
// What cannot be read is left out: it only feeds advice.
func (c *Cluster) sources(ctx context.Context, topics []string) ([]topic, error) {
	m, err := c.resolve(ctx, topics)
	if denied(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(m.topics))
	found, err := c.describe(ctx, kmsg.ConfigResourceTypeTopic, names, []string{topicMaxMessage})
	if err != nil {
		return nil, fmt.Errorf("read the settings of the topics: %w", err)
	}
	var list []topic
	for _, name := range names {
		if d := found[name]; d.err == nil {
			list = append(list, topic{name: name, exists: true, values: d.values})
		}
	}
	return list, nil
}
