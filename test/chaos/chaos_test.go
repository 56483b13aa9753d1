package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/rig"
)

func at(milliseconds int) time.Time { return time.UnixMilli(int64(milliseconds)) }

func TestBackAt(t *testing.T) {
	var times []time.Time
	for ms := 0; ms < 10_000; ms += 10 { // 100/s, but for a gap
		if ms < 3000 || ms >= 6000 {
			times = append(times, at(ms))
		}
	}
	if got := perSecond(times, at(1000), at(3000)); got != 100 {
		t.Errorf("%.1f/s, want 100", got)
	}
	if got := backAt(times, at(5500), 90); got < 1300*time.Millisecond || got > 1500*time.Millisecond {
		t.Errorf("back after %s, want 1.4 s: half a second of nothing, and 90 of a second's 100", got)
	}
	if got := backAt(times, at(5500), 200); got != 0 {
		t.Errorf("back after %s at a rate that it never had", got)
	}
}

func TestMostInASecond(t *testing.T) {
	posts := []rig.Post{
		{Replica: "a", At: at(0)}, {Replica: "b", At: at(1)}, {Replica: "a", At: at(1000)}, {Replica: "a", At: at(1999)}, {Replica: "b", At: at(3000)},
	}
	if got := mostInASecond(posts); got != 2 {
		t.Errorf("%d in a second, want 2", got)
	}
}

func TestFlags(t *testing.T) {
	if o, err := parse([]string{"-short"}); err != nil || o.time != 20*time.Second || o.seed == 0 || !o.only.MatchString("outage") {
		t.Errorf("%+v, %v", o, err)
	}
	for _, wrong := range [][]string{{"-only", "("}, {"-time", "1s"}, {"word"}} {
		if _, err := parse(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	if code := execute([]string{"-time", "1s"}); code != 2 {
		t.Errorf("wrong use exits %d, want 2", code)
	}
}

func TestReport(t *testing.T) {
	var r report
	a := rig.Account{Produced: 10, Accepted: 8, Lost: 1, Dead: map[string]int{"rejected": 1}}
	r.run(t.Context(), scenario{name: "fails", run: func(tb testing.TB, _ *bed, r *report) {
		r.add(calm("fails", a, "note %d", 1))
		tb.Fatal("a record is lost")
	}}, nil)
	if !r.broken() {
		t.Error("it is not broken")
	}
	var out bytes.Buffer
	r.print(&out, 7, time.Second)
	for _, want := range []string{"seed 7", "1 rejected", "note 1", "FAILED fails: a record is lost"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)
	var r report
	r.run(ctx, scenario{name: "long", run: func(tb testing.TB, _ *bed, _ *report) { rig.Pass(tb, time.Hour) }}, nil)
	if !r.broken() || r.failures[0].err.Error() != errInterrupted.Error() && !errors.Is(r.failures[0].err, errInterrupted) {
		t.Errorf("failures are %v", r.failures)
	}
}
