//go:build kafka && unix && !linux

package process

import "syscall"

// childAttributes keep a Ctrl-C at the terminal from a child.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
