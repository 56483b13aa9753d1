package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/sharehook/sharehook/test/rig"
)

// row is a line of the table.
type row struct {
	name string
	rig.Account
	// openPosts were made while the breaker was open, and openRate is the
	// highest number a second of a replica; both negative: no breaker opened.
	openPosts int
	openRate  float64
	back      time.Duration // from an endpoint's return to 90 % of the earlier rate; 0: nobody was away
	note      string
}

// calm is a row of a scenario in which no breaker opens.
func calm(name string, a rig.Account, note string, args ...any) row {
	return row{name: name, Account: a, openPosts: -1, openRate: -1, note: fmt.Sprintf(note, args...)}
}

// failure is what is wrong with a scenario.
type failure struct {
	name string
	err  error
}

// report is the outcome of all scenarios.
type report struct {
	rows     []row
	failures []failure
}

// run runs a scenario. What it has added before it fails stays.
func (r *report) run(ctx context.Context, s scenario, b *bed) {
	progress("%s: %s", s.name, s.about)
	began := time.Now()
	log := func(line string) { progressLine(s.name + ": " + line) }
	err := rig.Try(ctx, log, func(tb testing.TB) { s.run(tb, b, r) })
	if err != nil {
		r.failures = append(r.failures, failure{s.name, err})
		progress("%s: FAILED: %v", s.name, err)
	}
	progress("%s: took %s", s.name, time.Since(began).Round(time.Second))
}

func (r *report) add(w row) {
	r.rows = append(r.rows, w)
	progress("%s: %d produced, %d accepted, %d dead, %d lost, %d duplicates. %s",
		w.name, w.Produced, w.Accepted, w.DeadCount(), w.Lost, len(w.Duplicates), w.note)
}

func (r *report) broken() bool { return len(r.failures) > 0 }

func (r *report) print(out io.Writer, seed uint64, took time.Duration) {
	fmt.Fprintf(out, "\nseed %d, %s\n\n", seed, took.Round(time.Second))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scenario\tproduced\taccepted\tdead\tfiltered\tlost\tduplicates\tmax count\tstall\topen POSTs\tper second\tback\tnote")
	for _, l := range r.rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n", l.name,
			l.Produced, l.Accepted, dead(l.Dead), l.Filtered, l.Lost, len(l.Duplicates), l.MaxDelivery, l.Stall.Round(10*time.Millisecond),
			unless(l.openPosts < 0, "%d", l.openPosts), unless(l.openRate < 0, "%.2f", l.openRate),
			unless(l.back == 0, "%.1fs", l.back.Seconds()), l.note)
	}
	_ = w.Flush() // to a person
	for _, f := range r.failures {
		fmt.Fprintf(out, "\nFAILED %s: %v\n", f.name, f.err)
	}
	if len(r.failures) == 0 {
		fmt.Fprintf(out, "\nnothing was lost, every bound holds\n")
	}
}

// dead are dead letters by cause.
func dead(causes map[string]int) string {
	if len(causes) == 0 {
		return "0"
	}
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(causes)) {
		parts = append(parts, fmt.Sprintf("%d %s", causes[cause], cause))
	}
	return strings.Join(parts, ", ")
}

// unless prints a value, or a dash where there is none.
func unless(none bool, format string, value any) string {
	if none {
		return "-"
	}
	return fmt.Sprintf(format, value)
}
