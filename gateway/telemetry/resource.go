package telemetry

import (
	"context"
	"log/slog"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
)

// newResource says who sends the telemetry. What the environment says
// (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES) comes last and wins.
func newResource(ctx context.Context, opts Options, logger *slog.Logger) *resource.Resource {
	instance := opts.InstanceID
	if instance == "" {
		instance = uuid.NewString()
	}
	attributes := []attribute.KeyValue{
		attribute.String("service.name", "sharehook"),
		attribute.String("service.instance.id", instance),
	}
	if opts.Version != "" {
		attributes = append(attributes, attribute.String("service.version", opts.Version))
	}
	res, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithHost(),
		resource.WithAttributes(attributes...),
		resource.WithFromEnv(),
	)
	if err != nil {
		// A detector that fails leaves its part out; the rest is good.
		logger.Warn("telemetry's resource is incomplete; check OTEL_RESOURCE_ATTRIBUTES", "error", err)
	}
	return res
}
