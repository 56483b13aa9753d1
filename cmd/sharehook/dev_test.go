package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDevPrintsTable(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"dev", "--records", "10"}, &stdout, &stderr); code != exitWell {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("the log is not empty: %s", stderr.String())
	}
	_, table, found := strings.Cut(stdout.String(), "\n\naccepted ")
	if !found || !strings.Contains(table, "dead letters         1   1 on dlq.sharehook.orders\n") {
		t.Errorf("no table, or a wrong one: %s", stdout.String())
	}
}

func TestDevPrintsJSONAlone(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"dev", "--records", "10", "--output", "json"}, &stdout, &stderr); code != exitWell {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	var got struct{ Settled, Accepted, Rejected int }
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatalf("stdout is not JSON alone: %v: %s", err, stdout.String())
	}
	if got.Settled != 10 || got.Accepted+got.Rejected != 10 {
		t.Errorf("got %+v", got)
	}
}

func TestDevSampleFileIsValid(t *testing.T) {
	var sample, stdout, stderr bytes.Buffer
	if code := execute([]string{"dev", "--print"}, &sample, &stderr); code != exitWell {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	file := filepath.Join(t.TempDir(), "sharehook.yaml")
	if err := os.WriteFile(file, sample.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := execute([]string{"validate", "-c", file}, &stdout, &stderr); code != exitWell {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	if code := execute([]string{"dev", "--print", "--output", "json"}, &stdout, &stderr); code != exitWell {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}

func TestDevExitCodes(t *testing.T) {
	// A file that is named by the environment is not looked at.
	t.Setenv(configVariable, "/nowhere/sharehook.yaml")
	faulty := filepath.Join(t.TempDir(), "faulty.yaml")
	if err := os.WriteFile(faulty, []byte("endpoints: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		args []string
		code int
	}{
		"environment":     {[]string{"--records", "1"}, exitWell},
		"missing file":    {[]string{"-c", "/nowhere/else.yaml"}, exitUsage},
		"faulty file":     {[]string{"-c", faulty}, exitUsage},
		"negative number": {[]string{"--records", "-1"}, exitUsage},
		"no number":       {[]string{"--records", "many"}, exitUsage},
		"an argument":     {[]string{"orders"}, exitUsage},
		"print a file":    {[]string{"--print", "-c", faulty}, exitUsage},
	} {
		var stdout, stderr bytes.Buffer
		if code := execute(append([]string{"dev"}, c.args...), &stdout, &stderr); code != c.code {
			t.Errorf("%s: exit code %d, want %d: %s", what, code, c.code, stderr.String())
		}
	}
}
