package kafka

import (
	"os/exec"
	"runtime"
	"syscall"
)

// process is a child that was started and may have ended.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it ended and was waited for
}

// startProcess starts a command that does not outlive us.
func startProcess(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = childAttributes()
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		defer close(p.done)
		// Linux sends the parent-death signal when the *thread* that forked
		// ends, not the process. So this thread stays with the child until
		// the child has ended, and is thrown away with the goroutine.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			// How it ended is no news: we signalled it, or its log says why.
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// signal reaches the child if it still runs.
func (p *process) signal(s syscall.Signal) {
	select {
	case <-p.done:
		// Its id may be another process's by now.
	default:
		_ = p.cmd.Process.Signal(s)
	}
}
