package kafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// prepareInstallation finds Kafka and makes, once per machine, what lets each
// later start be quick: the snapshot that formatting a node writes, which
// spares a Java program per node, and an archive of loaded classes, which
// halves a node's start. Both lie beside the jars.
func prepareInstallation() (*installation, error) {
	inst, err := findInstallation()
	if err != nil {
		return nil, err
	}
	// Two test processes would both do it; the second waits and finds it done.
	unlock, err := lockFile(filepath.Join(inst.home, "lock"))
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w; the folder must be writable", inst.home, err)
	}
	defer unlock()

	if err := replaceFile(inst.log4jPath(), log4j); err != nil {
		return nil, err
	}
	if inst.bootstrap, err = inst.format(); err != nil {
		return nil, fmt.Errorf("format a node: %w", err)
	}
	// Only time is lost without an archive.
	if inst.archive, err = inst.train(); err != nil {
		fmt.Fprintln(os.Stderr, "kafka starts without a class archive:", err)
	}
	return inst, nil
}

// lockFile waits for an exclusive lock; it ends with the process at the latest.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// replaceFile writes a file that nobody ever sees in part.
func replaceFile(path string, content []byte) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, content, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// bootstrapFile is where formatting writes, inside the data folder, which
// feature levels the cluster begins with: the first snapshot of its metadata.
const bootstrapFile = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"

// format answers the snapshot that Kafka's storage tool writes. It is the same
// for every node.
func (inst *installation) format() (string, error) {
	if have, err := os.ReadFile(inst.bootstrapPath()); err == nil {
		return string(have), nil
	}
	dir, err := os.MkdirTemp("", "sharehook-kafka-format-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	layout := newLayout([]int{lowestPort, lowestPort + 1}) // nothing listens
	props := serverProperties(layout, layout[0], Options{})
	props["log.dirs"] = filepath.Join(dir, "data")
	properties := filepath.Join(dir, "server.properties")
	if err := os.WriteFile(properties, []byte(formatProperties(props)), 0o644); err != nil {
		return "", err
	}
	args := append(inst.jvmArgs("64m"), "kafka.tools.StorageTool", "format", "-t", clusterID, "-c", properties)
	if out, err := exec.CommandContext(context.Background(), inst.java, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	checkpoint, err := os.ReadFile(filepath.Join(props["log.dirs"], bootstrapFile))
	if err != nil {
		return "", err
	}
	return string(checkpoint), replaceFile(inst.bootstrapPath(), checkpoint)
}

// train answers the path of the class archive. If there is none, it runs a
// node through what tests do with nodes and has Java write down which classes
// that took.
func (inst *installation) train() (string, error) {
	path, err := inst.archivePath()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	ports, err := freePorts(2)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "sharehook-kafka-train-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	layout := newLayout(ports)
	n, err := newNode(inst, dir, layout[0], serverProperties(layout, layout[0], Options{}))
	if err != nil {
		return "", err
	}
	if err := n.start("-XX:ArchiveClassesAtExit=" + path + ".new"); err != nil {
		return "", err
	}
	defer n.kill()
	if err := n.waitReady(1); err != nil {
		return "", err
	}
	if err := exercise(n.place.broker()); err != nil {
		return "", err
	}
	// Java writes the archive before it ends: some seconds.
	n.proc.signal(syscall.SIGTERM)
	select {
	case <-n.proc.done:
	case <-time.After(startTimeout):
		return "", errors.New("writing the archive takes too long")
	}
	return path, os.Rename(path+".new", path)
}

// exercise sends one record through a share group.
func exercise(seed string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	const topic, group = "training", "training"
	cl, err := kgo.NewClient(kgo.SeedBrokers(seed), kgo.ShareGroup(group), kgo.ConsumeTopics(topic))
	if err != nil {
		return err
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	if _, err := admin.CreateTopic(ctx, 1, 1, nil, topic); err != nil {
		return err
	}
	for {
		// The group starts at the end of the topic: what comes too early is
		// not for it.
		r := kgo.Record{Topic: topic, Value: []byte("training")}
		if err := cl.ProduceSync(ctx, &r).FirstErr(); err != nil {
			return err
		}
		poll, done := context.WithTimeout(ctx, time.Second)
		fetches := cl.PollFetches(poll)
		done()
		if fetches.NumRecords() > 0 {
			fetches.EachRecord(func(r *kgo.Record) { r.Ack(kgo.AckAccept) })
			return cl.FlushAcks(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
