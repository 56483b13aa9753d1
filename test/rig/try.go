package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// Try runs what is written for a test outside of one. What fails does not end
// the program but is the error, all of it joined. Logged lines go to log, which
// may be nil. Helpers that wait end when ctx does.
func Try(ctx context.Context, log func(string), do func(testing.TB)) (err error) {
	t := &trial{ctx: ctx, log: log}
	defer func() {
		t.clean()
		err = errors.Join(t.errs...)
	}()
	defer t.recovered()
	do(t)
	return nil
}

// trial has of a test what helpers use; the rest panics.
type trial struct {
	testing.TB
	ctx context.Context //nolint:containedctx // testing.TB answers one
	log func(string)

	mu       sync.Mutex
	errs     []error
	cleanups []func()
}

// over is what Fatal throws.
type over struct{}

// recovered ends the way up of a Fatal.
func (t *trial) recovered() {
	if p := recover(); p != nil {
		if _, ok := p.(over); !ok {
			t.clean() // no process outlives us
			panic(p)
		}
	}
}

// clean runs what was registered, the last first.
func (t *trial) clean() {
	for {
		t.mu.Lock()
		n := len(t.cleanups)
		if n == 0 {
			t.mu.Unlock()
			return
		}
		next := t.cleanups[n-1]
		t.cleanups = slices.Delete(t.cleanups, n-1, n)
		t.mu.Unlock()
		func() {
			defer t.recovered()
			next()
		}()
	}
}

func (t *trial) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errs = append(t.errs, err)
}

func (t *trial) Helper()                           {}
func (t *trial) Context() context.Context          { return t.ctx }
func (t *trial) Error(args ...any)                 { t.fail(errors.New(fmt.Sprint(args...))) }
func (t *trial) Errorf(format string, args ...any) { t.fail(fmt.Errorf(format, args...)) }

func (t *trial) Fatal(args ...any) {
	t.Error(args...)
	panic(over{})
}

func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(over{})
}

func (t *trial) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.errs) > 0
}

func (t *trial) Log(args ...any) {
	if t.log != nil {
		t.log(fmt.Sprint(args...))
	}
}

func (t *trial) Logf(format string, args ...any) { t.Log(fmt.Sprintf(format, args...)) }

func (t *trial) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

func (t *trial) TempDir() string {
	dir, err := os.MkdirTemp("", "sharehook-rig-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
