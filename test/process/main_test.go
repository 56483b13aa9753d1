//go:build kafka

package process

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/kafka"
)

var (
	// shared is the cluster of the scenarios that do nothing to it: one node,
	// short times.
	shared *kafka.Cluster
	// program is the built sharehook, with the race detector.
	program string
)

// patient keeps a lone broker from being taken for dead, by itself, when the
// machine has no time for it.
var patient = map[string]string{"broker.session.timeout.ms": "45000"}

// busy is the time for what takes a second when nothing else runs. These
// scenarios run beside each other, and beside other packages' tests.
const busy = 3 * time.Second

// beside is how many scenarios run at a time. They wait much more than they
// compute.
const beside = "8"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if !given("test.parallel") {
		if err := flag.Set("test.parallel", beside); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "sharehook-process-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "sharehook")
	build := exec.CommandContext(context.Background(), "go", "build", "-race", "-o", program, "github.com/sharehook/sharehook/cmd/sharehook")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build sharehook: %v\n%s", err, out)
		return 1
	}
	return kafka.Main(m, kafka.Options{Settings: patient}, &shared)
}

// given says whether a flag stands on the command line.
func given(name string) (found bool) {
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}
