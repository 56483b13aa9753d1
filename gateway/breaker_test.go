package gateway

import (
	"testing"
	"time"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/dispatch"
	"github.com/sharehook/sharehook/gateway/telemetry"
	"github.com/sharehook/sharehook/webhooks"
)

func TestBreakerShown(t *testing.T) {
	t.Parallel()
	open := dispatch.BreakerStats{State: dispatch.BreakerOpen, Cause: dispatch.OpenedByFailures}
	rejecting := dispatch.BreakerStats{State: dispatch.BreakerOpen, Cause: dispatch.OpenedByRejects}
	for _, tc := range []struct {
		name   string
		stats  dispatch.Stats
		state  telemetry.BreakerState
		reason string
	}{
		{"no breaker", dispatch.Stats{}, telemetry.BreakerClosed, ""},
		{"closed", dispatch.Stats{Breaker: dispatch.BreakerStats{State: dispatch.BreakerClosed}}, telemetry.BreakerClosed, ""},
		{
			"half-open",
			dispatch.Stats{Breaker: dispatch.BreakerStats{State: dispatch.BreakerHalfOpen}},
			telemetry.BreakerHalfOpen,
			"breaker half-open: the endpoint is coming back",
		},
		{"open", dispatch.Stats{Breaker: open}, telemetry.BreakerOpen, "breaker open: the endpoint is down"},
		{
			"open by rejects",
			dispatch.Stats{Breaker: rejecting},
			telemetry.BreakerOpen,
			"breaker open: rejecting everything; check the endpoint's url and what it answers",
		},
		{"paused", dispatch.Stats{Paused: true, Breaker: open}, telemetry.BreakerPaused, "breaker open: the endpoint is down"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := breakerState(tc.stats); got != tc.state {
				t.Errorf("state %v, want %v", got, tc.state)
			}
			if got := breakerReason(tc.stats.Breaker); got != tc.reason {
				t.Errorf("reason %q, want %q", got, tc.reason)
			}
		})
	}
}

// The defaults of the file and of dispatch are the same.
func TestBreakerOptions(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("sharehook.yaml", []byte(`
kafka: {brokers: [localhost:9092]}
endpoints: [{name: orders, topics: [orders], url: "http://localhost:8000/", rate_limit: 90/m}]`), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := dispatchOptions(c.Endpoints[0], window{})
	if o.Breaker != dispatch.DefaultBreaker {
		t.Errorf("breaker %+v, want %+v", o.Breaker, dispatch.DefaultBreaker)
	}
	if o.RateLimit != 1.5 {
		t.Errorf("rate limit %v a second, want 1.5", o.RateLimit)
	}
}

// Reasons that dispatch knows by name are spelt as webhooks spells them.
func TestReasonsAgree(t *testing.T) {
	t.Parallel()
	for ours, theirs := range map[string]webhooks.Reason{
		dispatch.ReasonStopped:    webhooks.ReasonStopped,
		dispatch.ReasonInternal:   webhooks.ReasonInternal,
		dispatch.ReasonDenied:     webhooks.ReasonDenied,
		dispatch.ReasonUnsendable: webhooks.ReasonUnsendable,
	} {
		if ours != string(theirs) {
			t.Errorf("%q in dispatch, %q in webhooks", ours, theirs)
		}
	}
}

func TestSpent(t *testing.T) {
	t.Parallel()
	givenBack := dispatch.Outcome{Interrupted: true, Elapsed: time.Second}
	accepted := dispatch.Outcome{Acknowledgement: dispatch.Accept}
	for _, tc := range []struct {
		name         string
		out          dispatch.Outcome
		count, limit int32
		want         bool
	}{
		{"given back on the last delivery", givenBack, 10, 10, true},
		{"given back before", givenBack, 9, 10, false},
		{"given back, limit unknown", givenBack, 9, 0, false},
		{"accepted on the last delivery", accepted, 10, 10, false},
	} {
		o := &observer{limit: func() int32 { return tc.limit }}
		if got := o.spent(tc.out, tc.count); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
