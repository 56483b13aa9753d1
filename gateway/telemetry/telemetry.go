package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// scope names the instrumentation scope of the metrics that are pushed.
const scope = "github.com/sharehook/sharehook"

// Options say who we are. The zero value works.
//
// What is exported, and where to, is said by the standard OTEL_* variables of
// the process's environment: the exporters read them themselves, so that they
// cannot be passed in here.
type Options struct {
	// Version is the gateway's: service.version and sharehook_build_info.
	Version string
	// InstanceID is service.instance.id, different for every replica; a random
	// UUID if empty.
	InstanceID string
	// Logger gets the warnings of this package and the errors of the SDK; nil
	// means none.
	Logger *slog.Logger
}

// Telemetry holds the instruments and providers of one process.
type Telemetry struct {
	*instruments

	tracerProvider trace.TracerProvider
	propagator     propagation.TextMapPropagator

	stops []stop
	// cut ends every export that still runs.
	cut  context.CancelFunc
	once sync.Once
}

// stop flushes and ends one signal.
type stop struct {
	name string
	run  func(context.Context) error
}

// New makes the instruments, and the exporters that the environment asks for:
// none if no OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER or
// OTEL_EXPORTER_OTLP_* variable is set. It never connects to anything; a
// collector that is not there is an error in the log, later.
//
// It sets the error handler of OpenTelemetry, which is one for the process:
// the SDK has no other way to say that an export failed.
func New(ctx context.Context, opts Options) (*Telemetry, error) {
	logger := opts.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	logger = logger.With("component", "telemetry")
	otel.SetErrorHandler(newErrorLog(logger))

	exporting, cut := context.WithCancel(context.Background())
	t := &Telemetry{
		instruments:    newInstruments(opts.Version, logger),
		tracerProvider: offTracerProvider(),
		propagator:     propagators(logger),
		cut:            cut,
	}
	if disabled() {
		return t, nil
	}

	res := newResource(ctx, opts, logger)
	life := within(exporting)
	if err := t.exportTraces(ctx, res, life, logger); err != nil {
		cut()
		return nil, fmt.Errorf("set up the exporter of traces: %w; check the OTEL_* variables", err)
	}
	if err := t.pushMetrics(ctx, res, life, logger); err != nil {
		// What was built already must not be left running.
		return nil, errors.Join(
			fmt.Errorf("set up the exporter of metrics: %w; check the OTEL_* variables", err),
			t.Shutdown(ctx),
		)
	}
	return t, nil
}

// TracerProvider makes the spans. It is never nil: with no exporter of traces
// its spans are not recorded, but contexts are still carried on.
func (t *Telemetry) TracerProvider() trace.TracerProvider { return t.tracerProvider }

// Propagator reads and writes the trace context of records and requests, as
// OTEL_PROPAGATORS says: tracecontext and baggage by default.
func (t *Telemetry) Propagator() propagation.TextMapPropagator { return t.propagator }

// Handler answers /metrics.
func (t *Telemetry) Handler() http.Handler { return t.handler() }

// Shutdown flushes spans and metrics and stops the exporters. It returns when
// ctx ends at the latest: what a collector has not taken by then is dropped
// and the requests that carry it are cancelled. /metrics goes on working. A
// second call does nothing.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	var err error
	t.once.Do(func() { err = t.shutdown(ctx) })
	return err
}

// shutdown runs the stops side by side, since they share one short deadline
// and one collector that hangs must not cost the other signal its flush.
func (t *Telemetry) shutdown(ctx context.Context) error {
	defer t.cut()
	results := make(chan error, len(t.stops))
	for _, s := range t.stops {
		go func() {
			if err := s.run(ctx); err != nil {
				results <- fmt.Errorf("flush %s: %w", s.name, err)
				return
			}
			results <- nil
		}()
	}
	var errs []error
	for range t.stops {
		select {
		case err := <-results:
			errs = append(errs, err)
		case <-ctx.Done():
			// Not waited for any longer: cut ends them, and a console that
			// blocks cannot be ended at all.
			return errors.Join(append(errs, fmt.Errorf("flush telemetry: %w", context.Cause(ctx)))...)
		}
	}
	return errors.Join(errs...)
}
