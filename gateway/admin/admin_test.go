package admin

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handlerFor is the handler of a server with these options.
func handlerFor(t *testing.T, opts Options) http.Handler {
	t.Helper()
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return s.Handler()
}

func answer(t *testing.T, h http.Handler, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	return recorder
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	h := handlerFor(t, Options{
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "sharehook_build_info 1\n")
		}),
	})
	tests := []struct {
		method, path string
		status       int
		contentType  string
		body         string
		allow        string
	}{
		{method: "GET", path: "/healthz", status: 200, contentType: "application/json", body: `{"status":"ok"}` + "\n"},
		{method: "HEAD", path: "/healthz", status: 200, contentType: "application/json"},
		{method: "GET", path: "/readyz", status: 200, contentType: "application/json", body: `{"ready":true,"endpoints":[]}` + "\n"},
		{method: "GET", path: "/metrics", status: 200, body: "sharehook_build_info 1\n"},
		{
			method: "GET", path: "/api/v1/secrets?token=hunter2", status: 404, contentType: "application/problem+json",
			body: `{"title":"Not Found","status":404,"detail":"there is nothing at this path"}` + "\n",
		},
		{
			method: "POST", path: "/healthz", status: 405, contentType: "application/problem+json", allow: "GET, HEAD",
			body: `{"title":"Method Not Allowed","status":405,` +
				`"detail":"this path has no such method; the Allow header names those it has"}` + "\n",
		},
		{method: "DELETE", path: "/metrics", status: 405, contentType: "application/problem+json", allow: "GET, HEAD"},
		{method: "BREW", path: "/metrics", status: 405, contentType: "application/problem+json", allow: "GET, HEAD"},
	}
	for _, test := range tests {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			t.Parallel()
			r := answer(t, h, test.method, test.path)
			if r.Code != test.status {
				t.Errorf("status %d, want %d", r.Code, test.status)
			}
			if got := r.Header().Get("Content-Type"); test.contentType != "" && got != test.contentType {
				t.Errorf("content type %q, want %q", got, test.contentType)
			}
			if got := strings.Join(r.Header().Values("Allow"), ", "); got != test.allow {
				t.Errorf("allow %q, want %q", got, test.allow)
			}
			if got := r.Body.String(); test.body != "" && got != test.body {
				t.Errorf("body %q, want %q", got, test.body)
			}
		})
	}
}

func TestNoMetricsPathWithoutMetrics(t *testing.T) {
	t.Parallel()
	if r := answer(t, handlerFor(t, Options{}), "GET", "/metrics"); r.Code != http.StatusNotFound {
		t.Errorf("status %d, want 404", r.Code)
	}
}

func TestReadinessSaysWhy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		ready      bool
		conditions []Condition
		status     int
	}{
		{name: "ready", ready: true, conditions: []Condition{{Endpoint: "orders", Ready: true}}, status: 200},
		{
			name: "one endpoint in trouble", status: 503,
			conditions: []Condition{
				{Endpoint: "orders", Ready: true},
				{Endpoint: "refunds", Reason: `topic "refunds" does not exist; create it`},
			},
		},
		{name: "draining", conditions: []Condition{{Reason: "draining"}}, status: 503},
		{name: "starting, nothing known", status: 503},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := handlerFor(t, Options{Ready: func() (bool, []Condition) { return test.ready, test.conditions }})
			r := answer(t, h, "GET", "/readyz")
			if r.Code != test.status {
				t.Errorf("status %d, want %d", r.Code, test.status)
			}
			var got readiness
			if err := json.Unmarshal(r.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if got.Ready != test.ready {
				t.Errorf("ready %t, want %t", got.Ready, test.ready)
			}
			if len(got.Endpoints) != len(test.conditions) {
				t.Fatalf("conditions %v, want %v", got.Endpoints, test.conditions)
			}
			for i, want := range test.conditions {
				if got.Endpoints[i] != want {
					t.Errorf("condition %v, want %v", got.Endpoints[i], want)
				}
			}
		})
	}
}

func TestPanicEndsItsRequestOnly(t *testing.T) {
	t.Parallel()
	h := handlerFor(t, Options{Ready: func() (bool, []Condition) { panic("no state") }})
	r := answer(t, h, "GET", "/readyz")
	if r.Code != http.StatusInternalServerError {
		t.Errorf("status %d, want 500", r.Code)
	}
	if got := r.Body.String(); strings.Contains(got, "no state") {
		t.Errorf("the answer tells what the panic said: %q", got)
	}
	if r := answer(t, h, "GET", "/healthz"); r.Code != http.StatusOK {
		t.Errorf("after the panic: status %d, want 200", r.Code)
	}
}
