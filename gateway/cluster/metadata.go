package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// metadata is what one broker knows of the cluster now. It is asked anew each
// time: kgo and kadm answer from a cache that is seconds old, in which a topic
// made a moment ago is missing.
type metadata struct {
	brokers []int32 // ids of those that are up, ascending
	topics  map[string]topicMetadata
}

type topicMetadata struct {
	id         [16]byte
	internal   bool
	leaders    map[int32]int32 // by partition; -1: none at the moment
	partitions []int32         // ascending
	err        error
}

// allTopics asks metadata for every topic.
var allTopics []string

// metadata asks for the named topics, for allTopics, or with an empty list for
// none. It never makes a topic, even where brokers make topics at first sight.
func (c *Cluster) metadata(ctx context.Context, topics []string) (metadata, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	if topics != nil {
		req.Topics = make([]kmsg.MetadataRequestTopic, 0, len(topics))
	}
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = new(name)
		req.Topics = append(req.Topics, t)
	}
	var m metadata
	err := persist(ctx, func(ctx context.Context) error {
		resp, err := req.RequestWith(ctx, c.client)
		if err != nil {
			return err
		}
		m = metadataFrom(resp)
		return nil
	})
	if err == nil && len(m.brokers) == 0 {
		err = errors.New("the answer names no broker")
	}
	if err != nil {
		return metadata{}, fmt.Errorf("read the cluster's metadata: %w", err)
	}
	return m, nil
}

func metadataFrom(resp *kmsg.MetadataResponse) metadata {
	m := metadata{topics: make(map[string]topicMetadata, len(resp.Topics))}
	for _, b := range resp.Brokers {
		m.brokers = append(m.brokers, b.NodeID)
	}
	slices.Sort(m.brokers)
	for _, t := range resp.Topics {
		if t.Topic == nil {
			continue
		}
		meta := topicMetadata{
			id: t.TopicID, internal: t.IsInternal,
			leaders: make(map[int32]int32, len(t.Partitions)),
			err:     kerr.ErrorForCode(t.ErrorCode),
		}
		for _, p := range t.Partitions {
			meta.partitions = append(meta.partitions, p.Partition)
			meta.leaders[p.Partition] = p.Leader
		}
		slices.Sort(meta.partitions)
		m.topics[*t.Topic] = meta
	}
	return m
}
