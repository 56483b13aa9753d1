package telemetry

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	protocolHTTP = "http/protobuf"
	protocolGRPC = "grpc"
)

// newSpanExporter makes the exporter of that name; none of them connects yet.
func newSpanExporter(ctx context.Context, name string) (sdktrace.SpanExporter, error) {
	if name == exporterConsole {
		return stdouttrace.New()
	}
	switch protocol := otlpProtocol(traces); protocol {
	case protocolGRPC:
		return otlptracegrpc.New(ctx)
	case protocolHTTP:
		return otlptracehttp.New(ctx)
	default:
		return nil, unknownProtocol(protocol)
	}
}

// newMetricExporter makes the exporter of that name; none of them connects yet.
func newMetricExporter(ctx context.Context, name string) (sdkmetric.Exporter, error) {
	if name == exporterConsole {
		return stdoutmetric.New()
	}
	switch protocol := otlpProtocol(metrics); protocol {
	case protocolGRPC:
		return otlpmetricgrpc.New(ctx)
	case protocolHTTP:
		return otlpmetrichttp.New(ctx)
	default:
		return nil, unknownProtocol(protocol)
	}
}

func unknownProtocol(protocol string) error {
	return fmt.Errorf("OTLP protocol %q is not known; use %s or %s", protocol, protocolGRPC, protocolHTTP)
}

// lifetime runs an export no longer than the telemetry lives.
type lifetime func(parent context.Context, export func(context.Context) error) error

// within is how Shutdown gets at exports that it did not start: the SDK runs
// them on its own goroutines under its own contexts, so that one which hangs
// would outlive Shutdown by the export's timeout, 10 s and more.
func within(life context.Context) lifetime {
	return func(parent context.Context, export func(context.Context) error) error {
		ctx, cancel := context.WithCancel(parent)
		defer cancel()
		unhook := context.AfterFunc(life, cancel)
		defer unhook()
		if life.Err() != nil {
			return nil // what the SDK still has in its queue
		}
		err := export(ctx)
		if life.Err() != nil {
			return nil // cut short by Shutdown, whose error says so once
		}
		return err
	}
}

// boundSpanExporter is an exporter of spans that Shutdown can cut short.
type boundSpanExporter struct {
	sdktrace.SpanExporter
	within lifetime
}

func (e boundSpanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	return e.within(ctx, func(ctx context.Context) error { return e.SpanExporter.ExportSpans(ctx, spans) })
}

// boundMetricExporter is an exporter of metrics that Shutdown can cut short.
type boundMetricExporter struct {
	sdkmetric.Exporter
	within lifetime
}

func (e boundMetricExporter) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	return e.within(ctx, func(ctx context.Context) error { return e.Exporter.Export(ctx, rm) })
}
