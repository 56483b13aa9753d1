package gateway

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

func TestWhoIsGone(t *testing.T) {
	t.Parallel()
	me := instance{id: "host-1", namespace: "4026531836", pid: os.Getpid()}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	killed := exec.Command("sleep", "60")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lives(killed.Process.Pid) { // it ends in its own time; nobody has waited for it
		runtime.Gosched()
	}
	t.Cleanup(func() { _ = killed.Wait() })
	for _, tc := range []struct {
		name   string
		member instance
		base   string
		want   bool
	}{
		{"a process of this machine that has ended", instance{"host-1", "4026531836", ended.Process.Pid}, "sharehook", true},
		{"one that nobody has waited for", instance{"host-1", "4026531836", killed.Process.Pid}, "sharehook", true},
		{"one that lives", instance{"host-1", "4026531836", os.Getppid()}, "sharehook", false},
		{"one that had our number", instance{"host-1", "4026531836", os.Getpid()}, "sharehook", true},
		{"the container before this one", instance{"host-1", "4026532999", 1}, "sharehook", true},
		{"another replica", instance{"host-2", "4026532999", 1}, "sharehook", false},
		{"a replica whose id begins like ours", instance{"host-10", "4026532999", 1}, "sharehook", false},
		{"another client", instance{"host-1", "4026532999", 1}, "other", false},
		{"on a system without namespaces", instance{"host-1", unknownNamespace, 1}, "sharehook", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := me.gone("sharehook", tc.member.clientID(tc.base)); got != tc.want {
				t.Errorf("gone(%q) = %v, want %v", tc.member.clientID(tc.base), got, tc.want)
			}
		})
	}
	for _, strange := range []string{"", "sharehook", "sharehook/host-1/", "sharehook/host-1/4026531836", "sharehook/host-1/4026531836/x", "sharehook/host-1/4026531836/-1"} {
		if me.gone("sharehook", strange) {
			t.Errorf("gone(%q), want not", strange)
		}
	}
}
