package telemetry

import (
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// instruments are all metrics of the process: its own registry, and one for
// each endpoint, so that an endpoint's series can go as one.
type instruments struct {
	logger *slog.Logger

	process           *prometheus.Registry
	reloadSuccessful  prometheus.Gauge
	reloadSuccessTime prometheus.Gauge

	mu        sync.Mutex // guards what follows, and endpointSeries.users
	endpoints map[string]*endpointSeries
}

var _ prometheus.Gatherer = (*instruments)(nil)

func newInstruments(version string, logger *slog.Logger) *instruments {
	process := prometheus.NewRegistry()
	process.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	auto := promauto.With(process)
	auto.NewGauge(prometheus.GaugeOpts{
		Name: "sharehook_build_info",
		Help: "What is running; the value is always 1.",
		ConstLabels: prometheus.Labels{
			"version":   version,
			"revision":  revision(),
			"goversion": runtime.Version(),
		},
	}).Set(1)
	return &instruments{
		logger:  logger,
		process: process,
		reloadSuccessful: auto.NewGauge(prometheus.GaugeOpts{
			Name: "sharehook_config_last_reload_successful",
			Help: "Whether the last attempt to load the configuration succeeded.",
		}),
		reloadSuccessTime: auto.NewGauge(prometheus.GaugeOpts{
			Name: "sharehook_config_last_reload_success_timestamp_seconds",
			Help: "When the configuration was last loaded with success, in Unix seconds.",
		}),
		endpoints: make(map[string]*endpointSeries),
	}
}

// revision is the source's, as far as the Go tool knew it; empty if it did not.
func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value
			}
		}
	}
	return ""
}

// Reloaded records the end of an attempt to load the configuration, the first
// one at the start included.
func (i *instruments) Reloaded(success bool) {
	if !success {
		i.reloadSuccessful.Set(0)
		return
	}
	i.reloadSuccessful.Set(1)
	i.reloadSuccessTime.SetToCurrentTime()
}

// Gather merges the registries into one page.
func (i *instruments) Gather() ([]*dto.MetricFamily, error) {
	i.mu.Lock()
	gatherers := make(prometheus.Gatherers, 0, 1+len(i.endpoints))
	gatherers = append(gatherers, i.process)
	for _, series := range i.endpoints {
		gatherers = append(gatherers, series.registry)
	}
	i.mu.Unlock()
	// Without the lock: gathering calls the callbacks of gauges.
	return gatherers.Gather()
}

func (i *instruments) handler() http.Handler {
	return promhttp.HandlerFor(i, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(i.logger.Handler(), slog.LevelWarn),
		// A series that cannot be gathered must not blind the operator to the
		// others.
		ErrorHandling: promhttp.ContinueOnError,
	})
}

// Endpoint returns a handle on the instruments of the endpoint of that name.
// The series of the topics named exist with value 0 from now on, those of any
// other topic from their first use; for a regular expression the topic is the
// expression.
//
// Several handles of one name share their counters: while a changed endpoint
// drains and its successor has begun, both count into the same series and the
// gauges show their sum. The series go when the last handle is closed.
func (i *instruments) Endpoint(name string, topics ...string) *EndpointMetrics {
	i.mu.Lock()
	defer i.mu.Unlock()
	series := i.endpoints[name]
	if series == nil {
		series = newEndpointSeries(name, i.usersOf)
		i.endpoints[name] = series
	}
	series.declare(topics)
	m := &EndpointMetrics{endpointSeries: series, owner: i, name: name}
	series.users = append(series.users, m)
	return m
}

// usersOf is a copy of the series' open handles, the oldest first.
func (i *instruments) usersOf(series *endpointSeries) []*EndpointMetrics {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(series.users)
}

func (i *instruments) close(m *EndpointMetrics) {
	i.mu.Lock()
	defer i.mu.Unlock()
	series := m.endpointSeries
	at := slices.Index(series.users, m)
	if at < 0 {
		return // closed already
	}
	series.users = slices.Delete(series.users, at, at+1)
	if len(series.users) == 0 {
		delete(i.endpoints, m.name)
	}
}
