//go:build kafka

package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sharehook/sharehook/test/kafka"
)

// gateway is a running `sharehook run`.
type gateway struct {
	t       *testing.T
	cmd     *exec.Cmd
	started time.Time
	done    chan struct{} // closed when it has ended
	log     logLines
}

// environment is ours without what would change the gateway.
func environment() (env []string) {
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "OTEL_") && !strings.HasPrefix(variable, "SHAREHOOK_") {
			env = append(env, variable)
		}
	}
	return env
}

// start runs the gateway on a file. It is killed at the test's end at the
// latest.
func start(t *testing.T, path string, args ...string) *gateway {
	t.Helper()
	g := &gateway{t: t, done: make(chan struct{})}
	g.cmd = exec.CommandContext(context.Background(), program, append([]string{"run", "-c", path, "--log-format", "json"}, args...)...)
	g.cmd.Env = environment()
	g.cmd.SysProcAttr = childAttributes()
	g.cmd.Stderr = &g.log
	began := make(chan error)
	g.started = time.Now()
	go func() {
		defer close(g.done)
		// The parent-death signal comes when the thread that forked ends: so
		// it stays with the child.
		runtime.LockOSThread()
		err := g.cmd.Start()
		began <- err
		if err == nil {
			_ = g.cmd.Wait() // how it ended is in ProcessState
		}
	}()
	if err := <-began; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		g.signal(syscall.SIGKILL)
		<-g.done
		if strings.Contains(g.log.text(), "DATA RACE") {
			t.Errorf("the gateway has a data race:\n%s", g.log.text())
		}
		if t.Failed() {
			t.Logf("the end of a gateway's log:\n%s", g.log.tail())
		}
	})
	return g
}

// signal reaches the process if it still runs.
func (g *gateway) signal(s syscall.Signal) {
	select {
	case <-g.done: // its id may be another's by now
	default:
		_ = g.cmd.Process.Signal(s)
	}
}

// kill is kill -9, and waits for the end.
func (g *gateway) kill() {
	g.signal(syscall.SIGKILL)
	<-g.done
}

// exit waits for the end and answers the exit code.
func (g *gateway) exit(within time.Duration) int {
	g.t.Helper()
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-g.done:
		return g.cmd.ProcessState.ExitCode()
	case <-late.C:
		g.t.Fatalf("the gateway has not ended after %s", within)
		return -1
	}
}

// admin is the address of the admin server.
func (g *gateway) admin() string {
	g.t.Helper()
	var address string
	kafka.Wait(g.t, readyWait, "the admin server to listen", func() bool {
		lines := g.lines("admin server listens")
		if len(lines) > 0 {
			address, _ = lines[0]["address"].(string)
		}
		select {
		case <-g.done:
			g.t.Fatalf("the gateway has ended: %s\n%s", g.cmd.ProcessState, g.log.tail())
		default:
		}
		return address != ""
	})
	return address
}

// readyWait bounds how long a gateway may take to be what it should be: with
// Kafka's own settings a new group takes a heartbeat of 5 s, and two cores are
// busy with others.
const readyWait = 60 * time.Second

// condition is an entry of /readyz.
type condition struct {
	Endpoint string `json:"endpoint"`
	Ready    bool   `json:"ready"`
	Reason   string `json:"reason"`
}

// readiness asks /readyz; the status is 0 when nobody answers.
func (g *gateway) readiness() (status int, conditions map[string]condition) {
	g.t.Helper()
	status, body := g.get("/readyz")
	var answer struct {
		Endpoints []condition `json:"endpoints"`
	}
	if status != 0 {
		if err := json.Unmarshal(body, &answer); err != nil {
			g.t.Fatalf("/readyz answers %d %q: %v", status, body, err)
		}
	}
	conditions = make(map[string]condition)
	for _, c := range answer.Endpoints {
		conditions[c.Endpoint] = c
	}
	return status, conditions
}

var client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func (g *gateway) get(path string) (status int, body []byte) {
	g.t.Helper()
	resp, err := client.Get("http://" + g.admin() + path)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil
	}
	return resp.StatusCode, body
}

// awaitReady waits until the gateway is ready as a whole.
func (g *gateway) awaitReady() {
	g.t.Helper()
	last := make(map[string]condition)
	defer func() {
		if g.t.Failed() {
			g.t.Logf("/readyz said last: %+v", last)
		}
	}()
	kafka.Wait(g.t, readyWait, "the gateway to be ready", func() bool {
		status, conditions := g.readiness()
		last = conditions
		return status == http.StatusOK
	})
}

// awaitReason waits until /readyz is 503 and says of an endpoint why, with
// these words. An empty endpoint is the gateway as a whole.
func (g *gateway) awaitReason(endpoint string, within time.Duration, words ...string) string {
	g.t.Helper()
	var last condition
	defer func() {
		if g.t.Failed() {
			g.t.Logf("/readyz said last of endpoint %q: %+v", endpoint, last)
		}
	}()
	kafka.Wait(g.t, within, "/readyz to say of "+endpoint+": "+strings.Join(words, " ... "), func() bool {
		status, conditions := g.readiness()
		last = conditions[endpoint]
		if status != http.StatusServiceUnavailable || last.Ready || last.Reason == "" {
			return false
		}
		for _, w := range words {
			if !strings.Contains(last.Reason, w) {
				return false
			}
		}
		return true
	})
	return last.Reason
}

// awaitEndpoint waits until one endpoint is ready, whatever the others are.
func (g *gateway) awaitEndpoint(endpoint string, within time.Duration) {
	g.t.Helper()
	kafka.Wait(g.t, within, "endpoint "+endpoint+" to be ready", func() bool {
		_, conditions := g.readiness()
		return conditions[endpoint].Ready
	})
}

// metric sums the series of a metric that have these labels: name, value,
// name, value.
func (g *gateway) metric(name string, labels ...string) float64 {
	g.t.Helper()
	_, body := g.get("/metrics")
	var sum float64
	lines := bufio.NewScanner(bytes.NewReader(body))
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
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			g.t.Fatalf("/metrics: %q: %v", lines.Text(), err)
		}
		sum += v
	}
	return sum
}

// lines are the lines of the log with this message.
func (g *gateway) lines(message string) []map[string]any {
	var found []map[string]any
	for line := range strings.SplitSeq(g.log.text(), "\n") {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == message {
			found = append(found, fields)
		}
	}
	return found
}

// logLines keep what a process writes.
type logLines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write keeps what a process has written.
func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *logLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// tail is the end of the log.
func (l *logLines) tail() string {
	const most = 8 << 10
	text := l.text()
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return text
}

// command runs another command to its end.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = environment(), &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// provision runs the command of that name, which must do well.
func provision(t *testing.T, path string) {
	t.Helper()
	if code, stdout, stderr := command(t, "provision", "-c", path); code != 0 {
		t.Fatalf("provision exits %d\n%s%s", code, stdout, stderr)
	}
}
