package config

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the .problems files anew")

// testOptions are an environment and files that no machine changes.
func testOptions() Options {
	env := map[string]string{
		"EMPTY":   "",
		"WORD":    "hunter2",
		"NUMBER":  "7",
		"LIST":    "[hunter2, b]",
		"MAPPING": "{attempts: 1}",
		"DOLLARS": "${env:WORD}",
		"TOPIC":   "brought-topic",
		"URL":     "https://brought.example:8443/hooks/hunter2?key=hunter2",
	}
	files := map[string]string{
		"plain":        "hunter2",
		"lf":           "hunter2\n",
		"crlf":         "hunter2\r\n",
		"two-newlines": "hunter2\n\n",
		"two-lines":    "hunter2\nhunter3\n",
		"lone-cr":      "hunter2\r",
		"space":        "hunter2 ",
		"tab":          "hunter2\t",
		"bell":         "hun\ater2",
		"binary":       "hunter2\xff",
		"dollars":      "hunter2 $$ ${env:NO_SUCH} ${file:x}",
		"zeros":        "0123",
		"mapping":      "a: b",
		"quote":        `"`,
	}
	return Options{
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		ReadFile: func(path string) ([]byte, error) {
			if v, ok := files[path]; ok {
				return []byte(v), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		},
	}
}

// TestProblems reads each faulty file of testdata and compares its faults with
// those in the .problems file beside it.
func TestProblems(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 100 {
		t.Fatalf("found %d files in testdata, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse(filepath.Base(file), src, testOptions())
			checkProblems(t, err)
			got := err.Error() + "\n"
			golden := strings.TrimSuffix(file, ".yaml") + ".problems"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// checkProblems fails unless the error is Problems that each have a place and
// show no secret.
func checkProblems(t *testing.T, err error) {
	t.Helper()
	problems, ok := errors.AsType[Problems](err)
	if !ok || len(problems) == 0 {
		t.Fatalf("got %v, want Problems", err)
	}
	if _, ok := errors.AsType[Problem](err); !ok {
		t.Error("no Problem can be taken out of the Problems")
	}
	for _, p := range problems {
		if p.File == "" || p.Line < 1 || p.Column < 1 || p.Reason == "" {
			t.Errorf("no place or reason in %+v", p)
		}
		if line := p.Error(); strings.Contains(line, "hunter2") || strings.ContainsAny(line, "\r\n") {
			t.Errorf("shows a secret, or more than a line: %q", line)
		}
	}
}
