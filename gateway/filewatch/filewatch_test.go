package filewatch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Each way of replacing a file is noticed, and what changes nothing is not.
func TestChangesAreNoticed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		set    func(t *testing.T, dir string) (file string)
		change func(t *testing.T, dir string)
	}{
		{"written in place", plain, func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "file"), "new")
		}},
		{"renamed over", plain, func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "other"), "new")
			must(t, os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "file")))
		}},
		{"removed", plain, func(t *testing.T, dir string) {
			t.Helper()
			must(t, os.Remove(filepath.Join(dir, "file")))
		}},
		{"swapped by a link further up", mounted, func(t *testing.T, dir string) {
			t.Helper()
			must(t, os.Mkdir(filepath.Join(dir, "v2"), 0o700))
			write(t, filepath.Join(dir, "v2", "file"), "new")
			must(t, os.Symlink("v2", filepath.Join(dir, "tmp")))
			must(t, os.Rename(filepath.Join(dir, "tmp"), filepath.Join(dir, "data")))
		}},
		{"a file more in the folder", folder, func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "second"), "new")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := tc.set(t, dir)
			changed := make(chan struct{}, 100)
			w := New(Options{
				Files:   func() []string { return []string{file} },
				Changed: func() { changed <- struct{}{} },
			})
			tc.change(t, dir)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				w.Run(ctx)
			}()
			defer func() { cancel(); <-ended }()
			select {
			case <-changed:
			case <-time.After(30 * time.Second):
				t.Fatal("the change was not noticed")
			}
		})
	}
}

// A file is written anew with a pause, and its first half would do by itself:
// only the whole is told of.
func TestHalfWrittenFileIsWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "first half, second half")
	changed := make(chan string, 10)
	w := New(Options{
		Files: func() []string { return []string{file} },
		Changed: func() {
			text, err := os.ReadFile(file)
			must(t, err)
			changed <- string(text)
		},
	})
	write(t, file, "first half,")
	if wait := w.look(); wait != settleShrunk {
		t.Fatalf("looks again after %v, want %v", wait, settleShrunk)
	}
	write(t, file, "first half, other half!")
	w.look()
	if got := <-changed; got != "first half, other half!" || len(changed) != 0 {
		t.Errorf("told of %q and %d more, want the whole once", got, len(changed))
	}
	// One that stays shorter is told of as well.
	write(t, file, "short")
	w.look()
	w.look()
	if got := <-changed; got != "short" {
		t.Errorf("told of %q, want the shorter content", got)
	}
	must(t, w.fs.Close())
}

func plain(t *testing.T, dir string) string {
	t.Helper()
	write(t, filepath.Join(dir, "file"), "old")
	return filepath.Join(dir, "file")
}

func folder(t *testing.T, dir string) string {
	t.Helper()
	plain(t, dir)
	return dir
}

// mounted lays files out as Kubernetes does.
func mounted(t *testing.T, dir string) string {
	t.Helper()
	must(t, os.Mkdir(filepath.Join(dir, "v1"), 0o700))
	write(t, filepath.Join(dir, "v1", "file"), "old")
	must(t, os.Symlink("v1", filepath.Join(dir, "data")))
	must(t, os.Symlink(filepath.Join("data", "file"), filepath.Join(dir, "file")))
	return filepath.Join(dir, "file")
}
