package telemetry

import (
	"log/slog"
	"os"
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// signal is a kind of telemetry as it is written in the names of variables.
type signal string

const (
	traces  signal = "TRACES"
	metrics signal = "METRICS"
)

// Exporters we have. "prometheus" is no pushing exporter: /metrics is always
// there, so that asking for it asks for nothing more.
const (
	exporterNone       = "none"
	exporterOTLP       = "otlp"
	exporterConsole    = "console"
	exporterPrometheus = "prometheus"
)

const otlpPrefix = "OTEL_EXPORTER_OTLP_"

// env is the value of a variable; set but empty counts as unset, as the
// specification of OpenTelemetry has it.
func env(name string) string { return strings.TrimSpace(os.Getenv(name)) }

// disabled is OTEL_SDK_DISABLED: no exporters and no spans; propagators and
// /metrics, which is ours, stay.
func disabled() bool { return strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") }

// exporter is the exporter the environment asks for. The specification's
// default is OTLP to localhost, which would make every gateway without a
// collector complain for ever: here a signal is exported only if a variable
// names its exporter, or configures OTLP for it.
//
// A value we do not know is a warning and no exporter: telemetry does not keep
// records from being delivered.
func exporter(s signal, logger *slog.Logger) string {
	variable := "OTEL_" + string(s) + "_EXPORTER"
	switch name := env(variable); name {
	case exporterNone, exporterOTLP, exporterConsole:
		return name
	case "":
		if otlpConfigured(s) {
			return exporterOTLP
		}
	case exporterPrometheus:
		logger.Info("metrics are always served on /metrics of the admin address; nothing is pushed", "variable", variable)
	default:
		logger.Warn("unknown exporter, none is used; set otlp, console or none", "variable", variable, "value", name)
	}
	return exporterNone
}

// otlpConfigured reports whether a variable configures OTLP for the signal,
// alone or for all signals.
func otlpConfigured(s signal) bool {
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		rest, found := strings.CutPrefix(name, otlpPrefix)
		if !found || value == "" {
			continue
		}
		if own := strings.HasPrefix(rest, string(s)+"_"); own || !ofOneSignal(rest) {
			return true
		}
	}
	return false
}

func ofOneSignal(rest string) bool {
	for _, s := range []signal{traces, metrics, "LOGS", "PROFILES"} {
		if strings.HasPrefix(rest, string(s)+"_") {
			return true
		}
	}
	return false
}

// otlpProtocol is how OTLP is spoken: grpc, or http/protobuf by default.
func otlpProtocol(s signal) string {
	if own := env(otlpPrefix + string(s) + "_PROTOCOL"); own != "" {
		return own
	}
	if all := env(otlpPrefix + "PROTOCOL"); all != "" {
		return all
	}
	return protocolHTTP
}

// propagators reads OTEL_PROPAGATORS. Those we do not have are left out with a
// warning, as the specification asks.
func propagators(logger *slog.Logger) propagation.TextMapPropagator {
	names := env("OTEL_PROPAGATORS")
	if names == "" {
		names = "tracecontext,baggage"
	}
	var chosen []propagation.TextMapPropagator
	for name := range strings.SplitSeq(names, ",") {
		switch name = strings.TrimSpace(name); name {
		case "tracecontext":
			chosen = append(chosen, propagation.TraceContext{})
		case "baggage":
			chosen = append(chosen, propagation.Baggage{})
		case "none", "":
		default:
			logger.Warn("unknown propagator is left out; there are tracecontext, baggage and none",
				"variable", "OTEL_PROPAGATORS", "value", name)
		}
	}
	return propagation.NewCompositeTextMapPropagator(chosen...)
}
