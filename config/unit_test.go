package config

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestStartAgo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		start string
		want  time.Duration
		ok    bool
	}{
		{"by_duration:PT1H", time.Hour, true},
		{"by_duration:pt1h", time.Hour, true},
		{"by_duration:P7DT12H", 180 * time.Hour, true},
		{"by_duration:P1DT2H3M4.5S", 26*time.Hour + 3*time.Minute + 4500*time.Millisecond, true},
		{"by_duration:PT0S", 0, true},
		{"by_duration:PT0.000000001S", 1, true},
		{"by_duration:P106751D", 106751 * 24 * time.Hour, true},
		{"by_duration:P106752D", 0, false}, // more than Go can count
		{"by_duration:P106751DT24H", 0, false},
		{"by_duration:PT99999999999999999999H", 0, false},
		{"by_duration:P", 0, false},
		{"by_duration:P1DT", 0, false},
		{"by_duration:-PT1H", 0, false},
		{"by_duration:PT-1H", 0, false},
		{"by_duration:P1M", 0, false},
		{"by_duration:PT1.5H", 0, false},
		{"by_duration:", 0, false},
		{"latest", 0, false},
		{"earliest", 0, false},
	} {
		got, ok := ShareGroup{Start: test.start}.StartAgo()
		if got != test.want || ok != test.ok {
			t.Errorf("%s: got %v, %v", test.start, got, ok)
		}
		if lawful := checkStart(test.start) == ""; lawful != (test.ok || !strings.Contains(test.start, ":")) {
			t.Errorf("%s: checkStart and StartAgo differ", test.start)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"name", "topics", "timeout", "tls", "retry", "max_elapsed_time", "concurrency"}
	for word, want := range map[string]string{
		"topic": "topics", "Topics": "topics", "tmieout": "timeout", "timeouts": "timeout", "tsl": "tls", "retries": "",
		"maxElapsedTime": "", "max-elapsed-time": "max_elapsed_time", "concurency": "concurrency", "x": "", "": "",
		"url": "", strings.Repeat("a", 10_000): "",
	} {
		if got := nearest(word, names); got != want {
			t.Errorf("%.20s: got %q, want %q", word, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"kafka", "kafka:9092", "10.0.0.1", "10.0.0.1:9092", "[::1]", "[::1]:9092", "[fe80::1%eth0]:9092", "a_b.example.:1"} {
		if complaint := checkBroker(good); complaint != "" {
			t.Errorf("broker %s %s", good, complaint)
		}
	}
	for _, bad := range []string{"", ":9092", "kafka:", "kafka:0", "kafka:65536", "kafka:+1", "kafka:09092", "[::1", "::1]:9092", "a b:1", "kafka:9092/x", "-a:1", "[::1%]:1"} {
		if checkBroker(bad) == "" {
			t.Errorf("broker %q is taken", bad)
		}
	}
	for _, good := range []string{"", ":0", ":8400", "127.0.0.1:8400", "[::]:8400", "localhost:8400"} {
		if complaint := checkListen(good); complaint != "" {
			t.Errorf("listen %s %s", good, complaint)
		}
	}
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"http://h", "https://h/", "https://h:1/a?b=c&d=%20", "http://[::1]:8000/x", "HTTPS://Example.COM/x", "http://a_b/x", "http://h/ä",
	} {
		if complaint := checkURL(good); complaint != "" {
			t.Errorf("%s %s", good, complaint)
		}
	}
	for _, bad := range []string{
		"", "h", "//h/x", "http:h", "http:///x", "http://:80/", "http://h#", "http://h/#a", "http://u@h/", "http://@h/", "http://h:0/",
		"http://h:/", "ftp://h/", "http://h h/", "http://h/%zz", "http://h\n/", "unix:///x",
	} {
		if checkURL(bad) == "" {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestAliasesAreBounded holds that a small file cannot become a huge
// configuration.
func TestAliasesAreBounded(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("kafka: {brokers: [localhost]}\nendpoints:\n- &e\n  name: a\n  topics: [a]\n  url: http://h/\n  headers:\n")
	for i := range 2000 {
		fmt.Fprintf(&src, "    x-%d: v\n", i)
	}
	src.WriteString(strings.Repeat("- *e\n", 2000))
	_, err := Parse("bomb.yaml", []byte(src.String()), testOptions())
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Path != "" {
		t.Errorf("got %v", err)
	}
}

// TestAliasesShare holds what aliases are for.
func TestAliasesShare(t *testing.T) {
	t.Parallel()
	c, err := Parse("a.yaml", []byte(`
kafka: {brokers: &brokers [localhost]}
endpoints:
  - {name: a, topics: &topics [x], url: "http://h/", retry: &retry {attempts: 5}, timeout: &timeout 3s}
  - {name: b, topics: *topics, url: "http://h/", retry: *retry, timeout: *timeout}
`), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if b := c.Endpoints[1]; b.Topics[0] != "x" || b.Retry.Attempts != 5 || b.Timeout != 3*time.Second || b.Retry.Multiplier != 2 {
		t.Errorf("got %+v", b)
	}
}

// TestDerivedFaultsShowNothingBroughtIn holds that a fault between keys does
// not show values either.
func TestDerivedFaultsShowNothingBroughtIn(t *testing.T) {
	t.Parallel()
	brought := map[string]string{"MANY": "98765", "CODE": "456", "TOPIC": "secret-topic", "WAIT": "7h"}
	_, err := Parse("a.yaml", []byte(`
kafka: {brokers: [localhost]}
endpoints:
  - name: ${env:TOPIC}
    topics: ["${env:TOPIC}", "${env:TOPIC}"]
    url: http://h/
    concurrency: ${env:MANY}
    read_ahead: ${env:MANY}
    status: {accept: ["${env:CODE}"], reject: ["${env:CODE}"]}
    retry: {initial_interval: "${env:WAIT}"}
    dead_letter: {topic: "${env:TOPIC}"}
  - {name: "${env:TOPIC}", topics: [b], url: "http://h/"}
`), Options{LookupEnv: func(name string) (string, bool) { v, ok := brought[name]; return v, ok }})
	checkProblems(t, err)
	var problems Problems
	if errors.As(err, &problems); len(problems) != 8 {
		t.Errorf("got %d faults:\n%v", len(problems), err)
	}
	for _, value := range brought {
		if strings.Contains(err.Error(), value) {
			t.Errorf("shows %s:\n%v", value, err)
		}
	}
}

func TestLogsShowOnlyTheOrigin(t *testing.T) {
	t.Parallel()
	e := Endpoint{Name: "orders", URL: "https://hooks.example:8443/hunter2?k=hunter2", Headers: map[string]string{"authorization": "hunter2"}}
	c := &Config{Endpoints: []Endpoint{e}, Kafka: Kafka{Brokers: []string{"localhost"}}, source: "a.yaml"}
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("reloaded", "endpoint", e, "config", c)
	if got := out.String(); strings.Contains(got, "hunter2") || !strings.Contains(got, "https://hooks.example:8443") ||
		!strings.Contains(got, "a.yaml: 1 endpoint, 0 topics, brokers localhost") {
		t.Errorf("got %s", got)
	}
}
