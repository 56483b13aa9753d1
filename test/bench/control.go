package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// control is the endpoint process as seen by the one that measures.
type control struct {
	child *child
	base  string // its URL without a path
}

// startEndpoint starts the endpoint process and waits for its address.
func startEndpoint() (*control, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	c, err := startChild("the endpoint", write, self, roleEndpoint)
	write.Close() // the child has its own
	if err != nil {
		return nil, err
	}
	address, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the endpoint: %w", err), c.stop())
	}
	return &control{child: c, base: "http://" + strings.TrimSpace(address)}, nil
}

func (c *control) hook() string { return c.base + pathHook }

// begin opens the account of a new run.
func (c *control) begin(ctx context.Context, records int, p profile) error {
	return get(ctx, fmt.Sprintf("%s%s?records=%d&profile=%s", c.base, pathBegin, records, p.name), nil)
}

// watch names the processes whose CPU time is wanted.
func (c *control) watch(ctx context.Context, pids ...int) error {
	list := make([]string, 0, len(pids))
	for _, pid := range pids {
		list = append(list, strconv.Itoa(pid))
	}
	return get(ctx, c.base+pathWatch+"?pids="+strings.Join(list, ","), nil)
}

func (c *control) status(ctx context.Context) (s status, err error) {
	return s, get(ctx, c.base+pathStatus, &s)
}

func (c *control) report(ctx context.Context) (r report, err error) {
	if err = get(ctx, c.base+pathReport, &r); err == nil && r.Err != "" {
		err = errors.New(r.Err)
	}
	return r, err
}

const (
	// look is the time between two looks at the endpoint.
	look = 50 * time.Millisecond
	// stalled is how long nothing may come before a run is given up: longer
	// than a lock of 30 s and a session of 45 s.
	stalled = 75 * time.Second
)

// awaitAnswered waits until so many records were answered. It returns early
// when none has come for long, or the process that brings them has ended.
func (c *control) awaitAnswered(ctx context.Context, records int, from *child) (all bool, err error) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	best, since := -1, time.Now()
	for {
		s, err := c.status(ctx)
		if err != nil {
			return false, err
		}
		if s.Answered >= records {
			return true, nil
		}
		if s.Answered > best {
			best, since = s.Answered, time.Now()
		}
		if err := from.ended(); err != nil {
			return false, err
		}
		if time.Since(since) > stalled {
			return false, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// get asks over HTTP and decodes the answer into v unless that is nil.
func get(ctx context.Context, url string, v any) error {
	body, err := getBody(ctx, url)
	if err != nil || v == nil {
		return err
	}
	return json.Unmarshal(body, v)
}

func getBody(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s answered %s: %s", url, resp.Status, body)
	}
	return body, nil
}
