//go:build kafka

package process

import "syscall"

// childAttributes make a child die with us, and keep a Ctrl-C at the terminal
// from it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
