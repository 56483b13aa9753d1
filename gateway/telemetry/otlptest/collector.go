// Package otlptest is a collector of OpenTelemetry for tests: it listens on a
// free port of the loopback and keeps the spans and metrics that are sent to
// it, or misbehaves as collectors do.
//
//	collector := otlptest.Start(t, otlptest.Options{})
//	collector.Setenv(t)
//	// run what is tested, shut its telemetry down
//	spans := collector.Spans()
package otlptest

import (
	"net"
	"os"
	"strings"
	"sync"
	"testing"
)

// Mode is how a collector behaves.
type Mode string

// The modes. Takes is the default.
const (
	Takes    Mode = ""         // keeps what it is sent
	Refuses  Mode = "refuses"  // nobody listens on its port
	Hangs    Mode = "hangs"    // accepts connections and reads nothing
	Swallows Mode = "swallows" // reads requests and never answers
)

// Protocol is how it speaks OTLP, as in OTEL_EXPORTER_OTLP_PROTOCOL.
type Protocol string

// The protocols. HTTP is the default.
const (
	HTTP Protocol = "http/protobuf"
	GRPC Protocol = "grpc"
)

// Options of a collector; the zero value takes what comes by HTTP.
type Options struct {
	Mode     Mode
	Protocol Protocol
}

// Collector is a collector that runs until its test ends.
type Collector struct {
	address  string
	protocol Protocol
	// stopped ends the handlers that never answer.
	stopped chan struct{}
	// requests holds a token once something has come in.
	requests chan struct{}

	mu      sync.Mutex // guards what follows
	spans   []Span
	metrics []Metric
}

// Start runs a collector.
func Start(tb testing.TB, opts Options) *Collector {
	tb.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("listen for OTLP: %v", err)
	}
	c := &Collector{
		address:  listener.Addr().String(),
		protocol: opts.Protocol,
		stopped:  make(chan struct{}),
		requests: make(chan struct{}, 1),
	}
	if c.protocol == "" {
		c.protocol = HTTP
	}

	var stop func()
	switch {
	case opts.Mode == Refuses:
		stop = func() {}
		if err := listener.Close(); err != nil {
			tb.Fatalf("close the port that refuses: %v", err)
		}
	case opts.Mode == Hangs:
		stop = c.hang(listener)
	case c.protocol == GRPC:
		stop = c.serveGRPC(listener, opts.Mode)
	default:
		stop = c.serveHTTP(listener, opts.Mode)
	}
	tb.Cleanup(func() {
		close(c.stopped)
		stop()
	})
	return c
}

// Env are the variables that send telemetry here, as NAME=value, for a process
// of its own.
func (c *Collector) Env() []string {
	return []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + c.address,
		"OTEL_EXPORTER_OTLP_PROTOCOL=" + string(c.protocol),
	}
}

// Setenv sends this process's telemetry here until the test ends.
func (c *Collector) Setenv(tb testing.TB) {
	tb.Helper()
	ClearEnv(tb)
	for _, pair := range c.Env() {
		name, value, _ := strings.Cut(pair, "=")
		tb.Setenv(name, value)
	}
}

// ClearEnv empties every OTEL_* variable until the test ends, so that the
// machine's own do not reach into it.
func ClearEnv(tb testing.TB) {
	tb.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OTEL_") {
			tb.Setenv(name, "")
		}
	}
}

// Requested passes once something was sent to the collector, to one that
// hangs: once a connection was made.
func (c *Collector) Requested() <-chan struct{} { return c.requests }

func (c *Collector) requested() {
	select {
	case c.requests <- struct{}{}:
	default: // one is noted already
	}
}

// hang accepts connections, and that is all.
func (c *Collector) hang(listener net.Listener) (stop func()) {
	var accepting sync.WaitGroup
	accepting.Go(func() {
		var open []net.Conn
		for {
			conn, err := listener.Accept()
			if err != nil {
				break // closed by stop
			}
			open = append(open, conn)
			c.requested()
		}
		for _, conn := range open {
			_ = conn.Close()
		}
	})
	return func() {
		_ = listener.Close()
		accepting.Wait()
	}
}
