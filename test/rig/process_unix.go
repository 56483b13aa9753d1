//go:build unix && !linux

package rig

import "syscall"

// childAttributes give a child a process group of its own. Only Linux can also
// make it die with us.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
