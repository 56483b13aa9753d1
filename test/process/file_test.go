//go:build kafka

package process

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/sharehook/sharehook/test/kafka"
)

// keys are a section of a configuration. JSON is YAML.
type keys map[string]any

// with is a copy of k with more keys.
func (k keys) with(more keys) keys {
	all := make(keys, len(k)+len(more))
	maps.Copy(all, k)
	maps.Copy(all, more)
	return all
}

// endpoint is a section endpoints[i] that posts the records of topic, which
// has its name, to h. Retries are quick.
func endpoint(name string, h *hook, more keys) keys {
	return keys{
		"name": name, "topics": []string{name}, "url": h.url(),
		"retry": keys{"initial_interval": "20ms", "max_interval": "500ms"},
	}.with(more)
}

// name is a name for an endpoint and its topic that no other scenario has.
func name(prefix string) string {
	n := []byte(kafka.Name(prefix))
	n[len(prefix)] = '-'
	return string(n)
}

// group and letters are the names that follow from an endpoint's.
func group(endpoint string) string   { return "sharehook." + endpoint }
func letters(endpoint string) string { return "dlq." + group(endpoint) }

// configuration is a file for a gateway on c.
func configuration(c *kafka.Cluster, endpoints ...keys) keys {
	return keys{
		"kafka":     keys{"brokers": c.Seeds},
		"admin":     keys{"listen": "127.0.0.1:0"},
		"endpoints": endpoints,
	}
}

// write puts a configuration into a file of its own.
func write(t *testing.T, cfg keys) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "sharehook.yaml")
	rewrite(t, path, cfg)
	return path
}

// rewrite changes a file so that nobody sees half of it.
func rewrite(t *testing.T, path string, cfg keys) {
	t.Helper()
	text, err := json.MarshalIndent(cfg, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	replace(t, path, string(text))
}

func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
