package telemetry

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sharehook/sharehook/gateway/telemetry/otlptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quiet makes telemetry that exports nothing, whatever the machine's own
// environment says. A test that calls it cannot run in parallel.
func quiet(t testing.TB) *Telemetry {
	t.Helper()
	otlptest.ClearEnv(t)
	return newTelemetry(t, Options{Version: "1.2.3"})
}

func newTelemetry(t testing.TB, opts Options) *Telemetry {
	t.Helper()
	tel, err := New(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Already over for most tests; those that export nothing end here.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := tel.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return tel
}

// page is what /metrics shows of the metrics whose names have the prefix.
func page(t testing.TB, tel *Telemetry, prefix string) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	tel.Handler().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	content, err := io.ReadAll(recorder.Body)
	if err != nil {
		t.Fatal(err)
	}
	if recorder.Code != 200 {
		t.Fatalf("status %d: %s", recorder.Code, content)
	}
	var lines strings.Builder
	for line := range strings.Lines(string(content)) {
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		if strings.HasPrefix(name, prefix) {
			lines.WriteString(line)
		}
	}
	return lines.String()
}
