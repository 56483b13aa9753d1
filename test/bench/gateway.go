package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// gateway is a running `sharehook run`.
type gateway struct {
	*child
	admin string // host:port
}

// route is one endpoint of the gateway's file.
type route struct{ name, topic string }

func (r route) group() string { return "sharehook." + r.name }

// startGateway writes a file for the routes, all to our endpoint, provisions
// the cluster by it and starts the gateway. What the file does not say is the
// default.
func (b *bed) startGateway(ctx context.Context, concurrency int, routes ...route) (*gateway, error) {
	admin, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	var file strings.Builder
	fmt.Fprintf(&file, "kafka: {brokers: [%q]}\nadmin: {listen: %q}\nendpoints:\n", b.kafka.Seeds[0], admin)
	for _, r := range routes {
		fmt.Fprintf(&file, "  - name: %q\n    topics: [%q]\n    url: %q\n    concurrency: %d\n    share_group: {start: earliest}\n",
			r.name, r.topic, b.endpoint.hook(), concurrency)
	}
	path := filepath.Join(b.dir, "sharehook.yaml")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, b.sharehook, "provision", "-c", path).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("provision: %w\n%s", err, out)
	}
	c, err := startChild("the gateway", nil, b.sharehook, "run", "-c", path)
	if err != nil {
		return nil, err
	}
	return &gateway{child: c, admin: admin}, nil
}

// freeAddress is a loopback address on which nobody listens at the moment.
func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// readyWait bounds the start of the gateway; a new group takes one heartbeat.
const readyWait = time.Minute

// awaitReady waits until every endpoint has joined.
func (g *gateway) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		err := get(ctx, "http://"+g.admin+"/readyz", nil)
		if err == nil {
			return nil
		}
		if ended := g.ended(); ended != nil {
			return ended
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return errors.Join(errors.New("the gateway is not ready"), err, ctx.Err())
		}
	}
}

// metrics reads what the gateway says of itself.
func (g *gateway) metrics(ctx context.Context) (metrics, error) {
	body, err := getBody(ctx, "http://"+g.admin+"/metrics")
	return metrics(body), err
}
