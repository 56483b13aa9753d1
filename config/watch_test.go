package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFilesOfAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml": "kafka: {brokers: [b:9092], tls: {ca_file: ca.pem}}\n",
		"b.yaml": `endpoints:
  - {name: x, topics: [t], url: "https://h/", headers: {X-Token: "${file:token}"}, tls: {cert_file: c.pem, key_file: k.pem}}
  - {name: y, topics: [t], url: "https://h/", headers: {X-Token: "${file:token}"}}
`,
		"token": "secret\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{"a.yaml", "b.yaml", "c.pem", "ca.pem", "k.pem", "token"} {
		want = append(want, filepath.Join(dir, name))
	}
	if got := cfg.Files(); !slices.Equal(got, want) {
		t.Errorf("files: %v, want %v", got, want)
	}
}
