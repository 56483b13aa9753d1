// Package filewatch tells when the content of files has changed, however they
// were replaced: written in place, renamed over by an editor, or swapped by a
// symbolic link further up, as Kubernetes does with mounted ConfigMaps and
// Secrets.
//
// It watches the folders of the files and not the files, since a watch on a
// file stays with the old one when it is replaced, and trusts no event: what
// counts is whether the content is another one.
package filewatch

import (
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settle is how long there must be no event before the files are looked
	// at: a file is written in several steps.
	settle = 250 * time.Millisecond
	// settleShrunk is the same where there is less in the files than before:
	// one of them is perhaps being written anew, with a pause in the middle,
	// and its first half may well be valid.
	settleShrunk = 3 * time.Second
	// lookAnyway is how often they are looked at without an event. Network
	// file systems give none.
	lookAnyway = 10 * time.Second
	// mostRead bounds what is read of one file.
	mostRead = 32 << 20
)

// Options say what is watched.
type Options struct {
	// Files are the files and folders to watch now. It is asked again after
	// each change. A folder stands for the names of its files.
	Files func() []string
	// Changed is called when the content of any of them is another one, on
	// the goroutine of Run.
	Changed func()
	// Logger may be nil.
	Logger *slog.Logger
}

// Watcher watches files.
type Watcher struct {
	o       Options
	fs      *fsnotify.Watcher // nil: no events
	folders map[string]bool   // that are watched
	seen    content           // at the last look that counted
	looked  content           // at the last look
}

// content stands for what is in all files.
type content struct {
	digest [sha256.Size]byte
	size   int64
}

// New begins to watch: a change from here on is noticed by Run, which must be
// called. Without file events (too many watches on the machine) the files are
// looked at from time to time, and that is said.
func New(o Options) *Watcher {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Watcher{o: o, folders: make(map[string]bool)}
	var err error
	if w.fs, err = fsnotify.NewWatcher(); err != nil {
		w.fs = nil
		o.Logger.Warn("watch files: no events, looking every so often", "every", lookAnyway, "error", err)
	}
	w.watchFolders()
	w.seen = w.digest()
	return w
}

// Run watches until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	var events <-chan fsnotify.Event
	var errs <-chan error
	if w.fs != nil {
		defer func() { _ = w.fs.Close() }()
		events, errs = w.fs.Events, w.fs.Errors
	}
	quiet := time.NewTimer(settle)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-events:
			quiet.Reset(settle)
		case err := <-errs:
			// Events were lost: look.
			w.o.Logger.Debug("watch files", "error", err)
			quiet.Reset(settle)
		case <-quiet.C:
			quiet.Reset(w.look())
		}
	}
}

// look compares the content with what it was, and says when to look again.
func (w *Watcher) look() time.Duration {
	now := w.digest()
	before := w.looked
	w.looked = now
	switch {
	case now == w.seen:
		return lookAnyway
	case now.size < w.seen.size && now != before:
		return settleShrunk // and then only if it is still the same
	}
	w.seen = now
	files := w.o.Files()
	w.o.Changed()
	if slices.Equal(files, w.o.Files()) {
		return lookAnyway
	}
	// What was loaded depends on other files. They may have changed after they
	// were read and before they were watched: once more.
	w.watchFolders()
	w.seen = w.digest()
	w.o.Changed()
	return lookAnyway
}

// watchFolders watches the folders of all files, links followed: a swap
// further up shows in the folder that holds the link.
func (w *Watcher) watchFolders() {
	if w.fs == nil {
		return
	}
	for _, file := range w.o.Files() {
		folders := []string{filepath.Dir(file)}
		if target, err := filepath.EvalSymlinks(file); err == nil {
			folders = append(folders, filepath.Dir(target))
		}
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			folders = append(folders, file)
		}
		for _, folder := range folders {
			if w.folders[folder] {
				continue
			}
			if err := w.fs.Add(folder); err != nil {
				w.o.Logger.Debug("watch folder", "folder", folder, "error", err)
				continue
			}
			w.folders[folder] = true
		}
	}
}

// digest stands for the content of all files. A file that cannot be read has
// the content of none.
func (w *Watcher) digest() content {
	h := sha256.New()
	var size int64
	for _, file := range w.o.Files() {
		_, _ = io.WriteString(h, file+"\x00")
		if entries, err := os.ReadDir(file); err == nil {
			for _, e := range entries {
				_, _ = io.WriteString(h, e.Name()+"\x00")
			}
			continue
		}
		f, err := os.Open(file)
		if err != nil {
			_, _ = io.WriteString(h, "\x00gone\x00")
			continue
		}
		one := sha256.New()
		n, _ := io.Copy(one, io.LimitReader(f, mostRead))
		_ = f.Close()
		size += n
		_, _ = h.Write(one.Sum(nil))
	}
	return content{[sha256.Size]byte(h.Sum(nil)), size}
}
