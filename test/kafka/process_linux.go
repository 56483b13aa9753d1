package kafka

import "syscall"

// childAttributes make a child die with us, and give it a process group of its
// own: a Ctrl-C at the terminal is for the test, which then ends its nodes.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
