package cluster

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Leaders says how many different brokers lead a partition of topics now, and
// how many brokers the cluster has. Topics are named as in [Wishes]; a topic
// that does not exist counts for nothing.
func (c *Cluster) Leaders(ctx context.Context, topics []string) (leading, brokers int, err error) {
	details, err := c.resolve(ctx, topics)
	if err != nil {
		return 0, 0, err
	}
	ids, err := c.brokers(ctx)
	if err != nil {
		return 0, 0, err
	}
	leaders := make(map[int32]bool)
	for _, t := range details {
		for _, p := range t.Partitions {
			if p.Leader >= 0 { // -1: none at the moment
				leaders[p.Leader] = true
			}
		}
	}
	return len(leaders), len(ids), nil
}

// TopicIDs returns the ids of those of topics, named as in [Wishes], that
// exist. A topic that was deleted and made again has another id.
func (c *Cluster) TopicIDs(ctx context.Context, topics []string) (map[string][16]byte, error) {
	details, err := c.resolve(ctx, topics)
	if err != nil {
		return nil, err
	}
	ids := make(map[string][16]byte, len(details))
	for _, t := range details {
		ids[t.Topic] = t.ID
	}
	return ids, nil
}

// resolve returns those of topics that exist now, by name: every named one,
// and for a regular expression all that match it but Kafka's own.
func (c *Cluster) resolve(ctx context.Context, topics []string) (kadm.TopicDetails, error) {
	var names []string
	var patterns []*regexp.Regexp
	for _, t := range topics {
		if !isPattern(t) {
			names = append(names, t)
			continue
		}
		re, err := regexp.Compile(t)
		if err != nil {
			return nil, fmt.Errorf("topics entry %q: %w", t, err)
		}
		patterns = append(patterns, re)
	}
	found := make(kadm.TopicDetails)
	if len(names) > 0 {
		details, err := c.topics(ctx, names...)
		if err != nil {
			return nil, err
		}
		for name, t := range details {
			if err := t.Err; err != nil && !missing(err) {
				return nil, fmt.Errorf("read the metadata of topic %q: %w", name, err)
			}
			if t.Err == nil {
				found[name] = t
			}
		}
	}
	if len(patterns) > 0 {
		all, err := c.topics(ctx)
		if err != nil {
			return nil, err
		}
		for name, t := range all {
			if !t.IsInternal && t.Err == nil && matchesAny(patterns, name) {
				found[name] = t
			}
		}
	}
	return found, nil
}

func matchesAny(patterns []*regexp.Regexp, name string) bool {
	return slices.ContainsFunc(patterns, func(re *regexp.Regexp) bool { return re.MatchString(name) })
}

// topics reads the metadata of the named topics, or of all without names. It
// never makes a topic, even where the brokers make topics at first sight.
func (c *Cluster) topics(ctx context.Context, names ...string) (kadm.TopicDetails, error) {
	var details kadm.TopicDetails
	err := persist(ctx, func(ctx context.Context) (err error) {
		details, err = c.admin.ListTopicsWithInternal(ctx, names...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the metadata of topics: %w", err)
	}
	return details, nil
}

// brokers returns the ids of the brokers that are up, ascending, at least one.
func (c *Cluster) brokers(ctx context.Context) ([]int32, error) {
	meta, err := c.admin.BrokerMetadata(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the brokers: %w", err)
	}
	if len(meta.Brokers) == 0 {
		return nil, errors.New("list the brokers: the cluster names none")
	}
	return meta.Brokers.NodeIDs(), nil
}

// missing says whether err means that there is, or can be, no such topic.
func missing(err error) bool {
	return errors.Is(err, kerr.UnknownTopicOrPartition) ||
		errors.Is(err, kerr.UnknownTopicID) ||
		errors.Is(err, kerr.InvalidTopicException)
}

// missingGroup says whether err means that there is no such share group.
func missingGroup(err error) bool { return errors.Is(err, kerr.GroupIDNotFound) }
