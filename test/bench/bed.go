package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/kafka"
)

// partitions of every topic.
const partitions = 8

// bed is what all scenarios share: the broker, the endpoint and the programs.
type bed struct {
	options   options
	dir       string
	sharehook string // the gateway's program
	kafka     *kafka.Cluster
	broker    int // process id
	endpoint  *control
}

// newBed builds and starts everything. The share-group settings of the broker
// are Kafka's own.
func newBed(ctx context.Context, o options) (_ *bed, err error) {
	b := &bed{options: o, sharehook: o.binary}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.dir, err = os.MkdirTemp("", "sharehook-bench-"); err != nil {
		return nil, err
	}
	if b.sharehook == "" {
		progress("building the gateway")
		b.sharehook = filepath.Join(b.dir, "sharehook")
		if err := build(ctx, b.sharehook); err != nil {
			return nil, err
		}
	}
	progress("starting Kafka")
	b.kafka, err = kafka.Run(kafka.Options{Production: true, Settings: map[string]string{
		// Backlogs are large: what is deleted goes at once.
		"log.segment.delete.delay.ms": "1000",
	}})
	if err != nil {
		return nil, err
	}
	if err := asTest(func(tb testing.TB) { b.broker = b.kafka.Pid(tb, 1) }); err != nil {
		return nil, err
	}
	b.endpoint, err = startEndpoint()
	return b, err
}

// build builds the gateway as it is released, without the stripping, so that a
// profiler can name what it sees.
func build(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "github.com/sharehook/sharehook/cmd/sharehook")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the gateway: %w\n%s", err, out)
	}
	return nil
}

// close ends every process and removes every file.
func (b *bed) close() {
	if b.endpoint != nil {
		_ = b.endpoint.child.stop() // by a signal, as it ends
	}
	if b.kafka != nil {
		b.kafka.Close()
	}
	if b.dir != "" {
		_ = os.RemoveAll(b.dir) // temporary anyway
	}
}

// setting says where the figures come from.
func (b *bed) setting() setting {
	version, _ := kafka.Version() // it is running, so it has one
	var out bytes.Buffer
	cmd := exec.Command(b.sharehook, "version") //nolint:noctx // it prints a line and ends
	cmd.Stdout = &out
	_ = cmd.Run() // then the line is empty
	return setting{
		Kafka: version, Gateway: string(bytes.TrimSpace(out.Bytes())), Go: runtime.Version(),
		CPUs: runtime.NumCPU(), Seconds: b.options.time.Seconds(), Runs: b.options.runs,
	}
}

// createTopic makes a topic for one run; remove deletes it with its backlog.
func (b *bed) createTopic() (topic string, remove func() error, err error) {
	topic = kafka.Name("bench")
	err = asTest(func(tb testing.TB) { b.kafka.CreateTopic(tb, topic, partitions, nil) })
	return topic, func() error {
		return asTest(func(tb testing.TB) { b.kafka.DeleteTopic(tb, topic) })
	}, err
}

// lagWait bounds how long a group may take to finish what was answered.
const lagWait = 40 * time.Second

// awaitLag waits until a group has finished a topic, and answers its lag.
func (b *bed) awaitLag(ctx context.Context, group, topic string) (lag int64, err error) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	late := time.NewTimer(lagWait)
	defer late.Stop()
	for {
		err := asTest(func(tb testing.TB) { lag = b.kafka.GroupLag(tb, group, topic) })
		if err != nil || lag == 0 {
			return lag, err
		}
		select {
		case <-ticker.C:
		case <-late.C:
			return lag, nil
		case <-ctx.Done():
			return lag, ctx.Err()
		}
	}
}

// asTest runs a helper of test/kafka, which ends a test when it fails, and
// makes that an error.
func asTest(do func(testing.TB)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(fatal)
			if !ok {
				panic(p)
			}
			err = f.err
		}
	}()
	do(noTest{})
	return nil
}

// noTest has of a test what the helpers use; the rest panics.
type noTest struct{ testing.TB }

type fatal struct{ err error }

func (noTest) Helper()                   {}
func (noTest) Fatal(args ...any)         { panic(fatal{errors.New(fmt.Sprint(args...))}) }
func (noTest) Fatalf(f string, a ...any) { panic(fatal{fmt.Errorf(f, a...)}) }
