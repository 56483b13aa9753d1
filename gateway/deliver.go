package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/sharehook/sharehook/dispatch"
	"github.com/sharehook/sharehook/gateway/admin"
	"github.com/sharehook/sharehook/gateway/sharegroup"
)

// deliver joins the share group and delivers until the endpoint is stopped,
// then nil, or until it cannot go on.
func (e *endpoint) deliver(ctx context.Context, w window) error {
	group, d, err := e.join(w)
	if err != nil {
		return err
	}
	e.held.Store(group)
	e.running.Store(d)
	defer e.running.Store(nil)
	if e.setReason("") {
		e.log.Info("endpoint runs", "share_group", e.cfg.ShareGroup.Name, "topics", e.cfg.Topics, "members", e.cfg.Members)
	}

	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	stop, err := e.watch(ctx, d, ended)

	until := stop.leave
	if until.IsZero() { // killed, or ended by itself
		until = time.Now().Add(killedLeave)
	}
	leave, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
	defer cancel()
	// Killed, now or while it leaves: it still leaves, so that its partitions
	// are free at once and not when its session times out.
	defer context.AfterFunc(ctx, func() { time.AfterFunc(killedLeave, cancel) })()
	if left := group.Leave(leave); left != nil {
		e.log.Warn("leave the share group", "error", left)
	}
	return err
}

// join makes the member and what delivers its records.
func (e *endpoint) join(w window) (*sharegroup.Group, *dispatch.Endpoint, error) {
	o := shareGroupOptions(e.cfg, w, e.parts.kafka)
	o.Lock = time.Duration(e.lock.Load())
	o.Observer = groupObserver{e.metrics}
	o.Logger = e.log
	group, err := sharegroup.Join(o)
	if err != nil {
		return nil, nil, err
	}
	do := dispatchOptions(e.cfg, w)
	do.Source = source{group}
	do.Attempter = attempter{e.hook}
	observer := e.newObserver()
	e.observer.Store(observer)
	do.Observer = observer
	do.MaxDeliveries = e.limit.Load
	do.Logger = e.log
	if e.letters != nil {
		do.DeadLetters = &deadLetterer{e.letters, e.cfg.Name, e.cfg.ShareGroup.Name, e.cfg.DeadLetter.Topic}
	}
	d, err := dispatch.New(do)
	if err != nil {
		leave, cancel := context.WithTimeout(context.Background(), killedLeave)
		defer cancel()
		_ = group.Leave(leave)
		return nil, nil, fmt.Errorf("endpoint %q: %w", e.cfg.Name, err)
	}
	return group, d, nil
}

func (e *endpoint) newObserver() *observer {
	return &observer{
		endpoint:   e.cfg.Name,
		group:      e.cfg.ShareGroup.Name,
		by:         e.cfg.DeadLetter.By,
		limit:      e.limit.Load,
		metrics:    e.metrics,
		tracer:     e.parts.telemetry.TracerProvider().Tracer(scope),
		propagator: e.parts.telemetry.Propagator(),
		log:        e.log,
		watch:      e.parts.onDelivery,
	}
}

// watch looks after a running endpoint until it ends. When it was told to
// stop, it drains and says within which times.
func (e *endpoint) watch(ctx context.Context, d *dispatch.Endpoint, ended <-chan error) (stopTimes, error) {
	settings, lag := time.NewTicker(watchEvery), time.NewTicker(lagEvery)
	defer settings.Stop()
	defer lag.Stop()
	e.readLag(ctx)
	for {
		select {
		case <-e.stopped:
			attempts, cancel := context.WithDeadline(ctx, e.times.attempts)
			if err := d.Drain(attempts); err != nil {
				e.log.Warn("drain", "error", err)
			}
			cancel()
			return e.times, <-ended
		case err := <-ended:
			return stopTimes{}, err // nil: killed
		case <-settings.C:
			e.look(ctx, d)
		case <-lag.C:
			e.readLag(ctx)
		}
	}
}

// look checks again what was right at the start. An endpoint whose dead
// letters would be lost rests: what it holds stays held, so that no record
// pays for it, and no attempt begins that could end in a reject.
func (e *endpoint) look(ctx context.Context, d *dispatch.Endpoint) {
	ctx, cancel := e.asking(ctx)
	defer cancel()
	want := wishes(e.cfg)
	if _, err := e.readSettings(ctx, want); err != nil {
		return // not reached: the next look will do
	}
	err := e.checkDeadLetters(ctx, want)
	if ctx.Err() != nil {
		return
	}
	e.mu.Lock()
	rest, resting := err != nil, e.paused
	e.paused = rest
	e.mu.Unlock()
	switch {
	case rest && !resting:
		e.setReason(err.Error())
		e.log.Error("endpoint rests", "reason", err)
		d.Rest()
	case !rest && resting:
		e.setReason("")
		e.log.Info("endpoint goes on: its dead letters are safe again")
		d.EndRest()
	}
}

// readLag keeps the lag for the next scrape. Topics of an expression are
// added up under it, so that the attribute stays bounded.
func (e *endpoint) readLag(ctx context.Context) {
	ctx, cancel := e.asking(ctx)
	defer cancel()
	lags, err := e.parts.cluster.Lag(ctx, e.cfg.ShareGroup.Name)
	if err != nil {
		e.lag.Store(nil)
		return
	}
	group := e.held.Load()
	known := make(map[string]int64)
	for _, l := range lags {
		if l.Known {
			known[group.Expression(l.Topic)] += l.Records
		}
	}
	e.lag.Store(&known)
}

// condition is what /readyz says of the endpoint.
func (e *endpoint) condition() admin.Condition {
	e.mu.Lock()
	reason := e.reason
	e.mu.Unlock()
	c := admin.Condition{Endpoint: e.cfg.Name, Reason: reason}
	d, group := e.running.Load(), e.held.Load()
	if reason != "" || d == nil || group == nil {
		return c
	}
	if err := group.Health(); err != nil {
		c.Reason = advised(err)
		return c
	}
	c.Ready = true
	stats := d.Stats()
	c.Reason = breakerReason(stats.Breaker)
	if stats.Breaker.State == dispatch.BreakerOpen {
		c.Reason += "; last failure: " + e.observer.Load().failure.Load().String()
	}
	if stats.Paused {
		c.Reason = "paused: the endpoint answered 410 Gone; restart the gateway when it is there again, or change the endpoint in the file"
	}
	return c
}
