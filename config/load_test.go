package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// builtIn is what the smallest file says, with the defaults of the interface
// written out: a changed default is a changed promise.
func builtIn() Config {
	return Config{
		Kafka:    Kafka{Brokers: []string{"localhost:9092"}, ClientID: "sharehook"},
		Admin:    Admin{Listen: "127.0.0.1:8400"},
		Shutdown: Shutdown{Grace: 25 * time.Second},
		Endpoints: []Endpoint{{
			Name:    "orders",
			Topics:  []string{"orders"},
			URL:     "http://localhost:8000/hooks/orders",
			Enabled: true,
			ShareGroup: ShareGroup{
				Name: "sharehook.orders", Start: "latest", Isolation: "read_committed",
				Lock: 30 * time.Second, MaxDeliveries: 10, MaxRecordLocks: 4000,
			},
			Members: 1, Concurrency: 64, MaxHeld: 1000, ReadAhead: ReadAhead{Auto: true},
			Timeout:        10 * time.Second,
			ForwardHeaders: ForwardHeaders{Include: []string{"*"}, Prefix: "kafka-header-"},
			Format:         "raw",
			Network:        Network{Deny: []string{"metadata"}},
			Status: Status{
				Accept: []string{"2xx"}, Release: []string{"408", "425", "429", "5xx"}, Reject: []string{"3xx", "4xx"},
			},
			Retry: Retry{
				Attempts: 3, InitialInterval: 500 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.5,
				MaxInterval: 30 * time.Second, MaxElapsedTime: 10 * time.Minute, MaxRetryAfter: 5 * time.Minute,
			},
			Breaker: Breaker{
				Enabled: true, Window: 10 * time.Second, MinAttempts: 10, FailureRatio: 0.5, RejectRatio: 0.9,
				Cooldown: 5 * time.Second, MaxCooldown: time.Minute,
			},
			DeadLetter: DeadLetter{By: "broker", Topic: "dlq.sharehook.orders", CopyRecord: true},
		}},
		source: filepath.Join("testdata", "good", "smallest.yaml"),
		read:   []string{filepath.Join("testdata", "good", "smallest.yaml")},
	}
}

func TestSmallestFileHasEveryDefault(t *testing.T) {
	t.Parallel()
	got, err := Load(filepath.Join("testdata", "good", "smallest.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if want := builtIn(); !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	t.Parallel()
	got, err := Load(filepath.Join("testdata", "good", "every-key.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join("testdata", "good", "tls", name) }
	wantKafka := Kafka{
		Brokers:  []string{"kafka-1.example:9092", "[::1]:9093", "kafka-3"},
		ClientID: "gateway-eu",
		TLS: &TLS{
			CAFile: at("ca.pem"), CertFile: at("client.pem"), KeyFile: "/etc/sharehook/client.key",
			ServerName: "kafka.example", InsecureSkipVerify: true,
		},
		SASL: &SASL{Mechanism: "SCRAM-SHA-512", Username: "sharehook", Password: "literal-password"},
	}
	if !reflect.DeepEqual(got.Kafka, wantKafka) {
		t.Errorf("kafka: got %+v, want %+v", got.Kafka, wantKafka)
	}
	if got.Admin.Listen != ":9400" || got.Admin.Token.Reveal() != "literal-token" || got.Shutdown.Grace != 40*time.Second {
		t.Errorf("admin, shutdown: got %+v %+v", got.Admin, got.Shutdown)
	}
	wantOrders := Endpoint{
		Name:   "orders",
		Topics: []string{"orders", `^orders\.[a-z]+$`},
		URL:    "https://hooks.example/orders?token=literal",
		ShareGroup: ShareGroup{
			Name: "team/orders", Start: "by_duration:P1DT2H3M4.5S", Isolation: "read_uncommitted",
			Lock: 45 * time.Second, MaxDeliveries: 25, MaxRecordLocks: 10000,
		},
		Members: 2, Concurrency: 128, MaxHeld: 2000, ReadAhead: ReadAhead{Records: 256},
		Timeout: 90 * time.Second,
		// Header names are merged without regard to case.
		Headers:        map[string]string{"x-from": "defaults", "x-both": "endpoint", "x-number": "0123", "x-dollars": "Bearer a$b$${c"},
		ForwardHeaders: ForwardHeaders{Include: []string{"x-*", "trace"}, Exclude: []string{"x-secret-*"}},
		Format:         "cloudevents-binary",
		CloudEvents:    CloudEvents{Type: "com.example.order", Source: "/shop/orders", Subject: "an order"},
		ContentType:    "application/json; charset=utf-8",
		Auth: Auth{OAuth2: &OAuth2{
			TokenURL: "https://issuer.example/token", ClientID: "gateway", ClientSecret: "literal-secret",
			Scopes: []string{"hooks", "urn:a/b"}, Audience: "https://hooks.example",
		}},
		Signing: Signing{Secrets: []Secret{
			"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsk_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=",
		}},
		TLS: &TLS{
			CAFile: at("hooks.pem"), CertFile: at("client.pem"), KeyFile: at("client.key"),
			ServerName: "hooks.example", InsecureSkipVerify: true,
		},
		Proxy: "http://proxy.example:3128",
		Network: Network{
			Deny:  []string{"link-local", "loopback", "private", "203.0.113.0/24", "2001:db8::/32"},
			Allow: []string{"10.1.2.3/32"},
		},
		Status: Status{
			Accept: []string{"2xx", "3xx", "409"}, Release: []string{"408", "429", "5xx"}, Reject: []string{"4xx", "301"},
		},
		HonourAction: true,
		Retry: Retry{
			Attempts: 5, InitialInterval: time.Second, Multiplier: 3,
			MaxInterval: 20 * time.Second, MaxElapsedTime: 30 * time.Minute, MaxRetryAfter: time.Minute,
		},
		RateLimit: Rate{Count: 1000, Per: time.Minute},
		Breaker: Breaker{
			Window: 30 * time.Second, MinAttempts: 20, FailureRatio: 0.25, RejectRatio: 1,
			Cooldown: 2 * time.Second, MaxCooldown: 5 * time.Minute,
		},
		DeadLetter: DeadLetter{By: "gateway", Topic: "dead.orders"},
	}
	if !reflect.DeepEqual(got.Endpoints[0], wantOrders) {
		t.Errorf("got  %+v\nwant %+v", got.Endpoints[0], wantOrders)
	}
	payments := got.Endpoints[1]
	if payments.Timeout != 7*time.Second || payments.Retry.Attempts != 4 || payments.Retry.Multiplier != 1.5 ||
		payments.Headers["X-Both"] != "defaults" || payments.TLS.ServerName != "hooks.example" {
		t.Errorf("the second endpoint does not take over defaults: %+v", payments)
	}
}

// TestDefaultsAreNotShared holds that endpoints that take over the same
// defaults can be changed one by one.
func TestDefaultsAreNotShared(t *testing.T) {
	t.Parallel()
	c, err := Parse("two.yaml", []byte(`
kafka: {brokers: [localhost]}
defaults: {headers: {x-a: a}, signing: {secrets: [whsec_YQ==]}, tls: {server_name: a}, status: {accept: [200]}, auth: {oauth2: {token_url: "http://a", client_id: a, client_secret: a, scopes: [a]}}, network: {allow: [10.0.0.0/8]}}
endpoints:
  - {name: one, topics: [one], url: "https://localhost"}
  - {name: two, topics: [two], url: "https://localhost"}
`), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	one, two := &c.Endpoints[0], &c.Endpoints[1]
	one.Signing.Secrets[0] = "b"
	one.Headers["x-a"], one.TLS.ServerName, one.Status.Accept[0] = "b", "b", "b"
	one.Auth.OAuth2.ClientID, one.Auth.OAuth2.Scopes[0] = "b", "b"
	one.Network.Deny[0], one.Network.Allow[0] = "b", "b"
	if two.Auth.OAuth2.ClientID != "a" || two.Auth.OAuth2.Scopes[0] != "a" || two.Network.Deny[0] != "metadata" || two.Network.Allow[0] != "10.0.0.0/8" || two.Signing.Secrets[0] != "whsec_YQ==" || two.Headers["x-a"] != "a" || two.TLS.ServerName != "a" || two.Status.Accept[0] != "200" {
		t.Errorf("a change of one endpoint changed another: %+v", *two)
	}
}

// TestEqualFilesAreEqual holds that how something is written makes no
// difference: reload compares endpoints.
func TestEqualFilesAreEqual(t *testing.T) {
	t.Parallel()
	const head = "kafka: {brokers: [localhost]}\n"
	tail := ""
	var first *Config
	for _, form := range []string{
		"endpoints: [{name: a, topics: [a], url: 'http://h/'}]\n",
		"endpoints: [{name: a, topics: [a], url: 'http://h/', headers: {}, forward_headers: {exclude: []}, content_type: }]\n",
		"endpoints: [{name: a, topics: [a], url: 'http://h/', timeout: 10000ms, share_group: {name: sharehook.a}, retry: }]\n",
		"endpoints: [{name: a, topics: [a], url: 'http://h/', headers: , status: {release: [408, '425', 429, 5xx]}}]\n",
		"defaults: {timeout: 1s, read_ahead: 5}\nendpoints: [{name: a, topics: [a], url: 'http://h/', timeout: 10s, read_ahead: auto}]\n",
		"defaults:\nendpoints: [{name: a, topics: [a], url: 'http://h/', dead_letter: {topic: ''}}]\n",
	} {
		c, err := Parse("a.yaml", []byte(head+form+tail), testOptions())
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = c
		}
		if !reflect.DeepEqual(c, first) {
			t.Errorf("%s: got  %+v\nwant %+v", form, *c, *first)
		}
	}
}

func TestWrittenStatusBeatsDefault(t *testing.T) {
	t.Parallel()
	c, err := Parse("a.yaml", []byte(`
kafka: {brokers: [localhost]}
endpoints: [{name: a, topics: [a], url: 'http://h/', status: {accept: [2xx, 3xx, 429]}}]
`), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	want := Status{Accept: []string{"2xx", "3xx", "429"}, Release: []string{"408", "425", "5xx"}, Reject: []string{"4xx"}}
	if got := c.Endpoints[0].Status; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// write makes a folder of files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoadFolder(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"10-endpoints.yaml":   "endpoints: [{name: first, topics: [a], url: '${file:url}'}]\n",
		"20-kafka.yaml":       "kafka: {brokers: [localhost], tls: {ca_file: ca.pem}}\n",
		"30-endpoints.yaml":   "endpoints: [{name: second, topics: [b], url: 'http://localhost'}]\ndefaults: {members: 3}\n",
		"url":                 "http://localhost/first\n",
		".hidden.yaml":        "nonsense: true\n",
		"notes.txt":           "nonsense: true\n",
		"folder.yaml/in.yaml": "nonsense: true\n",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Endpoints) != 2 || c.Endpoints[0].Name != "first" || c.Endpoints[1].Name != "second" || c.Endpoints[0].Members != 3 {
		t.Errorf("got %+v", c.Endpoints)
	}
	if c.Endpoints[0].URL != "http://localhost/first" || c.Kafka.TLS.CAFile != filepath.Join(dir, "ca.pem") {
		t.Errorf("paths are not relative to the file: %q, %q", c.Endpoints[0].URL, c.Kafka.TLS.CAFile)
	}
	if want := dir + ": 2 endpoints, 2 topics, brokers localhost"; c.Summary() != want {
		t.Errorf("got %q, want %q", c.Summary(), want)
	}
}

func TestLoadFolderFaults(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"a.yaml": "kafka: {brokers: [localhost]}\nendpoints: [{name: one, topics: [a], url: 'http://localhost'}]\n",
		"b.yaml": "admin: {listen: ''}\nkafka: {brokers: [other]}\nendpoints: [{name: one, topics: [b], url: 'http://localhost', members: 0}]\n",
		"c.yaml": "admin: {listen: ''}\n",
		"d.yaml": "",
	})
	_, err := Load(dir)
	checkProblems(t, err)
	want := strings.Join([]string{
		"b.yaml:2:1: kafka: stands in a.yaml:1:1 already; keep it in one file",
		"b.yaml:3:20: endpoints[0].name: is the same as that of endpoints[0] (a.yaml:2:13); rename one of them",
		`b.yaml:3:72: endpoints[0].members: "0" is out of bounds; write a value from 1 to 100`,
		"c.yaml:1:1: admin: stands in b.yaml:1:1 already; keep it in one file",
		"d.yaml:1:1: the file is empty; write at least kafka.brokers and one endpoint",
	}, "\n")
	if got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBrokenFileHidesNothingElse holds that a file that is no YAML does not
// make its keys count as missing.
func TestBrokenFileHidesNothingElse(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"a.yaml": "kafka: [\n",
		"b.yaml": "endpoints: [{name: one, topics: [b], url: 'http://localhost', members: 0}]\n",
	})
	_, err := Load(dir)
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != 2 || problems[0].File != filepath.Join(dir, "a.yaml") || problems[1].Path != "endpoints[0].members" {
		t.Errorf("got %v", err)
	}
}

func TestLoadNothing(t *testing.T) {
	t.Parallel()
	var problems Problems
	_, err := Load(filepath.Join(t.TempDir(), "sharehook.yaml"))
	if !errors.Is(err, fs.ErrNotExist) || errors.As(err, &problems) {
		t.Errorf("a file that does not exist: got %v", err)
	}
	if _, err := Load(t.TempDir()); err == nil || errors.As(err, &problems) {
		t.Errorf("a folder without *.yaml: got %v", err)
	}
}
