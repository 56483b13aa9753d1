package config

import (
	"fmt"
	"io"
	"os"
)

// maxReplacement bounds a file that a replacement brings in.
const maxReplacement = 1 << 20

// readReplacement is the ReadFile of zero Options.
func readReplacement(path string) ([]byte, error) { return readBounded(path, maxReplacement) }

// readBounded reads a file of at most so many bytes: /dev/zero is a file, too.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > most {
		return nil, &os.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d bytes", most)}
	}
	return content, nil
}
