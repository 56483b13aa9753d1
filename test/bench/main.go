// Command bench measures the gateway against a real Kafka.
//
// Broker, endpoint, gateway and floor are processes of their own on loopback.
// The floor is the least that could do the work: a plain loop of kgo and
// net/http with as many workers, in which nothing is acknowledged and nothing
// is tried again. Floor and gateway get a backlog of the same records and the
// same answer times, one after the other in the same run, so that their ratio
// says something even where the machine is slow or busy.
//
// It is no test: it says what it saw and beside it what should be reached, and
// fails only when records were lost, or when it could not measure.
//
// What is measured of a backlog is measured while its middle 80 % are
// answered. "Load by others" is what else kept the machine busy meanwhile: from
// a tenth of a core on, rates are too low and say little. CPU time is that of the kernel's accounting of whole processes, so
// this needs Linux.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

// The program is also its own endpoint and floor: its first argument says so.
const (
	roleEndpoint = "as-endpoint"
	roleFloor    = "as-floor"
)

func main() { os.Exit(execute(os.Args[1:])) }

func execute(args []string) int {
	var err error
	switch {
	case len(args) > 0 && args[0] == roleEndpoint:
		err = serveEndpoint()
	case len(args) > 0 && args[0] == roleFloor:
		err = runFloor(args[1:])
	default:
		return measure(args)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %s: %v\n", args[0], err)
		return 1
	}
	return 0
}

// options are the flags.
type options struct {
	json   string
	only   *regexp.Regexp
	runs   int
	time   time.Duration
	binary string
}

func parse(args []string) (options, error) {
	var o options
	var only string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.json, "json", "", "also write the figures to this `file`")
	flags.StringVar(&only, "only", "", "run only the scenarios whose name matches this `expression`: "+scenarioNames())
	flags.IntVar(&o.runs, "runs", 1, "run everything so many times and take medians")
	flags.DurationVar(&o.time, "time", 20*time.Second, "about how long each measurement takes")
	flags.StringVar(&o.binary, "gateway", "", "measure this `program` instead of the one that is built from ./cmd/sharehook")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.only, err = regexp.Compile(only); err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	if o.runs < 1 || o.time < time.Second || flags.NArg() > 0 {
		return o, errors.New("-runs is 1 at least, -time 1s, and there are no arguments")
	}
	return o, nil
}

// measure runs the scenarios and answers the exit code.
func measure(args []string) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 2
	}
	// The first signal ends what runs in order; after it a second one ends
	// the program at once, and with it, by the kernel, its children.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	began := time.Now()
	var all results
	err = runAll(ctx, o, &all)
	all.print(os.Stdout, time.Since(began))
	if o.json != "" {
		err = errors.Join(err, writeFile(o.json, all.writeJSON))
	}
	if lost := all.lost(); lost > 0 {
		err = errors.Join(err, fmt.Errorf("%d records were lost", lost))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

// runAll runs each scenario as often as asked. What was measured before an
// error stays.
func runAll(ctx context.Context, o options, all *results) (err error) {
	b, err := newBed(ctx, o)
	if err != nil {
		return err
	}
	defer b.close()
	all.setting = b.setting()
	for run := range o.runs {
		for _, s := range scenarios() {
			if !o.only.MatchString(s.name) {
				continue
			}
			if o.runs > 1 {
				progress("run %d of %d: %s", run+1, o.runs, s.name)
			} else {
				progress("%s", s.name)
			}
			figures, err := s.run(ctx, b)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			all.add(s.name, figures)
		}
	}
	return nil
}

// progress tells the person who waits what is going on.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
