package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopWait bounds how long a child may take to end on SIGTERM. The gateway's
// grace is 25 s.
const stopWait = 40 * time.Second

// child is a process of ours.
type child struct {
	name string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // how, when done is closed
	log  logTail
}

// startChild runs a program without exporters, whatever our environment says.
// Its standard error is kept, and its standard output unless stdout is given.
func startChild(name string, stdout io.Writer, program string, args ...string) (*child, error) {
	// It has no context: it is ended by stop, which gives it time.
	c := &child{name: name, cmd: exec.CommandContext(context.Background(), program, args...), done: make(chan struct{})}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "OTEL_") && !strings.HasPrefix(variable, "SHAREHOOK_") {
			c.cmd.Env = append(c.cmd.Env, variable)
		}
	}
	c.cmd.SysProcAttr = childAttributes()
	c.cmd.Stdout, c.cmd.Stderr = stdout, &c.log
	if stdout == nil {
		c.cmd.Stdout = &c.log
	}
	started := make(chan error)
	go func() {
		defer close(c.done)
		// The parent-death signal comes when the thread that forked ends: so
		// it stays with the child.
		runtime.LockOSThread()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			c.err = c.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// ended says whether it has, and if so what it said last.
func (c *child) ended() error {
	select {
	case <-c.done:
		return fmt.Errorf("%s has ended (%s); it said last:\n%s", c.name, c.cmd.ProcessState, c.log.String())
	default:
		return nil
	}
}

// stop ends it, by force when that takes too long, and says how it ended. A
// signal is how floor and endpoint end.
func (c *child) stop() error {
	select {
	case <-c.done: // its id may be another's by now
		return c.err
	default:
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	late := time.NewTimer(stopWait)
	defer late.Stop()
	select {
	case <-c.done:
		return c.err
	case <-late.C:
	}
	_ = c.cmd.Process.Kill()
	<-c.done
	return fmt.Errorf("%s did not end within %s; it said last:\n%s", c.name, stopWait, c.log.String())
}

// logTail keeps the end of what is written to it.
type logTail struct {
	mu  sync.Mutex
	end []byte
}

const logTailBytes = 8 << 10

func (t *logTail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p...)
	if over := len(t.end) - logTailBytes; over > 0 {
		t.end = bytes.Clone(t.end[over:])
	}
	return len(p), nil
}

func (t *logTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.end)
}
