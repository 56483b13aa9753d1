package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/gateway/cluster"
	"github.com/sharehook/sharehook/gateway/sharegroup"
)

// prepare makes sure that the endpoint may run, and pins the start of a new
// group, all before the first join.
func (e *endpoint) prepare(ctx context.Context) (window, error) {
	ctx, cancel := e.asking(ctx)
	defer cancel()
	want := wishes(e.cfg)
	if err := e.checkDeadLetters(ctx, want); err != nil {
		return window{}, err
	}
	settings, err := e.readSettings(ctx, want)
	if err != nil {
		return window{}, err
	}
	if err := e.pinStart(ctx, want, settings); err != nil {
		return window{}, err
	}
	e.endPredecessors(ctx, want.Group)
	leading, brokers, err := e.parts.cluster.Leaders(ctx, want.Topics)
	if err != nil {
		return window{}, err
	}
	return acquisition(e.cfg, leading, brokers), nil
}

// asking is the context of questions to the cluster. A stop does not wait for
// the answers.
func (e *endpoint) asking(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	go func() {
		select {
		case <-e.stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// checkDeadLetters is an error if rejected records would be lost.
func (e *endpoint) checkDeadLetters(ctx context.Context, want cluster.Wishes) error {
	findings, err := e.parts.cluster.CheckDeadLetters(ctx, want)
	if err != nil {
		return err
	}
	var faults []error
	for _, f := range findings {
		if f.Level == cluster.Fault {
			faults = append(faults, errors.New(f.String()))
			continue
		}
		if e.parts.once.first(e.cfg.Name + f.String()) {
			e.log.Warn("dead letters may be lost", "finding", f.Level.String(), "problem", f.Problem, "remedy", f.Remedy)
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("dead letters would be lost: %w", errors.Join(faults...))
	}
	return nil
}

// readSettings learns the group's delivery limit and says what is otherwise
// than the file wishes. It changes nothing.
func (e *endpoint) readSettings(ctx context.Context, want cluster.Wishes) (cluster.Settings, error) {
	settings, err := e.parts.cluster.Settings(ctx, want.Group)
	if errors.Is(err, kerr.GroupAuthorizationFailed) {
		// To read settings is not to read records: it runs without knowing.
		if e.parts.once.first(e.cfg.Name + "settings") {
			e.log.Warn("settings of the share group are not known: grant DESCRIBE_CONFIGS on the group", "share_group", want.Group, "error", err)
		}
		return cluster.Settings{}, nil
	}
	if err != nil {
		return settings, err
	}
	e.limit.Store(int32(settings.MaxDeliveries))
	e.lock.Store(int64(settings.Lock))
	for _, d := range cluster.Compare(want, settings) {
		if e.parts.once.first(e.cfg.Name + d.Text) {
			e.log.Warn("share group is not as wished", "setting", d.Setting, "wish", d.Wish, "have", d.Have, "what", d.Text)
		}
	}
	return settings, nil
}

// pinStart pins the start of a new group, so that nothing is missed while it
// joins. A group whose reset is earliest misses nothing: it was provisioned,
// and what it has no offsets for came later.
func (e *endpoint) pinStart(ctx context.Context, want cluster.Wishes, have cluster.Settings) error {
	if have.OffsetReset == config.StartEarliest {
		return nil
	}
	pinned, err := e.parts.cluster.PinStart(ctx, want.Group, want.Topics, want.Start, want.Isolation)
	if err != nil {
		return err
	}
	if pinned {
		e.log.Info("start of the share group is pinned", "share_group", want.Group, "start", want.Start)
	}
	return nil
}

// endPredecessors frees the partitions of members that a killed predecessor of
// this process has left in the group. It is for speed alone: in vain, they are
// free when its session times out.
func (e *endpoint) endPredecessors(ctx context.Context, group string) {
	n, err := sharegroup.EndPredecessors(ctx, e.parts.client, group, func(clientID string) bool {
		return e.parts.instance.gone(e.parts.clientID, clientID)
	})
	if err != nil && e.parts.once.first(e.cfg.Name+"predecessors") {
		e.log.Warn("members that a killed predecessor left behind keep their partitions until their session times out", "error", err)
	}
	if n > 0 {
		e.log.Info("members that a killed predecessor left behind have left", "members", n)
	}
}
