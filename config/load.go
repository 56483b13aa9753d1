package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Options say where replacements come from. The zero Options are those of the
// process: its environment, its files, its working directory.
type Options struct {
	// LookupEnv answers ${env:NAME}; nil: os.LookupEnv.
	LookupEnv func(name string) (string, bool)
	// ReadFile answers ${file:PATH}; nil: os.ReadFile, bounded to 1 MiB.
	ReadFile func(path string) ([]byte, error)
	// Dir is the folder that relative paths are relative to; empty: the
	// working directory.
	Dir string
}

// Load reads a file, or a folder: all its *.yaml in the order of their names,
// endpoints joined, every other key in one of them only. The error is Problems
// if the configuration has faults; another error means that there is nothing
// to read at the path.
func Load(path string) (*Config, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w; name a file or folder that exists", err)
	}
	if !info.IsDir() {
		src, err := readSource(path)
		if err != nil {
			return nil, err
		}
		return load([]source{src}, path, Options{Dir: filepath.Dir(path)})
	}
	sources, err := readFolder(path)
	if err != nil {
		return nil, err
	}
	return load(sources, path, Options{Dir: path})
}

// Parse reads one file from memory; name stands for it in faults.
func Parse(name string, src []byte, opts Options) (*Config, error) {
	return load([]source{{name, src}}, name, opts)
}

// readFolder reads the files of a folder. Hidden ones are left out: editors
// and Kubernetes keep their own things there.
func readFolder(path string) ([]source, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w; check its permissions", err)
	}
	var sources []source
	for _, e := range entries { // in the order of their names
		if strings.HasPrefix(e.Name(), ".") || filepath.Ext(e.Name()) != ".yaml" {
			continue
		}
		file := filepath.Join(path, e.Name())
		// A link counts as what it leads to: a mounted ConfigMap has only links.
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			continue
		}
		src, err := readSource(file)
		if err != nil {
			return nil, err
		}
		sources = append(sources, src)
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("read the configuration: the folder %s holds no *.yaml; add one", path)
	}
	return sources, nil
}

func readSource(file string) (source, error) {
	text, err := readBounded(file, 16<<20)
	if err != nil {
		return source{}, fmt.Errorf("read the configuration: %w; check its permissions", err)
	}
	return source{file, text}, nil
}
