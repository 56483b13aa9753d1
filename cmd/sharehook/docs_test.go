package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/gateway"
)

// property is a key in the JSON Schema of the file.
type property struct {
	Properties map[string]property
	Items      *property
	Default    any
	Comment    string `json:"$comment"`
}

// keys are the keys beneath a property by their paths, as the manual writes
// them: those of an endpoint without a prefix.
func (p property) keys(prefix string) map[string]property {
	all := make(map[string]property)
	for name, k := range p.Properties {
		path := prefix + name
		switch {
		case path == "defaults": // the same as an endpoint's
		case k.Items != nil && k.Items.Properties != nil:
			maps.Copy(all, k.Items.keys(""))
		default:
			all[path] = k
			maps.Copy(all, k.keys(path+"."))
		}
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var keyRow = regexp.MustCompile("(?m)^\\| `([a-z0-9_.]+)` \\| (.*?) \\| ")

func TestManualHasEveryKey(t *testing.T) {
	var schema property
	if err := json.Unmarshal(config.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	known := schema.keys("")
	manual, later, found := strings.Cut(read(t, "../../docs/configuration.md"), "## Not supported yet")
	if !found {
		t.Fatal("the manual does not say what is not supported yet")
	}
	rows := make(map[string]string)
	for _, row := range keyRow.FindAllStringSubmatch(manual, -1) {
		rows[row[1]] = row[2]
		if k, ok := known[row[1]]; !ok || k.Comment != "" {
			t.Errorf("the manual has a key %s, which there is not", row[1])
		}
	}
	for path, k := range known {
		if k.Comment != "" {
			if !strings.Contains(later, "`"+path+"`") {
				t.Errorf("the manual does not say that %s is not supported yet", path)
			}
			continue
		}
		if strings.Contains(later, "`"+path+"`") {
			t.Errorf("the manual says that %s is not supported yet, but it is", path)
		}
		row, ok := rows[path]
		switch {
		case ok && k.Default != nil && row != quoted(k.Default):
			t.Errorf("the manual says that the default of %s is %s, it is %s", path, row, quoted(k.Default))
		case !ok && k.Properties == nil:
			t.Errorf("the manual does not have the key %s", path)
		}
	}
}

// quoted is a default as the manual writes it.
func quoted(def any) string {
	list, ok := def.([]any)
	if !ok {
		return fmt.Sprintf("`%v`", def)
	}
	var parts []string
	for _, d := range list {
		parts = append(parts, quoted(d))
	}
	return strings.Join(parts, " ")
}

var (
	metricLine = regexp.MustCompile(`(?m)^# TYPE (sharehook_\w+)`)
	metricName = regexp.MustCompile("`(sharehook_\\w+)")
)

func TestManualHasEveryMetric(t *testing.T) {
	cfg, err := config.Parse("test", []byte("kafka: {brokers: ['127.0.0.1:1']}\nadmin: {listen: ''}\n"+
		"endpoints: [{name: a, topics: [a], url: 'http://127.0.0.1:1'}]\n"), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(gateway.Options{Config: cfg, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	page := httptest.NewRecorder()
	g.AdminHandler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))

	manual := read(t, "../../docs/operations.md")
	var named []string
	for _, m := range metricName.FindAllStringSubmatch(manual, -1) {
		named = append(named, m[1])
	}
	// What has no series yet: nothing has happened, nothing is known.
	silent := []string{"sharehook_acknowledgement_errors_total", "sharehook_dead_letters_total", "sharehook_share_group_lag"}
	served := silent
	for _, m := range metricLine.FindAllStringSubmatch(page.Body.String(), -1) {
		served = append(served, m[1])
	}
	for _, name := range served {
		if !slices.Contains(named, name) {
			t.Errorf("the manual does not have the metric %s", name)
		}
	}
	for _, name := range named {
		if !slices.Contains(served, name) {
			t.Errorf("the manual has a metric %s, which there is not", name)
		}
	}
}

func TestFilesOfTheManualAreValid(t *testing.T) {
	// The first block that begins with kafka: in the README.
	_, rest, found := strings.Cut(read(t, "../../README.md"), "\n    kafka:\n")
	if !found {
		t.Fatal("the README shows no file")
	}
	file := "kafka:\n"
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "    ") {
			break
		}
		file += strings.TrimPrefix(line, "    ")
	}
	if _, err := config.Parse("README.md", []byte(file), config.Options{}); err != nil {
		t.Error(err)
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

func TestLinksOfTheManualLeadSomewhere(t *testing.T) {
	for _, page := range []string{"README.md", "CHANGELOG.md", "docs/configuration.md", "docs/endpoint.md", "docs/operations.md"} {
		dir := "../../"
		if strings.HasPrefix(page, "docs/") {
			dir += "docs/"
		}
		for _, m := range link.FindAllStringSubmatch(read(t, "../../"+page), -1) {
			if _, err := os.Stat(dir + m[1]); err != nil {
				t.Errorf("%s: a link leads to %s, which there is not", page, m[1])
			}
		}
	}
}
