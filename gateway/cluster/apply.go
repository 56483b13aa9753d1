package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// errSkipped is the failure of a change whose requirement failed.
var errSkipped = errors.New("left out, as the change that it needs failed")

// Apply makes the changes of a plan, in order and one by one: the broker takes
// the settings of a group all or none, and one that it refuses must not cost
// the others. It goes on after a failure, but leaves out what would do harm
// without the change that failed. The errors are joined, each says what was
// refused, in the broker's words, and what to do. When Apply returns, a broker
// shows what was changed.
func (c *Cluster) Apply(ctx context.Context, plan []Change) error {
	var errs []error
	var done []Change
	failed := make(map[string]bool)
	for _, change := range plan {
		err := errSkipped
		if change.needs == nil || !failed[change.needs.String()] {
			err = c.apply(ctx, change)
		}
		if err != nil {
			failed[change.String()] = true
			errs = append(errs, explain(change, err))
			continue
		}
		done = append(done, change)
		c.log.LogAttrs(ctx, slog.LevelInfo, "cluster.changed",
			slog.String("resource", change.Resource.String()), slog.String("name", change.Name),
			slog.String("setting", change.Setting), slog.String("old", change.Old), slog.String("new", change.New))
	}
	c.settle(ctx, done)
	return errors.Join(errs...)
}

func (c *Cluster) apply(ctx context.Context, change Change) error {
	switch change.Resource {
	case NewTopic:
		return c.createTopic(ctx, change.Name, change.topic)
	case TopicSetting:
		return c.alter(ctx, kmsg.ConfigResourceTypeTopic, change)
	case StartOffsets:
		_, err := c.PinStart(ctx, change.Name, change.pin.topics, change.pin.start, change.pin.isolation)
		return err
	case GroupSetting:
		return c.alter(ctx, kmsg.ConfigResourceTypeGroupConfig, change)
	case ResourceInvalid:
	}
	return fmt.Errorf("change of %s: not planned by Plan", change.Resource)
}

func (c *Cluster) createTopic(ctx context.Context, name string, t *newTopic) error {
	settings := make(map[string]*string, len(t.settings))
	for _, s := range t.settings {
		settings[s.name] = &s.value
	}
	return persist(ctx, func(ctx context.Context) error {
		resp, err := c.admin.CreateTopics(ctx, orBrokers(t.partitions), orBrokers(t.replication), settings, name)
		if err != nil {
			return err
		}
		r := resp[name]
		if errors.Is(r.Err, kerr.TopicAlreadyExists) {
			// Somebody was faster; what it lacks the next plan shows.
			return nil
		}
		return withMessage(r.Err, r.ErrMessage)
	})
}

// orBrokers is n, or for 0 the -1 that stands for the cluster's default.
func orBrokers[N int16 | int32](n N) N {
	if n == 0 {
		return -1
	}
	return n
}

// alter sets one setting of a topic or group, or clears it.
func (c *Cluster) alter(ctx context.Context, kind kmsg.ConfigResourceType, change Change) error {
	s := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	s.Name = change.Setting
	s.Op = kmsg.IncrementalAlterConfigOpSet
	s.Value = new(change.New)
	if change.New == "" {
		s.Op, s.Value = kmsg.IncrementalAlterConfigOpDelete, nil
	}
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, change.Name
	r.Configs = append(r.Configs, s)
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = append(req.Resources, r)

	return persist(ctx, func(ctx context.Context) error {
		resp, err := req.RequestWith(ctx, c.client)
		if err != nil {
			return err
		}
		if len(resp.Resources) != 1 {
			return errShortAnswer
		}
		return brokerError(resp.Resources[0].ErrorCode, resp.Resources[0].ErrorMessage)
	})
}

func withMessage(err error, message string) error {
	if err == nil || message == "" {
		return err
	}
	return fmt.Errorf("%w (%s)", err, message)
}
