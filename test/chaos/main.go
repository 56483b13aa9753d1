// Command chaos breaks things around the gateway and keeps a ledger.
//
// Two replicas of the built program deliver the records of a real Kafka, on one
// node or three, to endpoints in this program, while endpoints, replicas,
// brokers and rights go away and come back. At the end a table says, scenario
// by scenario, what became of each record that was produced. It fails when a
// record was lost or a bound was broken.
//
// All is on loopback, every wait is bounded, and every process that was started
// is ended by its id, after a Ctrl-C too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/rig"
)

func main() { os.Exit(execute(os.Args[1:])) }

// options are the flags.
type options struct {
	only   *regexp.Regexp
	seed   uint64
	time   time.Duration
	short  bool
	binary string
}

func parse(args []string) (options, error) {
	var o options
	var only string
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.StringVar(&only, "only", "", "run only the scenarios whose name matches this `expression`: "+scenarioNames())
	flags.Uint64Var(&o.seed, "seed", 0, "what strikes whom and when follows from this `number`; 0: the time")
	flags.DurationVar(&o.time, "time", time.Minute, "how long an outage is, and how long things are broken again and again")
	flags.BoolVar(&o.short, "short", false, "only what takes less than four minutes in all, with an outage of 20s")
	flags.StringVar(&o.binary, "gateway", "", "run this `program` instead of the one that is built from ./cmd/sharehook")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.only, err = regexp.Compile(only); err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	if o.time < 10*time.Second || flags.NArg() > 0 {
		return o, errors.New("-time is 10s at least, and there are no arguments")
	}
	if o.short {
		o.time = min(o.time, 20*time.Second)
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano()) % 1e6
	}
	return o, nil
}

// errInterrupted is why waits end early.
var errInterrupted = errors.New("interrupted")

// execute runs the scenarios and answers the exit code.
func execute(args []string) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		return 2
	}
	// The first signal ends what runs in order; a second one ends the program
	// at once, and with it, by the kernel, its children.
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(signals, func() {
		stop()
		cancel(errInterrupted)
	})

	began := time.Now()
	var results report
	err = rig.Try(ctx, progressLine, func(tb testing.TB) {
		b := newBed(tb, o)
		for _, s := range scenarios() {
			if o.only.MatchString(s.name) && (s.short || !o.short) {
				results.run(ctx, s, b)
			}
			if ctx.Err() != nil {
				return
			}
		}
	})
	results.print(os.Stdout, o.seed, time.Since(began))
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
	}
	if err != nil || ctx.Err() != nil || results.broken() {
		return 1
	}
	return 0
}

// progress tells the person who waits what is going on.
func progress(format string, args ...any) { progressLine(fmt.Sprintf(format, args...)) }

func progressLine(line string) {
	fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), line)
}
