package otlptest

import (
	"io"
	"net"
	"net/http"
	"sync"

	metricservice "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traceservice "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

func (c *Collector) serveHTTP(listener net.Listener, mode Mode) (stop func()) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, r *http.Request) { c.export(w, r, mode, c.takeTraces) })
	mux.HandleFunc("POST /v1/metrics", func(w http.ResponseWriter, r *http.Request) { c.export(w, r, mode, c.takeMetrics) })
	server := &http.Server{Handler: mux} //nolint:gosec // lives for one test, on the loopback
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	return func() {
		_ = server.Close()
		serving.Wait()
	}
}

// export answers one export by HTTP. An empty body is the whole message of an
// export that succeeded.
func (c *Collector) export(w http.ResponseWriter, r *http.Request, mode Mode, take func([]byte) error) {
	body, err := io.ReadAll(r.Body)
	c.requested()
	if mode == Swallows {
		select {
		case <-r.Context().Done():
		case <-c.stopped:
		}
		return
	}
	if err == nil {
		err = take(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (c *Collector) takeTraces(body []byte) error {
	var request traceservice.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &request); err != nil {
		return err
	}
	c.addSpans(request.GetResourceSpans())
	return nil
}

func (c *Collector) takeMetrics(body []byte) error {
	var request metricservice.ExportMetricsServiceRequest
	if err := proto.Unmarshal(body, &request); err != nil {
		return err
	}
	c.addMetrics(request.GetResourceMetrics())
	return nil
}
