package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is the prefix of what is ours.
const module = "github.com/sharehook/sharehook"

// Libraries that only some packages may know.
const (
	franz      = "github.com/twmb/franz-go"
	chi        = "github.com/go-chi/chi"
	backoff    = "github.com/cenkalti/backoff"
	yamlLib    = "go.yaml.in/yaml"
	otelSDK    = "go.opentelemetry.io/otel/sdk"
	exporters  = "go.opentelemetry.io/otel/exporters"
	prometheus = "github.com/prometheus/client_golang"
	netHTTP    = "net/http"
)

// rule says what a package may import of ours, and what it never imports.
// Both hold for prefixes of whole path elements; tests are free.
type rule struct {
	ours  []string // relative to the module
	never []string
	alone bool // the rule is not for the packages beneath
}

// rules make imports point one way: cmd -> gateway -> the leaves. So each
// language is spoken in one place: Kafka in sharegroup, deadletter and
// cluster, HTTP in webhooks and admin, YAML in config, the OpenTelemetry SDK
// in telemetry. .golangci.yaml has the same rules for the editor.
var rules = map[string]rule{
	"config":             {never: []string{franz, chi, backoff, netHTTP, "go.opentelemetry.io"}},
	"webhooks":           {never: []string{franz, chi, backoff, yamlLib}},
	"dispatch":           {never: []string{franz, chi, netHTTP, yamlLib}},
	"gateway/sharegroup": {never: []string{chi, netHTTP, yamlLib}},
	"gateway/deadletter": {never: []string{chi, netHTTP, yamlLib}},
	"gateway/cluster":    {never: []string{chi, netHTTP, yamlLib}},
	"gateway/admin":      {never: []string{franz, backoff, yamlLib}},
	"gateway/telemetry":  {never: []string{franz, chi, backoff, yamlLib}},
	"gateway/filewatch":  {never: []string{franz, chi, backoff, netHTTP, yamlLib}},
	"gateway": {
		ours:  []string{"config", "webhooks", "dispatch", "gateway"},
		never: []string{yamlLib},
		alone: true,
	},
	"cmd/sharehook": {
		ours:  []string{"gateway", "config", "cmd/sharehook"},
		never: []string{franz, chi, yamlLib},
	},
	// The one command with a broker of its own.
	"cmd/sharehook/dev": {
		ours:  []string{"gateway", "config"},
		never: []string{chi, yamlLib},
	},
	"test": {ours: []string{""}},
}

// sdkUsers are the only packages that may know the OpenTelemetry SDK and the
// Prometheus client; elsewhere the OpenTelemetry API does.
var sdkUsers = []string{"gateway/telemetry", "test"}

// goPackage is what the go command says of a package.
type goPackage struct {
	ImportPath string
	Dir        string
	Imports    []string
}

func TestImportsPointOneWay(t *testing.T) {
	for _, pkg := range packages(t) {
		path := strings.TrimPrefix(strings.TrimPrefix(pkg.ImportPath, module), "/")
		rule, known := ruleOf(path)
		if !known {
			t.Errorf("%s: no rule says what it may import; add one", pkg.ImportPath)
			continue
		}
		never := rule.never
		if !isBelowAny(path, sdkUsers) {
			never = slices.Concat(never, []string{otelSDK, exporters, prometheus})
		}
		for _, imported := range pkg.Imports {
			if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
				if !isBelowAny(ours, rule.ours) {
					t.Errorf("%s imports %s of ours, which it may not", path, ours)
				}
			} else if isBelowAny(imported, never) {
				t.Errorf("%s imports %s, which it never may", path, imported)
			}
		}
	}
}

// ruleOf finds the rule of a package, or of the nearest one above it.
func ruleOf(path string) (rule, bool) {
	for at := path; at != "."; at = filepath.Dir(at) {
		if r, ok := rules[at]; ok && (at == path || !r.alone) {
			return r, true
		}
	}
	return rule{}, false
}

// isBelowAny: path is one of the prefixes or lies beneath one; beneath "" lies
// everything. A version as in ".../v4" counts as beneath.
func isBelowAny(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		return prefix == "" || path == prefix || strings.HasPrefix(path, prefix+"/")
	})
}

// maxLines of a file; longer ones hold two themes.
const maxLines = 400

func TestFilesAreShort(t *testing.T) {
	for _, pkg := range packages(t) {
		files, err := filepath.Glob(filepath.Join(pkg.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if lines := countLines(t, file); lines > maxLines {
				t.Errorf("%s has %d lines, more than %d: split it by theme", file, lines, maxLines)
			}
		}
	}
}

// packages are all packages of the module.
func packages(t *testing.T) []goPackage {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,Imports", "./...")
	list.Dir = ".."
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, stderr.String())
	}
	var all []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg goPackage
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, pkg)
	}
}

func countLines(t *testing.T, file string) int {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(content, []byte("\n"))
}
