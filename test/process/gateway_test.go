//go:build kafka

package process

import (
	"strings"
	"testing"

	"github.com/sharehook/sharehook/test/rig"
)

// gateway is a running `sharehook run`.
type gateway = rig.Gateway

// readyWait bounds how long a gateway may take to be what it should be.
const readyWait = rig.ReadyWait

// start runs the gateway on a file. It is killed at the test's end at the
// latest.
func start(t *testing.T, path string, args ...string) *gateway {
	t.Helper()
	g := rig.Run(t, nil, program, path, args...)
	t.Cleanup(func() {
		g.Kill()
		if strings.Contains(g.Text(), "DATA RACE") {
			t.Errorf("the gateway has a data race:\n%s", g.Text())
		}
	})
	return g
}

// command runs another command to its end.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return rig.Command(t, program, args...)
}

// provision runs the command of that name, which must do well.
func provision(t *testing.T, path string) {
	t.Helper()
	rig.Provision(t, program, path)
}
