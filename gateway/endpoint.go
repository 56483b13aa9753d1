package gateway

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/dispatch"
	"github.com/sharehook/sharehook/gateway/deadletter"
	"github.com/sharehook/sharehook/gateway/sharegroup"
	"github.com/sharehook/sharehook/gateway/telemetry"
	"github.com/sharehook/sharehook/webhooks"
)

const (
	// askWait bounds the questions to the cluster before an endpoint runs.
	askWait = 15 * time.Second
	// Back-off between two tries to get an endpoint running.
	minTryAgain = time.Second
	maxTryAgain = 15 * time.Second
	// watchEvery is how often a running endpoint's settings are looked at:
	// Kafka accepts every wrong dead-letter set-up without a word.
	watchEvery = time.Minute
	// lagEvery is how often the lag is asked for.
	lagEvery = 15 * time.Second
	// killedLeave is the time to give back records after a hard stop.
	killedLeave = 300 * time.Millisecond
)

// endpoint is one endpoint of the configuration, running or on its way there.
type endpoint struct {
	cfg     config.Endpoint
	parts   *parts
	letters *deadletter.Writer // nil: dead letters are not ours to write
	hook    *webhooks.Endpoint
	metrics *telemetry.EndpointMetrics
	log     *slog.Logger

	stopped  chan struct{}     // closed by stop
	times    stopTimes         // written before stopped is closed
	ended    chan struct{}     // closed when it has stopped and let go of everything
	files    [sha256.Size]byte // the content of the files that its TLS section names
	limit    atomic.Int32      // the group's delivery limit, 0: not known
	lock     atomic.Int64      // the length of its lock in nanoseconds, 0: not known
	lag      atomic.Pointer[map[string]int64]
	held     atomic.Pointer[sharegroup.Group]
	running  atomic.Pointer[dispatch.Endpoint]
	observer atomic.Pointer[observer]

	mu     sync.Mutex
	reason string // why it does not run; empty: it does
	paused bool   // by us, as its dead letters would be lost
}

// stopTimes bound a drain: attempts finish until one, the group is left until
// the other.
type stopTimes struct{ attempts, leave time.Time }

func newEndpoint(cfg config.Endpoint, p *parts) (*endpoint, error) {
	files := filesDigest(cfg.TLS) // before they are read: a change in between is seen as one
	o, err := webhookOptions(cfg, p.version, p.dial)
	if err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", cfg.Name, err)
	}
	e := &endpoint{
		cfg:     cfg,
		parts:   p,
		metrics: p.telemetry.Endpoint(cfg.Name, cfg.Topics...),
		log:     p.log.With("endpoint", cfg.Name),
		stopped: make(chan struct{}),
		ended:   make(chan struct{}),
		files:   files,
		reason:  "starting",
	}
	if cfg.DeadLetter.By == config.DeadLetterByGateway {
		if e.letters, err = p.letters.get(p.kafka); err != nil {
			e.metrics.Close()
			return nil, err
		}
	}
	o.Tracer = p.telemetry.TracerProvider().Tracer(scope)
	o.Propagator = p.telemetry.Propagator()
	o.CountDropped = e.metrics.HeadersDropped
	if e.hook, err = webhooks.New(o); err != nil {
		e.metrics.Close()
		return nil, fmt.Errorf("endpoint %q: %w", cfg.Name, err)
	}
	e.gauges()
	return e, nil
}

// gauges says what a scrape is answered.
func (e *endpoint) gauges() {
	e.metrics.SetHeld(func() int64 {
		if g := e.held.Load(); g != nil {
			return int64(g.Held())
		}
		return 0
	})
	e.metrics.SetInFlight(func() int64 {
		if d := e.running.Load(); d != nil {
			return int64(d.Stats().InFlight)
		}
		return 0
	})
	e.metrics.SetBreakerState(func() telemetry.BreakerState {
		if d := e.running.Load(); d != nil {
			return breakerState(d.Stats())
		}
		return telemetry.BreakerClosed
	})
	e.metrics.SetLag(func() map[string]int64 {
		if lag := e.lag.Load(); lag != nil {
			return *lag
		}
		return nil
	})
}

// close lets go of everything. The endpoint has stopped, or never begun.
func (e *endpoint) close() {
	e.hook.Close()
	e.metrics.Close()
	close(e.ended)
}

// same says whether the endpoint is already as c wants it, the content of its
// certificates and keys included.
func (e *endpoint) same(c config.Endpoint) bool {
	return reflect.DeepEqual(e.cfg, c) && e.files == filesDigest(c.TLS)
}

// stop drains the endpoint within these times. It is called once.
func (e *endpoint) stop(t stopTimes) {
	e.times = t
	close(e.stopped)
}

// run keeps the endpoint going until it is stopped, or killed by the end of
// ctx. Whatever is missing is waited for.
func (e *endpoint) run(ctx context.Context) {
	wait := minTryAgain
	for {
		w, err := e.prepare(ctx)
		if err == nil {
			wait = minTryAgain
			if err = e.deliver(ctx, w); err == nil {
				return
			}
		}
		select {
		case <-e.stopped:
			return // that is why
		default:
		}
		if reason := advised(err); e.setReason(reason) {
			e.log.Warn("endpoint does not run: trying again", "reason", reason)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
			wait = min(2*wait, maxTryAgain)
		case <-e.stopped:
			timer.Stop()
			return
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// setReason notes why the endpoint does not run, "" if it does, and says
// whether that is news.
func (e *endpoint) setReason(reason string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	news := e.reason != reason
	e.reason = reason
	return news
}
