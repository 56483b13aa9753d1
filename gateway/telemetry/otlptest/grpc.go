package otlptest

import (
	"context"
	"net"
	"sync"

	metricservice "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traceservice "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
)

func (c *Collector) serveGRPC(listener net.Listener, mode Mode) (stop func()) {
	server := grpc.NewServer()
	traceservice.RegisterTraceServiceServer(server, traceServer{collector: c, mode: mode})
	metricservice.RegisterMetricsServiceServer(server, metricServer{collector: c, mode: mode})
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	return func() {
		server.Stop()
		serving.Wait()
	}
}

// receive notes a request and, if the collector swallows, keeps it.
func (c *Collector) receive(ctx context.Context, mode Mode) error {
	c.requested()
	if mode != Swallows {
		return nil
	}
	select {
	case <-ctx.Done():
	case <-c.stopped:
	}
	return context.Canceled
}

type traceServer struct {
	traceservice.UnimplementedTraceServiceServer
	collector *Collector
	mode      Mode
}

func (s traceServer) Export(
	ctx context.Context, request *traceservice.ExportTraceServiceRequest,
) (*traceservice.ExportTraceServiceResponse, error) {
	if err := s.collector.receive(ctx, s.mode); err != nil {
		return nil, err
	}
	s.collector.addSpans(request.GetResourceSpans())
	return &traceservice.ExportTraceServiceResponse{}, nil
}

type metricServer struct {
	metricservice.UnimplementedMetricsServiceServer
	collector *Collector
	mode      Mode
}

func (s metricServer) Export(
	ctx context.Context, request *metricservice.ExportMetricsServiceRequest,
) (*metricservice.ExportMetricsServiceResponse, error) {
	if err := s.collector.receive(ctx, s.mode); err != nil {
		return nil, err
	}
	s.collector.addMetrics(request.GetResourceMetrics())
	return &metricservice.ExportMetricsServiceResponse{}, nil
}
