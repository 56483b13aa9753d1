package main

import (
	"strings"
	"testing"
	"time"
)

func TestResults(t *testing.T) {
	var rs results
	for _, v := range []float64{90, 100, 80} {
		rs.add("load", []figure{
			{measure: "rate", unit: "rec/s", gateway: v, floor: 100, ratioGoal: atLeast(0.95)},
			{measure: "memory", unit: "MiB", gateway: v, alone: true, goal: atMost(90)},
			{measure: "longest", unit: "ms", gateway: v, alone: true, worst: true, goal: atMost(90)},
			{measure: lostMeasure, unit: "records", gateway: v - 80, worst: true},
		})
	}
	for i, want := range []struct {
		value float64
		text  string
	}{
		{90, ">= 0.95 x floor  MISSED"},
		{90, "<= 90 MiB  met"},
		{100, "<= 90 ms  MISSED"},
		{20, ""},
	} {
		r := rs.rows[i]
		if r.gateway() != want.value || r.verdictText() != want.text {
			t.Errorf("%s is %g, %q, want %g, %q", r.figures[0].measure, r.gateway(), r.verdictText(), want.value, want.text)
		}
	}
	if got := rs.lost(); got != 30 {
		t.Errorf("lost %d, want 30", got)
	}
	var out strings.Builder
	rs.print(&out, time.Second)
	if !strings.Contains(out.String(), "0.90") {
		t.Errorf("no ratio in\n%s", out.String())
	}
	out.Reset()
	if err := rs.writeJSON(&out); err != nil {
		t.Error(err)
	}
}

func TestMedianOfTwo(t *testing.T) {
	r := row{figures: []figure{{gateway: 1}, {gateway: 4}}}
	if got := r.gateway(); got != 2.5 {
		t.Errorf("the median of 1 and 4 is %g", got)
	}
}

func TestBacklogIsOfWholeBatches(t *testing.T) {
	for _, records := range []float64{0, 1, 399, 401, 33_032.3} {
		if n := backlog(records); n < 1 || n%(partitions*batchRecords) != 0 {
			t.Errorf("backlog of %g is %d", records, n)
		}
	}
}
