package kafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// startTimeout bounds one node's start; it takes 1 to 3 s, more when
	// three start on two busy cores.
	startTimeout = 90 * time.Second
	// stopTimeout bounds an orderly stop, which takes 0.4 s where the
	// cluster keeps its quorum and forever where not.
	stopTimeout = 15 * time.Second
	// askInterval is the time between two questions to a starting node.
	askInterval = 25 * time.Millisecond
	// logTailBytes of a node's log are shown on failure.
	logTailBytes = 6 << 10
)

// errNodeEnded: a node ended before it was ready.
var errNodeEnded = errors.New("the node ended")

// node is one Kafka server of a cluster; it may be down.
type node struct {
	inst  *installation
	place place
	dir   string
	proc  *process // nil before the first start
}

// newNode lays out a node's folder as if formatted by Kafka's storage tool.
func newNode(inst *installation, dir string, at place, props map[string]string) (*node, error) {
	n := &node{inst: inst, place: at, dir: dir}
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(filepath.Join(data, filepath.Dir(bootstrapFile)), 0o755); err != nil {
		return nil, err
	}
	props["log.dirs"] = data
	files := map[string]string{
		n.propertiesPath():                     formatProperties(props),
		filepath.Join(data, "meta.properties"): metaProperties(at.id),
		filepath.Join(data, bootstrapFile):     inst.bootstrap,
	}
	for path, content := range files {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (n *node) propertiesPath() string { return filepath.Join(n.dir, "server.properties") }
func (n *node) logPath() string        { return filepath.Join(n.dir, "server.log") }

// start starts the server, appending to its log, and does not wait for it.
func (n *node) start(jvm ...string) error {
	log, err := os.OpenFile(n.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close() // the child has its own handle
	args := n.inst.serverArgs(jvm, n.propertiesPath())
	cmd := exec.CommandContext(context.Background(), n.inst.java, args...)
	cmd.Dir = n.dir
	cmd.Stdout, cmd.Stderr = log, log
	n.proc, err = startProcess(cmd)
	if err != nil {
		return fmt.Errorf("start node %d: %w", n.place.id, err)
	}
	return nil
}

// waitReady waits until the node answers, and sees itself and at least want
// nodes in all. A node is seen when the controller has let it in.
func (n *node) waitReady(want int) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(n.place.broker()), kgo.DialTimeout(time.Second))
	if err != nil {
		return err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	ask := time.NewTicker(askInterval)
	defer ask.Stop()
	for {
		if seen := n.seen(ctx, cl); len(seen) >= want && seen[n.place.id] {
			return nil
		}
		select {
		case <-ask.C:
		case <-n.proc.done:
			return fmt.Errorf("node %d: %w; its log ends so:\n%s", n.place.id, errNodeEnded, n.logTail())
		case <-ctx.Done():
			return fmt.Errorf("node %d is not ready after %s; its log ends so:\n%s", n.place.id, startTimeout, n.logTail())
		}
	}
}

// seen asks the node which nodes it knows to be up; none while it is silent.
func (n *node) seen(ctx context.Context, cl *kgo.Client) map[int32]bool {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none; nil would be all
	resp, err := cl.SeedBrokers()[0].Request(ctx, req)
	if err != nil {
		return nil
	}
	seen := make(map[int32]bool)
	for _, b := range resp.(*kmsg.MetadataResponse).Brokers {
		seen[b.NodeID] = true
	}
	return seen
}

// stop ends the node in order, and by force when that takes too long.
func (n *node) stop() {
	n.proc.signal(syscall.SIGTERM)
	late := time.NewTimer(stopTimeout)
	defer late.Stop()
	select {
	case <-n.proc.done:
	case <-late.C:
		n.kill()
	}
}

// kill ends the node at once; a paused one too. It is harmless twice.
func (n *node) kill() {
	if n.proc == nil {
		return
	}
	n.proc.signal(syscall.SIGKILL)
	<-n.proc.done
}

// logTail is the end of the log, from the start of a line.
func (n *node) logTail() string {
	log, err := os.ReadFile(n.logPath())
	if err != nil {
		return err.Error()
	}
	if len(log) > logTailBytes {
		_, tail, _ := strings.Cut(string(log[len(log)-logTailBytes:]), "\n")
		return tail
	}
	return string(log)
}

// metaProperties is what formatting writes for a node. The cluster's id is
// the same in all of them; only the folder's must be its own.
func metaProperties(id int32) string {
	return formatProperties(map[string]string{
		"version":      "1",
		"cluster.id":   clusterID,
		"node.id":      fmt.Sprint(id),
		"directory.id": kafkaUUID(uuid.New()),
	})
}
