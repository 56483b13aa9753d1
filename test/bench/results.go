package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// lostMeasure is the one figure that decides over success.
const lostMeasure = "lost"

// target is a bound that is to be kept; the zero target is none.
type target struct {
	op    string
	value float64
}

func atLeast(v float64) target { return target{">=", v} }
func atMost(v float64) target  { return target{"<=", v} }

func (t target) exists() bool { return t.op != "" }

func (t target) met(v float64) bool {
	if t.op == ">=" {
		return v >= t.value
	}
	return v <= t.value
}

// figure is one measurement of one run.
type figure struct {
	measure, unit  string
	gateway, floor float64
	alone          bool   // there is no floor
	noRatio        bool   // to divide by the floor says nothing
	goal           target // of gateway
	ratioGoal      target // of gateway divided by floor
	worst          bool   // of several runs the worst counts, else the median
	notes          []string
}

// setting is what figures depend on.
type setting struct {
	Kafka   string  `json:"kafka"`
	Gateway string  `json:"gateway"`
	Go      string  `json:"go"`
	CPUs    int     `json:"cpus"`
	Seconds float64 `json:"seconds"`
	Runs    int     `json:"runs"`
}

// row is one measure of a scenario over all runs.
type row struct {
	scenario string
	figures  []figure
}

// results are all rows, in the order of measuring.
type results struct {
	setting setting
	rows    []*row
}

func (rs *results) add(scenario string, figures []figure) {
	for _, f := range figures {
		i := slices.IndexFunc(rs.rows, func(r *row) bool {
			return r.scenario == scenario && r.figures[0].measure == f.measure
		})
		if i < 0 {
			rs.rows = append(rs.rows, &row{scenario: scenario})
			i = len(rs.rows) - 1
		}
		rs.rows[i].figures = append(rs.rows[i].figures, f)
	}
}

// lost is how many records the gateway lost in all.
func (rs *results) lost() int {
	lost := 0
	for _, r := range rs.rows {
		for _, f := range r.figures {
			if f.measure == lostMeasure {
				lost += int(f.gateway)
			}
		}
	}
	return lost
}

// of is the one value for all runs.
func (r *row) of(value func(figure) float64) float64 {
	values := make([]float64, 0, len(r.figures))
	for _, f := range r.figures {
		values = append(values, value(f))
	}
	slices.Sort(values)
	if r.figures[0].worst {
		return values[len(values)-1]
	}
	middle := len(values) / 2
	if len(values)%2 == 0 {
		return (values[middle-1] + values[middle]) / 2
	}
	return values[middle]
}

func (r *row) gateway() float64 { return r.of(func(f figure) float64 { return f.gateway }) }
func (r *row) floor() float64   { return r.of(func(f figure) float64 { return f.floor }) }

// ratio is to the floor of the same run; NaN where there is none.
func (r *row) ratio() float64 {
	return r.of(func(f figure) float64 {
		if f.alone || f.noRatio || f.floor == 0 {
			return math.NaN()
		}
		return f.gateway / f.floor
	})
}

// verdict says what is to be reached and whether it was.
func (r *row) verdict() (goal string, met, exists bool) {
	first := r.figures[0]
	switch {
	case first.goal.exists():
		return fmt.Sprintf("%s %g %s", first.goal.op, first.goal.value, first.unit), first.goal.met(r.gateway()), true
	case first.ratioGoal.exists():
		return fmt.Sprintf("%s %g x floor", first.ratioGoal.op, first.ratioGoal.value), first.ratioGoal.met(r.ratio()), true
	default:
		return "", false, false
	}
}

// print writes the table.
func (rs *results) print(w io.Writer, took time.Duration) {
	if len(rs.rows) == 0 {
		return
	}
	s := rs.setting
	fmt.Fprintf(w, "\nKafka %s, %s, %d CPUs, %d runs of about %.0f s, %s in all\n",
		s.Kafka, s.Gateway, s.CPUs, s.Runs, s.Seconds, took.Round(time.Second))
	fmt.Fprintf(w, "records of 1 KiB, batches of %d, %d partitions; W/answer time; floor: kgo and net/http, nothing acknowledged\n\n",
		batchRecords, partitions)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "scenario\tmeasure\tgateway\tfloor\tratio\tunit\tgoal\t")
	last := ""
	for _, r := range rs.rows {
		name := r.scenario
		if name == last {
			name = ""
		}
		last = r.scenario
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, r.figures[0].measure,
			number(r.gateway()), r.floorText(), r.ratioText(), r.figures[0].unit, r.verdictText())
	}
	// A writer that fails shows itself to whoever reads.
	_ = t.Flush()
	rs.printNotes(w)
}

func (r *row) floorText() string {
	if r.figures[0].alone {
		return "-"
	}
	return number(r.floor())
}

func (r *row) ratioText() string {
	if ratio := r.ratio(); !math.IsNaN(ratio) {
		return fmt.Sprintf("%.2f", ratio)
	}
	return "-"
}

func (r *row) verdictText() string {
	goal, met, exists := r.verdict()
	switch {
	case !exists:
		return ""
	case met:
		return goal + "  met"
	default:
		return goal + "  MISSED"
	}
}

func (rs *results) printNotes(w io.Writer) {
	for _, r := range rs.rows {
		for run, f := range r.figures {
			if len(f.notes) > 0 {
				fmt.Fprintf(w, "%s, run %d: %s\n", r.scenario, run+1, strings.Join(f.notes, "; "))
			}
		}
	}
}

// number has three digits that count.
func number(v float64) string {
	switch {
	case v == math.Trunc(v) || math.Abs(v) >= 100:
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// writeJSON writes all figures of all runs.
func (rs *results) writeJSON(w io.Writer) error {
	type jsonRow struct {
		Scenario string   `json:"scenario"`
		Measure  string   `json:"measure"`
		Unit     string   `json:"unit"`
		Gateway  float64  `json:"gateway"`
		Floor    *float64 `json:"floor,omitempty"`
		Ratio    *float64 `json:"ratio,omitempty"`
		Goal     string   `json:"goal,omitempty"`
		Met      *bool    `json:"met,omitempty"`
		// All runs of the gateway and of the floor.
		Runs      []float64 `json:"runs"`
		FloorRuns []float64 `json:"floor_runs,omitempty"`
		Notes     []string  `json:"notes,omitempty"`
	}
	rows := make([]jsonRow, 0, len(rs.rows))
	for _, r := range rs.rows {
		row := jsonRow{Scenario: r.scenario, Measure: r.figures[0].measure, Unit: r.figures[0].unit, Gateway: r.gateway()}
		if floor := r.floor(); !r.figures[0].alone {
			row.Floor = &floor
		}
		if ratio := r.ratio(); !math.IsNaN(ratio) {
			row.Ratio = &ratio
		}
		if goal, met, exists := r.verdict(); exists {
			row.Goal, row.Met = goal, &met
		}
		for _, f := range r.figures {
			row.Runs = append(row.Runs, f.gateway)
			if !f.alone {
				row.FloorRuns = append(row.FloorRuns, f.floor)
			}
			row.Notes = append(row.Notes, f.notes...)
		}
		rows = append(rows, row)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Setting setting   `json:"setting"`
		Rows    []jsonRow `json:"rows"`
	}{rs.setting, rows})
}
