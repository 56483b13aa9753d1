package rig

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/sharehook/sharehook/test/kafka"
)

// Keys are a section of a configuration. JSON is YAML.
type Keys map[string]any

// With is a copy of k with more keys.
func (k Keys) With(more Keys) Keys {
	all := make(Keys, len(k)+len(more))
	maps.Copy(all, k)
	maps.Copy(all, more)
	return all
}

// ReplicaHeader tells which gateway a POST is from: its file sets it.
const ReplicaHeader = "x-replica"

// Section is a section endpoints[i] that posts the records of a topic, which
// has its name, to a URL. Its POSTs say that they are the replica's.
func Section(name, url, replica string, more Keys) Keys {
	return Keys{
		"name": name, "topics": []string{name}, "url": url,
		"headers":     Keys{ReplicaHeader: replica},
		"share_group": Keys{"start": "earliest"},
	}.With(more)
}

// File is a configuration of a gateway on a cluster.
func File(brokers []string, sections ...Keys) Keys {
	return Keys{
		"kafka":     Keys{"brokers": brokers},
		"admin":     Keys{"listen": "127.0.0.1:0"},
		"endpoints": sections,
	}
}

// Write puts a configuration into a file of its own.
func Write(tb testing.TB, cfg Keys) (path string) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), "sharehook.yaml")
	text, err := json.MarshalIndent(cfg, "", "  ")
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// Name is a name for an endpoint and its topic that no other scenario has.
func Name(prefix string) string {
	n := []byte(kafka.Name(prefix))
	n[len(prefix)] = '-'
	return string(n)
}

// Group and Letters are the names that follow from an endpoint's.
func Group(endpoint string) string { return "sharehook." + endpoint }

// Letters is the dead-letter topic of an endpoint.
func Letters(endpoint string) string { return "dlq." + Group(endpoint) }
