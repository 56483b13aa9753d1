package cluster

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// settleTime bounds how long Apply waits to see what it changed.
const settleTime = 10 * time.Second

// settle waits until the cluster shows changes. The controller confirms a
// change that a broker still has to learn of: who asks at once, as a check or
// a second plan does, would be told the old state.
func (c *Cluster) settle(ctx context.Context, changes []Change) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	for _, change := range changes {
		for wait := firstWait; !c.shows(ctx, change); wait = min(2*wait, maxWait) {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				// Not a failure: it was confirmed.
				c.log.LogAttrs(ctx, slog.LevelWarn, "cluster.change_not_shown",
					slog.String("resource", change.Resource.String()), slog.String("name", change.Name),
					slog.String("setting", change.Setting))
				return
			}
		}
	}
}

// shows says whether a broker tells the new state of a change. What cannot be
// read back will not be waited for.
func (c *Cluster) shows(ctx context.Context, change Change) bool {
	kind := kmsg.ConfigResourceTypeGroupConfig
	switch change.Resource {
	case NewTopic:
		m, err := c.metadata(ctx, []string{change.Name})
		return err == nil && m.topics[change.Name].err == nil
	case TopicSetting:
		kind = kmsg.ConfigResourceTypeTopic
	case GroupSetting:
	case StartOffsets, ResourceInvalid:
		return true // the group's coordinator has them
	}
	found, err := c.describe(ctx, kind, []string{change.Name}, []string{change.Setting})
	if err != nil {
		return ctx.Err() == nil
	}
	d := found[change.Name]
	return d.err != nil || d.values[change.Setting].text == change.New
}
