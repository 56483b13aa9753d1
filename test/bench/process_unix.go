//go:build unix && !linux

package main

import "syscall"

// childAttributes give a child a process group of its own.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
