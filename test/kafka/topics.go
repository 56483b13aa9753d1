package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Name is a name for a topic or a group that no other test on the same
// cluster has: prefix, a dot, and something random.
func Name(prefix string) string {
	return prefix + "." + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
}

// Client is a client of the cluster that is closed at the test's end.
func (c *Cluster) Client(tb testing.TB, opts ...kgo.Opt) *kgo.Client {
	tb.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.Seeds...)}, opts...)...)
	if err != nil {
		tb.Fatalf("make a client of kafka: %v", err)
	}
	tb.Cleanup(cl.Close)
	return cl
}

// Admin is the helpers' own client, for what has no helper. It lives as long
// as the cluster.
func (c *Cluster) Admin() *kadm.Client { return c.admin }

// CreateTopic creates a topic with a replica on every node, and waits until
// all partitions have a leader. Configs may be nil.
func (c *Cluster) CreateTopic(tb testing.TB, topic string, partitions int32, configs map[string]string) {
	tb.Helper()
	req := newTopic(topic, configs)
	req.NumPartitions = partitions
	req.ReplicationFactor = int16(len(c.nodes))
	c.createTopic(tb, req, partitions)
}

// CreateTopicOn creates a topic whose partition i has its replicas on the
// nodes of replicas[i], the first of them leading.
func (c *Cluster) CreateTopicOn(tb testing.TB, topic string, replicas [][]int32, configs map[string]string) {
	tb.Helper()
	req := newTopic(topic, configs)
	for partition, nodes := range replicas {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = int32(partition), nodes
		req.ReplicaAssignment = append(req.ReplicaAssignment, a)
	}
	req.NumPartitions, req.ReplicationFactor = -1, -1 // as the assignment says
	c.createTopic(tb, req, int32(len(replicas)))
}

func newTopic(topic string, configs map[string]string) kmsg.CreateTopicsRequestTopic {
	req := kmsg.NewCreateTopicsRequestTopic()
	req.Topic = topic
	for name, value := range configs {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = name, &value
		req.Configs = append(req.Configs, config)
	}
	return req
}

func (c *Cluster) createTopic(tb testing.TB, topic kmsg.CreateTopicsRequestTopic, partitions int32) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	defer cancel()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = append(req.Topics, topic)
	req.TimeoutMillis = int32(WaitTimeout.Milliseconds())
	resp, err := req.RequestWith(ctx, c.client)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
	}
	if err != nil {
		tb.Fatalf("create topic %s: %v", topic.Topic, err)
	}
	Wait(tb, WaitTimeout, "every partition of "+topic.Topic+" to have a leader", func() bool {
		led := int32(0)
		for _, p := range c.topic(tb, topic.Topic).Partitions {
			if p.Err == nil && p.Leader >= 0 {
				led++
			}
		}
		return led == partitions
	})
}

// AddPartitions makes a topic one of so many partitions.
func (c *Cluster) AddPartitions(tb testing.TB, topic string, total int) {
	tb.Helper()
	resp, err := c.admin.UpdatePartitions(context.Background(), total, topic)
	if err == nil {
		err = resp.Error()
	}
	if err != nil {
		tb.Fatalf("make %d partitions of topic %s: %v", total, topic, err)
	}
}

// DeleteTopic deletes a topic and waits until the nodes have forgotten it, so
// that it can be made again.
func (c *Cluster) DeleteTopic(tb testing.TB, topic string) {
	tb.Helper()
	if _, err := c.admin.DeleteTopic(context.Background(), topic); err != nil {
		tb.Fatalf("delete topic %s: %v", topic, err)
	}
	Wait(tb, WaitTimeout, "topic "+topic+" to be gone", func() bool {
		return errors.Is(c.topic(tb, topic).Err, kerr.UnknownTopicOrPartition)
	})
}

// topic is what the cluster knows of a topic; its Err may be set.
func (c *Cluster) topic(tb testing.TB, topic string) kadm.TopicDetail {
	tb.Helper()
	meta, err := c.admin.Metadata(context.Background(), topic)
	if err != nil {
		tb.Fatalf("describe topic %s: %v", topic, err)
	}
	return meta.Topics[topic]
}

// SetTopic sets settings of a topic: name, value, name, value.
func (c *Cluster) SetTopic(tb testing.TB, topic string, namesAndValues ...string) {
	tb.Helper()
	c.alter(tb, kmsg.ConfigResourceTypeTopic, topic, namesAndValues)
}

// SetBrokers sets dynamic settings of all nodes: name, value, name, value.
func (c *Cluster) SetBrokers(tb testing.TB, namesAndValues ...string) {
	tb.Helper()
	c.alter(tb, kmsg.ConfigResourceTypeBroker, "", namesAndValues)
}

// alter sets settings of one thing; none is set when one is refused.
func (c *Cluster) alter(tb testing.TB, kind kmsg.ConfigResourceType, name string, namesAndValues []string) {
	tb.Helper()
	if len(namesAndValues)%2 != 0 {
		tb.Fatalf("settings of %s: a name without a value: %q", name, namesAndValues)
	}
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kind, name
	for i := 0; i < len(namesAndValues); i += 2 {
		config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		config.Name, config.Value = namesAndValues[i], &namesAndValues[i+1]
		config.Op = kmsg.IncrementalAlterConfigOpSet
		resource.Configs = append(resource.Configs, config)
	}
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(context.Background(), c.client)
	if err == nil && resp.Resources[0].ErrorCode != 0 {
		err = fmt.Errorf("%w: %s", kerr.ErrorForCode(resp.Resources[0].ErrorCode), deref(resp.Resources[0].ErrorMessage))
	}
	if err != nil {
		tb.Fatalf("set %q of %s %q: %v", namesAndValues, kind, name, err)
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
