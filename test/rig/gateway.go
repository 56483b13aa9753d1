package rig

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Gateway is a running `sharehook run`.
type Gateway struct {
	*Process
	admin string // once it is known
}

// Run starts the gateway of a program on a file, with more arguments.
func Run(tb testing.TB, env []string, program, path string, args ...string) *Gateway {
	tb.Helper()
	args = append([]string{"run", "-c", path, "--log-format", "json"}, args...)
	return &Gateway{Process: Start(tb, "the gateway "+strings.Join(args[5:], " "), env, program, args...)}
}

// Provision runs the command of that name, which must do well.
func Provision(tb testing.TB, program, path string) {
	tb.Helper()
	if code, stdout, stderr := Command(tb, program, "provision", "-c", path); code != 0 {
		tb.Fatalf("provision exits %d\n%s%s", code, stdout, stderr)
	}
}

// Admin is the address of the admin server.
func (g *Gateway) Admin() string {
	g.tb.Helper()
	if g.admin != "" {
		return g.admin
	}
	Wait(g.tb, ReadyWait, "the admin server of "+g.Name+" to listen", func() bool {
		if lines := g.Lines("admin server listens"); len(lines) > 0 {
			g.admin, _ = lines[0]["address"].(string)
		}
		if g.Ended() {
			g.tb.Fatalf("%s has ended: %s\n%s", g.Name, g.cmd.ProcessState, g.Tail())
		}
		return g.admin != ""
	})
	return g.admin
}

var client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// Get asks the admin server; the status is 0 when nobody answers.
func (g *Gateway) Get(path string) (status int, body []byte) {
	g.tb.Helper()
	return get("http://" + g.Admin() + path)
}

func get(url string) (status int, body []byte) {
	resp, err := client.Get(url) //nolint:noctx // the client's time is bounded
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	if body, err = io.ReadAll(resp.Body); err != nil {
		return 0, nil
	}
	return resp.StatusCode, body
}

// Condition is an entry of /readyz.
type Condition struct {
	Endpoint string `json:"endpoint"`
	Ready    bool   `json:"ready"`
	Reason   string `json:"reason"`
}

// Readiness asks /readyz; the status is 0 when nobody answers.
func (g *Gateway) Readiness() (status int, conditions map[string]Condition) {
	g.tb.Helper()
	status, body := g.Get("/readyz")
	var answer struct {
		Endpoints []Condition `json:"endpoints"`
	}
	if status != 0 {
		if err := json.Unmarshal(body, &answer); err != nil {
			g.tb.Fatalf("/readyz answers %d %q: %v", status, body, err)
		}
	}
	conditions = make(map[string]Condition)
	for _, c := range answer.Endpoints {
		conditions[c.Endpoint] = c
	}
	return status, conditions
}

// AwaitReady waits until the gateway is ready as a whole.
func (g *Gateway) AwaitReady() {
	g.tb.Helper()
	g.await(ReadyWait, g.Name+" to be ready", func(status int, _ map[string]Condition) bool { return status == http.StatusOK })
}

// AwaitEndpoint waits until one endpoint is ready, whatever the others are.
func (g *Gateway) AwaitEndpoint(endpoint string, within time.Duration) {
	g.tb.Helper()
	g.await(within, "endpoint "+endpoint+" to be ready", func(_ int, conditions map[string]Condition) bool { return conditions[endpoint].Ready })
}

// AwaitReason waits until /readyz says of an endpoint something with these
// words. An empty endpoint is the gateway as a whole.
func (g *Gateway) AwaitReason(endpoint string, within time.Duration, words ...string) string {
	g.tb.Helper()
	return g.awaitReason(endpoint, within, words, func(int, Condition) bool { return true })
}

// AwaitUnready is AwaitReason for what keeps an endpoint from being ready.
func (g *Gateway) AwaitUnready(endpoint string, within time.Duration, words ...string) string {
	g.tb.Helper()
	return g.awaitReason(endpoint, within, words, func(status int, c Condition) bool {
		return status == http.StatusServiceUnavailable && !c.Ready && c.Reason != ""
	})
}

func (g *Gateway) awaitReason(endpoint string, within time.Duration, words []string, and func(int, Condition) bool) (reason string) {
	g.tb.Helper()
	g.await(within, "/readyz to say of "+endpoint+": "+strings.Join(words, " ... "), func(status int, conditions map[string]Condition) bool {
		reason = conditions[endpoint].Reason
		return and(status, conditions[endpoint]) && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(reason, w) })
	})
	return reason
}

// await waits for what /readyz says, and tells what that was if it never is.
func (g *Gateway) await(within time.Duration, what string, holds func(int, map[string]Condition) bool) {
	g.tb.Helper()
	last := make(map[string]Condition)
	held := false
	defer func() {
		if !held {
			g.tb.Logf("/readyz said last: %+v", last)
		}
	}()
	Wait(g.tb, within, what, func() bool {
		var status int
		status, last = g.Readiness()
		held = holds(status, last)
		return held
	})
}

// Metric sums the series of a metric that have these labels: name, value,
// name, value. It is 0 when nobody answers.
func (g *Gateway) Metric(name string, labels ...string) float64 {
	g.tb.Helper()
	_, body := g.Get("/metrics")
	return sum(body, name, labels)
}

func sum(page []byte, name string, labels []string) (total float64) {
	lines := bufio.NewScanner(bytes.NewReader(page))
	lines.Buffer(nil, 1<<20)
next:
	for lines.Scan() {
		series, value, found := strings.Cut(lines.Text(), " ")
		if !found || series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		for i := 0; i < len(labels); i += 2 {
			if !strings.Contains(series, labels[i]+`="`+labels[i+1]+`"`) {
				continue next
			}
		}
		var v float64
		if json.Unmarshal([]byte(value), &v) == nil { // NaN is no JSON and no sum
			total += v
		}
	}
	return total
}

// Lines are the lines of the log with this message.
func (g *Gateway) Lines(message string) []map[string]any {
	var found []map[string]any
	for line := range strings.SplitSeq(g.Text(), "\n") {
		var fields map[string]any
		if strings.Contains(line, message) && json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == message {
			found = append(found, fields)
		}
	}
	return found
}

// Span is a time between two moments; To is zero while it lasts.
type Span struct{ From, To time.Time }

// Open are the times in which an endpoint's breaker was open, by the log.
func (g *Gateway) Open(endpoint string) (spans []Span) {
	for _, line := range g.Lines("breaker.changed") {
		if line["endpoint"] != endpoint {
			continue
		}
		text, _ := line["time"].(string)
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			g.tb.Fatalf("a log line without a time: %v", err)
		}
		last := len(spans) - 1
		switch {
		case line["state"] == "open":
			spans = append(spans, Span{From: at})
		case last >= 0 && spans[last].To.IsZero():
			spans[last].To = at
		}
	}
	return spans
}
