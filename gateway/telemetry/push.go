package telemetry

import (
	"context"
	"log/slog"
	"strings"

	prometheusbridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
)

// pushMetrics sends what /metrics shows to the exporter that the environment
// asks for, every OTEL_METRIC_EXPORT_INTERVAL (60 s). Counters are cumulative:
// the bridge knows no other temporality.
func (t *Telemetry) pushMetrics(ctx context.Context, res *resource.Resource, life lifetime, logger *slog.Logger) error {
	name := exporter(metrics, logger)
	if name == exporterNone {
		return nil
	}
	const preference = otlpPrefix + "METRICS_TEMPORALITY_PREFERENCE"
	if wish := env(preference); wish != "" && !strings.EqualFold(wish, "cumulative") {
		logger.Warn("metrics are pushed as cumulative; let the collector convert them (cumulativetodelta)",
			"variable", preference, "value", wish)
	}
	exporter, err := newMetricExporter(ctx, name)
	if err != nil {
		return err
	}
	bridge := prometheusbridge.NewMetricProducer(prometheusbridge.WithGatherer(t.instruments))
	reader := sdkmetric.NewPeriodicReader(
		boundMetricExporter{Exporter: exporter, within: life},
		sdkmetric.WithProducer(producer{bridge}),
	)
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(reader))
	t.stops = append(t.stops, stop{name: "metrics", run: provider.Shutdown})
	return nil
}

// producer adds to the bridge what OpenTelemetry wants and Prometheus keeps in
// the name: the scope and the unit.
type producer struct{ bridge sdkmetric.Producer }

func (p producer) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	scopes, err := p.bridge.Produce(ctx)
	for i := range scopes {
		scopes[i].Scope = instrumentation.Scope{Name: scope}
		for j := range scopes[i].Metrics {
			m := &scopes[i].Metrics[j]
			m.Unit = unit(m.Name)
		}
	}
	return scopes, err
}

// unit is the UCUM code of the unit in a metric's Prometheus name.
func unit(name string) string {
	name = strings.TrimSuffix(name, "_total")
	switch {
	case strings.HasSuffix(name, "_seconds"):
		return "s"
	case strings.HasSuffix(name, "_bytes"):
		return "By"
	default:
		return ""
	}
}
