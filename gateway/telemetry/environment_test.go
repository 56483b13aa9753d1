package telemetry

import (
	"log/slog"
	"testing"

	"github.com/sharehook/sharehook/gateway/telemetry/otlptest"
)

// quietWith is quiet with variables set.
func quietWith(t *testing.T, variables map[string]string) *Telemetry {
	t.Helper()
	setenv(t, variables)
	return newTelemetry(t, Options{})
}

func setenv(t *testing.T, variables map[string]string) {
	t.Helper()
	otlptest.ClearEnv(t)
	for name, value := range variables {
		t.Setenv(name, value)
	}
}

func TestExporterOfTheEnvironment(t *testing.T) {
	tests := []struct {
		name            string
		env             map[string]string
		traces, metrics string
	}{
		{name: "nothing is set", traces: "none", metrics: "none"},
		{
			name:   "an endpoint for all signals",
			env:    map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"},
			traces: "otlp", metrics: "otlp",
		},
		{
			name:   "an endpoint for traces",
			env:    map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318/v1/traces"},
			traces: "otlp", metrics: "none",
		},
		{
			name:   "an endpoint for metrics",
			env:    map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://localhost:4318/v1/metrics"},
			traces: "none", metrics: "otlp",
		},
		{
			name: "an endpoint for what we do not send",
			env: map[string]string{
				"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT":     "http://localhost:4318/v1/logs",
				"OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT": "http://localhost:4318/v1/profiles",
			},
			traces: "none", metrics: "none",
		},
		{
			name:   "an exporter by name",
			env:    map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_METRICS_EXPORTER": "console"},
			traces: "otlp", metrics: "console",
		},
		{
			name: "none beats an endpoint",
			env: map[string]string{
				"OTEL_TRACES_EXPORTER":        "none",
				"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318",
			},
			traces: "none", metrics: "otlp",
		},
		{
			name:   "prometheus is there anyway, zipkin is not",
			env:    map[string]string{"OTEL_TRACES_EXPORTER": "zipkin", "OTEL_METRICS_EXPORTER": "prometheus"},
			traces: "none", metrics: "none",
		},
		{
			name:   "set but empty is unset",
			env:    map[string]string{"OTEL_TRACES_EXPORTER": "", "OTEL_EXPORTER_OTLP_ENDPOINT": ""},
			traces: "none", metrics: "none",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			setenv(t, test.env)
			logger := slog.New(slog.DiscardHandler)
			if got := exporter(traces, logger); got != test.traces {
				t.Errorf("traces: %s, want %s", got, test.traces)
			}
			if got := exporter(metrics, logger); got != test.metrics {
				t.Errorf("metrics: %s, want %s", got, test.metrics)
			}
		})
	}
}

func TestProtocolThatIsNotKnown(t *testing.T) {
	for _, variable := range []string{
		"OTEL_EXPORTER_OTLP_PROTOCOL",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
		"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
	} {
		t.Run(variable, func(t *testing.T) {
			setenv(t, map[string]string{variable: "http/json"})
			if _, err := New(t.Context(), Options{}); err == nil {
				t.Error("taken without an error")
			}
		})
	}
}

func TestConsole(t *testing.T) {
	setenv(t, map[string]string{"OTEL_TRACES_EXPORTER": "console", "OTEL_METRICS_EXPORTER": "console"})
	if _, err := newSpanExporter(t.Context(), exporter(traces, slog.New(slog.DiscardHandler))); err != nil {
		t.Error(err)
	}
	if _, err := newMetricExporter(t.Context(), exporter(metrics, slog.New(slog.DiscardHandler))); err != nil {
		t.Error(err)
	}
}
