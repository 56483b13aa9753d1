package rig

import "syscall"

// childAttributes make a child die with us, and give it a process group of its
// own: a Ctrl-C at the terminal is for us, who then end our children.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
