package rig

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Process is a child of ours.
type Process struct {
	Name    string
	Started time.Time
	tb      testing.TB
	cmd     *exec.Cmd
	done    chan struct{} // closed when it has ended
	log     logLines
}

// Environment is ours without what would change the gateway.
func Environment() (env []string) {
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "OTEL_") && !strings.HasPrefix(variable, "SHAREHOOK_") {
			env = append(env, variable)
		}
	}
	return env
}

// Start runs a program, which is killed at the test's end at the latest. What
// it writes is kept. Env is added to Environment.
func Start(tb testing.TB, name string, env []string, program string, args ...string) *Process {
	tb.Helper()
	p := &Process{Name: name, tb: tb, done: make(chan struct{})}
	// It has no context: it ends by a signal, or when we do.
	p.cmd = exec.CommandContext(context.Background(), program, args...)
	p.cmd.Env = append(Environment(), env...)
	p.cmd.SysProcAttr = childAttributes()
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	began := make(chan error)
	p.Started = time.Now()
	go func() {
		defer close(p.done)
		// The parent-death signal comes when the thread that forked ends: so
		// it stays with the child.
		runtime.LockOSThread()
		err := p.cmd.Start()
		began <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is in ProcessState
		}
	}()
	if err := <-began; err != nil {
		tb.Fatalf("start %s: %v", name, err)
	}
	tb.Cleanup(func() {
		p.Kill()
		if tb.Failed() {
			tb.Logf("the end of the log of %s:\n%s", name, p.Tail())
		}
	})
	return p
}

// Signal reaches the process if it still runs.
func (p *Process) Signal(s syscall.Signal) {
	select {
	case <-p.done: // its id may be another's by now
	default:
		_ = p.cmd.Process.Signal(s)
	}
}

// Kill is kill -9, and waits for the end.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// Ended says whether it has.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Exit waits for the end and answers the exit code.
func (p *Process) Exit(within time.Duration) int {
	p.tb.Helper()
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-late.C:
		p.tb.Fatalf("%s has not ended after %s", p.Name, within)
		return -1
	}
}

// Text is all that it has written.
func (p *Process) Text() string { return p.log.text() }

// Tail is the end of what it has written, without the lines of single records,
// of which there may be thousands.
func (p *Process) Tail() string {
	const most = 30
	var lines []string
	for line := range strings.Lines(p.log.text()) {
		if !strings.Contains(line, `"msg":"delivery.`) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "")
}

// logLines keep what a process writes.
type logLines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write keeps what a process has written.
func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *logLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// Command runs a program to its end, two minutes at most.
func Command(tb testing.TB, program string, args ...string) (code int, stdout, stderr string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = Environment(), &out, &errs
	err := cmd.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		tb.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}
