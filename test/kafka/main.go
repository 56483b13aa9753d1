package kafka

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a package around one shared cluster, which it puts
// into *c, and answers the exit code:
//
//	var cluster *kafka.Cluster
//
//	func TestMain(m *testing.M) { os.Exit(kafka.Main(m, kafka.Options{}, &cluster)) }
//
// When all tests passed and the cluster is gone it looks for goroutines that
// were left behind, since goleak.VerifyTestMain would look while the cluster
// still runs.
func Main(m *testing.M, o Options, c **Cluster) int {
	cluster, err := Run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer cluster.Close()
	*c = cluster
	code := m.Run()
	if code != 0 {
		fmt.Fprintln(os.Stderr, cluster.logTails())
	}
	cluster.Close()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}
