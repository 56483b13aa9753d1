package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
)

// replacer replaces ${env:NAME}, ${env:NAME:-default}, ${file:PATH} and $$ in
// values.
type replacer struct {
	lookupEnv func(string) (string, bool)
	readFile  func(string) ([]byte, error)
	dir       string   // what relative paths are relative to
	read      []string // files that were brought in
}

// replacement is a value after its replacements.
type replacement struct {
	text    string
	shown   string // the same for a person: what was brought in is hidden
	brought bool   // something was brought in
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// replace makes one pass over a value. What it brings in is not looked at
// again, so that a secret may hold any characters. A dollar sign that begins
// neither $$ nor ${ is only a dollar sign.
func (r *replacer) replace(raw string) (replacement, error) {
	if !strings.Contains(raw, "$") {
		return replacement{text: raw, shown: raw}, nil
	}
	var out replacement
	var text, shown strings.Builder
	literal := func(s string) { text.WriteString(s); shown.WriteString(s) }
	for rest := raw; rest != ""; {
		before, after, found := strings.Cut(rest, "$")
		literal(before)
		if !found {
			break
		}
		switch {
		case strings.HasPrefix(after, "$"):
			literal("$")
			rest = after[1:]
		case strings.HasPrefix(after, "{"):
			inner, behind, closed := strings.Cut(after[1:], "}")
			if !closed {
				return out, errors.New("has a ${ without its }; close it, or write $${ for the characters themselves")
			}
			value, err := r.bring(inner)
			if err != nil {
				return out, err
			}
			out.brought = true
			text.WriteString(value)
			shown.WriteString(hiddenText)
			rest = behind
		default:
			literal("$")
			rest = after
		}
	}
	out.text, out.shown = text.String(), shown.String()
	return out, nil
}

// bring returns what stands for the inside of one ${...}.
func (r *replacer) bring(inner string) (string, error) {
	from, name, _ := strings.Cut(inner, ":")
	switch from {
	case "env":
		return r.fromEnv(name)
	case "file":
		return r.fromFile(name)
	default:
		return "", errors.New("has a ${...} that is neither ${env:NAME} nor ${file:PATH}; write one of them, or $${ for the characters themselves")
	}
}

// fromEnv reads NAME or NAME:-default. As in the shell the default also takes
// the place of an empty variable.
func (r *replacer) fromEnv(name string) (string, error) {
	name, fallback, hasFallback := strings.Cut(name, ":-")
	if !envName.MatchString(name) {
		return "", errors.New("has an ${env:...} without a lawful name; write ${env:NAME} with letters, digits and _")
	}
	value, set := r.lookupEnv(name)
	switch {
	case hasFallback && value == "":
		return fallback, nil
	case !set:
		return "", fmt.Errorf("needs the environment variable %s, which is not set; set it, or write ${env:%s:-default}", name, name)
	default:
		return value, nil
	}
}

// fromFile reads a file and drops one line end at its end, LF or CRLF: editors
// put it there. Anything else is kept, and left to the checks.
func (r *replacer) fromFile(path string) (string, error) {
	if path == "" {
		return "", errors.New("has a ${file:} without a path; write ${file:PATH}")
	}
	content, err := r.readFile(r.resolve(path))
	r.read = append(r.read, r.resolve(path))
	if err != nil {
		return "", fmt.Errorf("needs the file %q, which cannot be read (%s); check its path and permissions", path, fileCause(err))
	}
	value := string(content)
	if cut, ok := strings.CutSuffix(value, "\n"); ok {
		value = strings.TrimSuffix(cut, "\r")
	}
	return value, nil
}

// resolve returns a path that does not depend on the working directory more
// than the YAML file's own does.
func (r *replacer) resolve(path string) string {
	if path == "" || filepath.IsAbs(path) || r.dir == "" {
		return path
	}
	return filepath.Join(r.dir, path)
}

// fileCause says why a file could not be read, without repeating its path.
func fileCause(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err.Error()
	}
	return err.Error()
}
