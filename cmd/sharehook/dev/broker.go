package dev

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sharehook/sharehook/config"
)

// broker is the embedded broker, and a client of it that prepares and fills
// its topics.
type broker struct {
	cluster *kfake.Cluster
	client  *kgo.Client
	admin   *kadm.Client
	addr    string
}

// startBroker listens on a free port of 127.0.0.1, which is kfake's only address.
func startBroker() (*broker, error) {
	c, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		// Locks end about when they should.
		kfake.BrokerConfigs(map[string]string{"share.record.lock.sweep.interval.ms": "250"}),
	)
	if err != nil {
		return nil, fmt.Errorf("start the embedded broker: %w", err)
	}
	b := &broker{cluster: c, addr: c.ListenAddrs()[0]}
	b.client, err = kgo.NewClient(kgo.SeedBrokers(b.addr), kgo.ProducerLinger(0))
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("connect to the embedded broker: %w", err)
	}
	b.admin = kadm.NewClient(b.client)
	return b, nil
}

func (b *broker) close() {
	b.client.Close()
	b.cluster.Close()
}

const (
	samplePartitions = 3
	letterPartitions = 1
)

// prepare makes topics and settings as `sharehook provision` would on a Kafka:
// the embedded broker has most settings of groups for all groups only, so those
// of the first endpoint count.
func (b *broker) prepare(ctx context.Context, endpoints []config.Endpoint, topics, letters []string) error {
	for _, t := range []struct {
		partitions int32
		names      []string
	}{{samplePartitions, topics}, {letterPartitions, letters}} {
		if len(t.names) == 0 {
			continue
		}
		made, err := b.admin.CreateTopics(ctx, t.partitions, 1, nil, t.names...)
		if err == nil {
			err = made.Error()
		}
		if err != nil {
			return fmt.Errorf("make the topics of the embedded broker: %w", err)
		}
	}
	group := endpoints[0].ShareGroup
	settings := []kadm.AlterConfig{
		set("group.share.record.lock.duration.ms", strconv.FormatInt(group.Lock.Milliseconds(), 10)),
		set("group.share.delivery.count.limit", strconv.Itoa(group.MaxDeliveries)),
		set("group.share.partition.max.record.locks", strconv.Itoa(group.MaxRecordLocks)),
	}
	altered, err := b.admin.AlterBrokerConfigs(ctx, settings)
	if err == nil {
		err = firstError(altered)
	}
	if err != nil {
		return fmt.Errorf("set up the embedded broker: %w", err)
	}
	for _, e := range endpoints {
		if err := b.setGroup(ctx, e.ShareGroup); err != nil {
			return fmt.Errorf("set up share group %q: %w", e.ShareGroup.Name, err)
		}
	}
	return nil
}

func set(name, value string) kadm.AlterConfig {
	return kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: &value}
}

func firstError(rs kadm.AlterConfigsResponses) error {
	var errs []error
	for _, r := range rs {
		errs = append(errs, r.Err)
	}
	return errors.Join(errs...)
}

// setGroup sets what the embedded broker has for a single group.
func (b *broker) setGroup(ctx context.Context, g config.ShareGroup) error {
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeGroupConfig, g.Name
	values := map[string]string{
		"share.auto.offset.reset": config.StartEarliest,
		"share.isolation.level":   g.Isolation,
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = name, new(values[name])
		res.Configs = append(res.Configs, c)
	}
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(ctx, b.client)
	if err != nil {
		return err
	}
	for _, r := range resp.Resources {
		if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
			return err
		}
	}
	return nil
}

// count is the number of records that lie on topics.
func (b *broker) count(ctx context.Context, topics []string) (int64, error) {
	if len(topics) == 0 {
		return 0, nil
	}
	ends, err := b.admin.ListEndOffsets(ctx, topics...)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return 0, fmt.Errorf("count the dead letters: %w", err)
	}
	var n int64
	ends.Each(func(o kadm.ListedOffset) { n += o.Offset })
	return n, nil
}
