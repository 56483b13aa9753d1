//go:build unix && !linux

package kafka

import "syscall"

// childAttributes give a child a process group of its own. Only Linux can
// also make it die with us.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
