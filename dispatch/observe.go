package dispatch

import (
	"context"
	"log/slog"
	"runtime/debug"
)

// watched calls an Observer and survives its panics: a fault in telemetry must
// not have a record delivered twice, nor take the process down.
type watched struct {
	observer Observer
	log      *slog.Logger
}

func (w watched) Started(ctx context.Context, r Record) (started context.Context) {
	defer func() {
		if started == nil {
			started = ctx // it panicked, or forgot to return one
		}
	}()
	defer w.survive(ctx)
	return w.observer.Started(ctx, r)
}

func (w watched) Attempted(ctx context.Context, r Record, n int, a Answer) {
	defer w.survive(ctx)
	w.observer.Attempted(ctx, r, n, a)
}

func (w watched) Waiting(ctx context.Context, r Record, wait Wait) {
	defer w.survive(ctx)
	w.observer.Waiting(ctx, r, wait)
}

func (w watched) Finished(ctx context.Context, r Record, o Outcome, err error) {
	defer w.survive(ctx)
	w.observer.Finished(ctx, r, o, err)
}

func (w watched) BreakerChanged(c BreakerChange) {
	defer w.survive(context.Background())
	w.observer.BreakerChanged(c)
}

// survive is to be deferred.
func (w watched) survive(ctx context.Context) {
	if p := recover(); p != nil {
		logPanic(ctx, w.log, "observer", p)
	}
}

// logPanic must be called by the deferred function, while the stack is that
// of the panic.
func logPanic(ctx context.Context, log *slog.Logger, where string, p any) {
	log.ErrorContext(ctx, "panic survived", "where", where, "panic", p, "stack", string(debug.Stack()))
}
