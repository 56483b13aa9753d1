package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU time in /proc: USER_HZ is 100 everywhere.
const tick = 10 * time.Millisecond

// cpuTime is the CPU time that a process has used so far.
func cpuTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("read the CPU time of a process: %w", err)
	}
	return parseCPUTime(string(stat))
}

func parseCPUTime(stat string) (time.Duration, error) {
	// The second field is the program's name in brackets and may hold
	// anything; from the third on all are plain.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const user, system = 14 - 3, 15 - 3
	if len(fields) <= system {
		return 0, fmt.Errorf("read the CPU time of a process: %q is too short", stat)
	}
	var ticks int64
	for _, field := range []string{fields[user], fields[system]} {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the CPU time of a process: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

// busyTime is the CPU time that all processes together have used so far, and
// what the machine beneath a virtual one took away.
func busyTime() (time.Duration, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("read the CPU time of the machine: %w", err)
	}
	return parseBusyTime(string(stat))
}

func parseBusyTime(stat string) (time.Duration, error) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	// cpu user nice system idle iowait irq softirq steal; what follows is
	// part of user and nice.
	const idle, iowait, steal = 4, 5, 8
	if len(fields) <= steal || fields[0] != "cpu" {
		return 0, fmt.Errorf("read the CPU time of the machine: %q", line)
	}
	var ticks int64
	for i, field := range fields[:steal+1] {
		if i == 0 || i == idle || i == iowait {
			continue
		}
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the CPU time of the machine: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

// memory is what a process has in RAM, in bytes.
type memory struct{ now, peak int64 }

func memoryOf(pid int) (memory, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, fmt.Errorf("read the memory of a process: %w", err)
	}
	return parseMemory(string(status))
}

func parseMemory(status string) (m memory, err error) {
	for line := range strings.Lines(status) {
		name, rest, _ := strings.Cut(line, ":")
		var into *int64
		switch name {
		case "VmRSS":
			into = &m.now
		case "VmHWM":
			into = &m.peak
		default:
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return memory{}, fmt.Errorf("read the memory of a process: %s: %w", name, err)
		}
		*into = kib << 10
	}
	if m.now == 0 || m.peak == 0 {
		return memory{}, fmt.Errorf("read the memory of a process: it has none, so it has ended")
	}
	return m, nil
}
