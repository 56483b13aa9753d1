package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Leaders says how many different brokers lead a partition of topics now, and
// how many brokers the cluster has. Topics are named as in [Wishes]; a topic
// that does not exist counts for nothing.
func (c *Cluster) Leaders(ctx context.Context, topics []string) (leading, brokers int, err error) {
	m, err := c.resolve(ctx, topics)
	if err != nil {
		return 0, 0, err
	}
	leaders := make(map[int32]bool)
	for _, t := range m.topics {
		for _, leader := range t.leaders {
			if leader >= 0 {
				leaders[leader] = true
			}
		}
	}
	return len(leaders), len(m.brokers), nil
}

// TopicIDs returns the ids of those of topics, named as in [Wishes], that
// exist. A topic that was deleted and made again has another id.
func (c *Cluster) TopicIDs(ctx context.Context, topics []string) (map[string][16]byte, error) {
	m, err := c.resolve(ctx, topics)
	if err != nil {
		return nil, err
	}
	ids := make(map[string][16]byte, len(m.topics))
	for name, t := range m.topics {
		ids[name] = t.id
	}
	return ids, nil
}

// resolve returns the metadata of those of topics, named as in [Wishes], that
// exist now. A regular expression finds none of Kafka's own topics.
func (c *Cluster) resolve(ctx context.Context, topics []string) (metadata, error) {
	names, patterns, err := split(topics)
	if err != nil {
		return metadata{}, err
	}
	ask := names
	if len(patterns) > 0 {
		ask = allTopics
	}
	m, err := c.metadata(ctx, ask)
	if err != nil {
		return metadata{}, err
	}
	maps.DeleteFunc(m.topics, func(name string, t topicMetadata) bool {
		wanted := slices.Contains(names, name) || !t.internal && matchesAny(patterns, name)
		return !wanted || missing(t.err)
	})
	for name, t := range m.topics {
		if t.err != nil {
			return metadata{}, fmt.Errorf("read the metadata of topic %q: %w", name, t.err)
		}
	}
	return m, nil
}

// split divides topics into names, never nil, and regular expressions.
func split(topics []string) (names []string, patterns []*regexp.Regexp, err error) {
	names = make([]string, 0, len(topics))
	for _, t := range topics {
		if !isPattern(t) {
			names = append(names, t)
			continue
		}
		re, err := regexp.Compile(t)
		if err != nil {
			return nil, nil, fmt.Errorf("topics entry %q: %w", t, err)
		}
		patterns = append(patterns, re)
	}
	return names, patterns, nil
}

func matchesAny(patterns []*regexp.Regexp, name string) bool {
	return slices.ContainsFunc(patterns, func(re *regexp.Regexp) bool { return re.MatchString(name) })
}

// missing says whether err means that there is, or can be, no such topic.
func missing(err error) bool {
	return errors.Is(err, kerr.UnknownTopicOrPartition) ||
		errors.Is(err, kerr.UnknownTopicID) ||
		errors.Is(err, kerr.InvalidTopicException)
}

// missingGroup says whether err means that there is no such share group.
func missingGroup(err error) bool { return errors.Is(err, kerr.GroupIDNotFound) }
