package main

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestDealKeepsTheProfile(t *testing.T) {
	for _, p := range []profile{instant, steady, tail} {
		const n = 5_000
		waits := p.deal(n)
		if len(waits) != n {
			t.Fatalf("%s: dealt %d, want %d", p.name, len(waits), n)
		}
		var sum time.Duration
		for _, wait := range waits {
			sum += wait
		}
		if got := sum / n; got != p.mean() {
			t.Errorf("%s: the mean of what was dealt is %s, that of the profile %s", p.name, got, p.mean())
		}
		again := p.deal(n)
		for i := range waits {
			if waits[i] != again[i] {
				t.Fatalf("%s: record %d waits %s, and at the next run %s", p.name, i, waits[i], again[i])
			}
		}
	}
	if got, want := tail.mean(), 38750*time.Microsecond; got != want {
		t.Errorf("the mean of the tail is %s, want %s", got, want)
	}
}

func TestValue(t *testing.T) {
	now := time.Unix(1_790_000_000, 123)
	value := newValue(4711, now)
	number, produced, ok := parseValue(value)
	if !ok || number != 4711 || !produced.Equal(now) || len(value) != valueBytes {
		t.Errorf("parsed %d, %s, %t out of %d bytes", number, produced, ok, len(value))
	}
	for _, bad := range [][]byte{nil, value[1:], padding} {
		if _, _, ok := parseValue(bad); ok {
			t.Errorf("%.20q passes for a value", bad)
		}
	}
}

func TestLedger(t *testing.T) {
	const records = 100
	l := newLedger(records, steady)
	l.watch([]int{os.Getpid()})
	now := time.Now()
	post := func(number int, age time.Duration) {
		id := fmt.Appendf(nil, "id-%d", number)
		wait, first := l.arrive(id, newValue(number, now.Add(-age)), now)
		if wait != 20*time.Millisecond {
			t.Fatalf("record %d waits %s", number, wait)
		}
		if first {
			l.answer()
		}
	}
	for number := range records - 1 { // the last one is lost
		post(number, time.Duration(number+1)*time.Millisecond)
	}
	post(7, time.Hour) // a duplicate, whose age does not count
	l.arrive(nil, []byte("what is this"), now)

	r := l.report()
	if r.Posts != records+1 || r.Distinct != records-1 || r.Duplicates != 1 || r.Foreign != 1 || r.IDs != records-1 {
		t.Errorf("report %+v", r)
	}
	if r.From.Answered != 10 || r.To.Answered != 90 || len(r.To.CPU) != 1 {
		t.Errorf("the window is from %+v to %+v", r.From, r.To)
	}
	if r.AgeP50 != 50*time.Millisecond || r.AgeP99 != 90*time.Millisecond {
		t.Errorf("ages p50 %s, p99 %s", r.AgeP50, r.AgeP99)
	}
}

func TestPercentile(t *testing.T) {
	for _, tt := range []struct{ n, p, want int }{{0, 50, 0}, {1, 50, 1}, {1, 99, 1}, {2, 50, 1}, {100, 50, 50}, {100, 99, 99}, {101, 99, 100}} {
		var values []time.Duration
		for i := range tt.n {
			values = append(values, time.Duration(i+1))
		}
		if got := percentile(values, tt.p); got != time.Duration(tt.want) {
			t.Errorf("percentile %d of 1..%d is %d, want %d", tt.p, tt.n, got, tt.want)
		}
	}
}

func TestProc(t *testing.T) {
	cpu, err := parseCPUTime("4711 (a (b) c) S 1 1 1 0 -1 4194304 100 0 0 0 123 45 0 0 20 0 9 0 100 1000 200")
	if err != nil || cpu != 1680*time.Millisecond {
		t.Errorf("CPU time %s, %v", cpu, err)
	}
	busy, err := parseBusyTime("cpu  100 20 3 4000 500 6 7 8 9 10\ncpu0 1 1 1\n")
	if err != nil || busy != 1440*time.Millisecond {
		t.Errorf("busy time %s, %v", busy, err)
	}
	m, err := parseMemory("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n")
	if err != nil || m.now != 1<<20 || m.peak != 2<<20 {
		t.Errorf("memory %+v, %v", m, err)
	}
	if _, err := parseMemory("Name:\tx\n"); err == nil {
		t.Error("a zombie has memory")
	}
	if _, err := cpuTime(os.Getpid()); err != nil {
		t.Error(err)
	}
}

func TestMetricsSum(t *testing.T) {
	m := metrics(`# TYPE a_total counter
a_total{reason="ok",verdict="accept"} 5
a_total{reason="timeout",verdict="release"} 2
a_total_more 100
b 1.5e+00
`)
	if got := m.sum("a_total", nil); got != 7 {
		t.Errorf("a_total is %g, want 7", got)
	}
	if got := m.sum("a_total", func(l string) bool { return l == `reason="timeout",verdict="release"` }); got != 2 {
		t.Errorf("a_total of timeouts is %g, want 2", got)
	}
	if got := m.sum("b", nil); got != 1.5 {
		t.Errorf("b is %g, want 1.5", got)
	}
}
