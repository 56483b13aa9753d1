package telemetry

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

var update = flag.Bool("update", false, "write the golden files")

// deliver makes the calls of a small life: something of every kind.
func deliver(m *EndpointMetrics) {
	m.Acquired("orders", 3)
	m.Attempt("accept", "ok", 4*time.Millisecond)
	m.Attempt("release", "status_5xx", 30*time.Millisecond)
	m.Attempt("release", "timeout", 10*time.Second)
	m.Attempt("reject", "status_4xx", 2*time.Millisecond)
	m.Renewed(2)
	m.Acknowledged("orders", "accept", 1)
	m.Acknowledged("orders", "reject", 1)
	m.DeliveryDuration(5 * time.Millisecond)
	m.DeliveryDuration(400 * time.Second)
	m.RecordAge(time.Hour)
	m.RecordAge(-time.Second)
	m.DeadLetter("broker", "status_4xx")
	m.Lapsed(1)
	m.AcknowledgementError("INVALID_RECORD_STATE", 1)
	m.HeadersDropped(2)
	m.SetHeld(func() int64 { return 1 })
	m.SetInFlight(func() int64 { return 0 })
	m.SetBreakerState(func() BreakerState { return BreakerPaused })
	m.SetLag(func() map[string]int64 { return map[string]int64{"orders": 17} })
}

func TestMetricsPage(t *testing.T) {
	tel := quiet(t)
	tel.Reloaded(true)
	m := tel.Endpoint("orders", "orders", "^refunds-.*")
	defer m.Close()
	deliver(m)

	got := page(t, tel, "sharehook_")
	for _, varying := range []struct{ pattern, put string }{
		{`goversion="[^"]*"`, `goversion="GO"`},
		{`revision="[^"]*"`, `revision="REVISION"`},
		{`(?m)^(\w+_timestamp_seconds) .*$`, `$1 TIME`},
	} {
		got = regexp.MustCompile(varying.pattern).ReplaceAllString(got, varying.put)
	}

	const golden = "testdata/metrics.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the page is\n%s\nwant\n%s\n(go test -update writes it)", got, want)
	}
}

func TestMetricsAreNamedAsPrometheusWants(t *testing.T) {
	tel := quiet(t)
	m := tel.Endpoint("orders", "orders")
	defer m.Close()
	deliver(m)
	families, err := tel.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

func TestProcessMetrics(t *testing.T) {
	tel := quiet(t)
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total"} {
		if page(t, tel, name) == "" {
			t.Errorf("no %s on the page", name)
		}
	}
}

func TestReloaded(t *testing.T) {
	tel := quiet(t)
	tel.Reloaded(true)
	successTime := page(t, tel, "sharehook_config_last_reload_success_timestamp_seconds")
	tel.Reloaded(false)
	if got := page(t, tel, "sharehook_config_last_reload_successful"); !strings.HasSuffix(got, "successful 0\n") {
		t.Errorf("after a failed reload: %s", got)
	}
	if got := page(t, tel, "sharehook_config_last_reload_success_timestamp_seconds"); got != successTime {
		t.Errorf("a failed reload moved the time of the last success from %s to %s", successTime, got)
	}
}

func TestSeriesGoWithTheEndpoint(t *testing.T) {
	tel := quiet(t)
	orders, refunds := tel.Endpoint("orders", "orders"), tel.Endpoint("refunds", "refunds")
	defer refunds.Close()
	deliver(orders)

	orders.Close()
	orders.Close() // harmless
	orders.Renewed(1)
	got := page(t, tel, "sharehook_")
	if strings.Contains(got, `endpoint="orders"`) {
		t.Errorf("the page still shows the endpoint that is gone:\n%s", got)
	}
	if !strings.Contains(got, `endpoint="refunds"`) {
		t.Errorf("the other endpoint went too:\n%s", got)
	}

	again := tel.Endpoint("orders")
	defer again.Close()
	if got := page(t, tel, "sharehook_records_renewed_total"); !strings.Contains(got, `{endpoint="orders"} 0`) {
		t.Errorf("an endpoint that comes again does not begin at 0:\n%s", got)
	}
}

// A changed endpoint drains while its successor of the same name works.
func TestHandlesOfOneNameShareTheirSeries(t *testing.T) {
	tel := quiet(t)
	old := tel.Endpoint("orders", "orders")
	old.SetHeld(func() int64 { return 2 })
	old.SetBreakerState(func() BreakerState { return BreakerOpen })
	old.Renewed(1)

	successor := tel.Endpoint("orders", "orders")
	defer successor.Close()
	successor.SetHeld(func() int64 { return 40 })
	successor.SetBreakerState(func() BreakerState { return BreakerClosed })
	old.Renewed(1)
	successor.Renewed(1)

	expect := func(line string) {
		t.Helper()
		if got := page(t, tel, "sharehook_"); !strings.Contains(got, line+"\n") {
			t.Errorf("no line %q on the page:\n%s", line, got)
		}
	}
	expect(`sharehook_records_renewed_total{endpoint="orders"} 3`)
	expect(`sharehook_records_held{endpoint="orders"} 42`)
	expect(`sharehook_breaker_state{endpoint="orders"} 0`)
	old.Close()
	expect(`sharehook_records_renewed_total{endpoint="orders"} 3`)
	expect(`sharehook_records_held{endpoint="orders"} 40`)
}

// Scrapes, deliveries and reloads meet in every order; the race detector
// looks on.
func TestScrapesWhileEndpointsComeAndGo(t *testing.T) {
	tel := quiet(t)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 20 {
				m := tel.Endpoint("orders", "orders")
				deliver(m)
				m.Close()
			}
		})
		workers.Go(func() {
			for range 10 {
				if _, err := tel.Gather(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	if got := page(t, tel, "sharehook_records_"); got != "" {
		t.Errorf("all endpoints are gone, but the page shows\n%s", got)
	}
}

// deliveredRecord makes the calls of a record that is accepted at the first
// attempt.
func deliveredRecord(m *EndpointMetrics) {
	m.Acquired("orders", 1)
	m.Attempt("accept", "ok", 4*time.Millisecond)
	m.DeliveryDuration(5 * time.Millisecond)
	m.RecordAge(6 * time.Millisecond)
	m.Acknowledged("orders", "accept", 1)
}

func TestDeliveredRecordAllocatesNothing(t *testing.T) {
	tel := quiet(t)
	m := tel.Endpoint("orders", "orders")
	defer m.Close()
	if allocations := testing.AllocsPerRun(100, func() { deliveredRecord(m) }); allocations != 0 {
		t.Errorf("%v allocations for each record", allocations)
	}
}

func BenchmarkDeliveredRecord(b *testing.B) {
	m := quiet(b).Endpoint("orders", "orders")
	defer m.Close()
	b.ReportAllocs()
	for b.Loop() {
		deliveredRecord(m)
	}
}

func BenchmarkDeliveredRecordParallel(b *testing.B) {
	m := quiet(b).Endpoint("orders", "orders")
	defer m.Close()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			deliveredRecord(m)
		}
	})
}
