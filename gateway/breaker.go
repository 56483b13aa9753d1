package gateway

import (
	"context"
	"log/slog"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/dispatch"
	"github.com/sharehook/sharehook/gateway/telemetry"
)

// breakerOptions re-type the keys of a breaker.
func breakerOptions(c config.Breaker) dispatch.Breaker {
	return dispatch.Breaker{
		Enabled:      c.Enabled,
		Window:       c.Window,
		MinAttempts:  c.MinAttempts,
		FailureRatio: c.FailureRatio,
		RejectRatio:  c.RejectRatio,
		Cooldown:     c.Cooldown,
		MaxCooldown:  c.MaxCooldown,
	}
}

// breakerState is what the gauge says: paused wins.
func breakerState(s dispatch.Stats) telemetry.BreakerState {
	switch {
	case s.Paused:
		return telemetry.BreakerPaused
	case s.Breaker.State == dispatch.BreakerOpen:
		return telemetry.BreakerOpen
	case s.Breaker.State == dispatch.BreakerHalfOpen:
		return telemetry.BreakerHalfOpen
	default:
		return telemetry.BreakerClosed
	}
}

// breakerReason is what /readyz says of a breaker that is not closed. The
// endpoint stays ready: to restart the gateway would help nobody.
func breakerReason(s dispatch.BreakerStats) string {
	switch {
	case s.State == dispatch.BreakerHalfOpen:
		return "breaker half-open: the endpoint is coming back"
	case s.State != dispatch.BreakerOpen:
		return ""
	case s.Cause == dispatch.OpenedByRejects:
		return "breaker open: rejecting everything; check the endpoint's url and what it answers"
	default:
		return "breaker open: the endpoint is down"
	}
}

// BreakerChanged writes a line for each change.
func (o *observer) BreakerChanged(c dispatch.BreakerChange) {
	attrs := []slog.Attr{
		slog.String("state", c.To.String()), slog.String("from", c.From.String()), slog.String("cause", breakerCause(c.Cause)),
	}
	level := slog.LevelInfo
	if c.To == dispatch.BreakerOpen {
		level = slog.LevelWarn
		attrs = append(attrs, slog.String("last_failure", o.failure.Load().String()), slog.Duration("next_probe_in", c.Cooldown))
	}
	if c.Down > 0 {
		attrs = append(attrs, slog.Duration("down_for", c.Down))
	}
	o.log.LogAttrs(context.Background(), level, "breaker.changed", attrs...)
}

// breakerCause says in words why a breaker opened.
func breakerCause(c dispatch.BreakerCause) string {
	if c == dispatch.OpenedByRejects {
		return "rejecting everything"
	}
	return "failing"
}
