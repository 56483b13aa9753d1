//go:build kafka && linux

package kafka

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// holdVariable makes TestHoldCluster hold the shared cluster of its process
// until that is killed.
const holdVariable = "SHAREHOOK_KAFKA_TEST_HOLD"

func TestHoldCluster(t *testing.T) {
	if os.Getenv(holdVariable) == "" {
		return // on its own it has nothing to show: see TestNodesDieWithTheTestProcess
	}
	fmt.Println(shared.Seeds[0])
	select {}
}

func TestNodesDieWithTheTestProcess(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), WaitTimeout)
	defer cancel()
	holder := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestHoldCluster$")
	// What it cannot remove any more goes with this test.
	holder.Env = append(os.Environ(), holdVariable+"=yes", "TMPDIR="+t.TempDir())
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("the other process says no address: %v", lines.Err())
	}
	seed := lines.Text()
	if !listens(seed) {
		t.Fatalf("no node listens on %q while the other process lives", seed)
	}
	cancel() // SIGKILL
	// The process was killed, and that is what Wait says.
	_ = holder.Wait()
	Wait(t, WaitTimeout, "the node to die with its process", func() bool { return !listens(seed) })
}

func listens(address string) bool {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(context.Background(), "tcp", address)
	if err == nil {
		conn.Close()
	}
	return err == nil
}
