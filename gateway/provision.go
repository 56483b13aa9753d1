package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/gateway/cluster"
)

// Plan is what has to change in the cluster for one endpoint.
type Plan struct {
	Endpoint   string           `json:"endpoint"`
	ShareGroup string           `json:"share_group"`
	Changes    []cluster.Change `json:"changes"` // in the order in which they are made
}

// Provision makes the cluster what the configuration wishes: dead-letter
// topics, start offsets of new share groups, settings of share groups. It
// returns what it planned, also together with an error; with dryRun it changes
// nothing. Endpoints that are not enabled are left alone. What the broker
// refuses for one endpoint does not keep the others from being provisioned.
func Provision(ctx context.Context, o Options, dryRun bool) ([]Plan, error) {
	opts, err := kafkaOptions(o.Config.Kafka, newInstance(o.InstanceID), o.Version, orDiscard(o.Logger))
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(append(opts, o.KafkaOptions...)...)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	defer client.Close()
	c := cluster.New(client, orDiscard(o.Logger))

	var plans []Plan
	var errs []error
	for _, e := range o.Config.Endpoints {
		if !e.Enabled {
			continue
		}
		changes, err := c.Plan(ctx, wishes(e), cluster.PlanOptions{})
		if err != nil {
			errs = append(errs, fmt.Errorf("endpoint %q: %w", e.Name, err))
		}
		if changes == nil {
			changes = []cluster.Change{} // in JSON an empty list
		}
		plans = append(plans, Plan{Endpoint: e.Name, ShareGroup: e.ShareGroup.Name, Changes: changes})
		if err != nil || dryRun {
			continue
		}
		if err := c.Apply(ctx, changes); err != nil {
			errs = append(errs, fmt.Errorf("endpoint %q: %w", e.Name, err))
		}
	}
	return plans, errors.Join(errs...)
}
