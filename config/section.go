package config

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// maxNodes bounds what is decoded, every use of an alias counted: a few lines
// of aliases must not become gigabytes.
const maxNodes = 200_000

// section is a part of the file that is decoded by itself: a top-level key, or
// one endpoint. Paths are relative to it.
type section struct {
	file string
	path string // of the section in its file
	at   place

	shared bool // the section is defaults

	places map[string]place  // where each written key's value stands
	hidden map[string]string // what to show of values that were brought in
	faulty map[string]bool   // keys that have a fault: later checks skip them

	*parse
}

// parse is what the sections of one run share.
type parse struct {
	report
	replacer
	nodes int
}

func (p *parse) section(file, path string, n *yaml.Node) *section {
	return &section{
		file: file, path: path, at: place{file, n.Line, n.Column},
		places: map[string]place{}, hidden: map[string]string{}, faulty: map[string]bool{},
		parse: p,
	}
}

// inherit takes over what defaults brought in, as their values are.
func (s *section) inherit(defaults *section) {
	if defaults != nil {
		maps.Copy(s.hidden, defaults.hidden)
	}
}

// fault reports what is wrong with the value at a path.
func (s *section) fault(n *yaml.Node, path, reason string) {
	s.faultAt(s.place(n), path, reason)
}

func (s *section) faultAt(at place, path, reason string) {
	s.faulty[path] = true
	s.add(at, s.full(path), reason)
}

func (s *section) place(n *yaml.Node) place { return place{s.file, n.Line, n.Column} }

// full returns the path in the file.
func (s *section) full(path string) string { return join(s.path, path) }

// set notes that a key is written here, which ends what was inherited for it.
func (s *section) set(path string, at place) {
	s.places[path] = at
	for p := range s.hidden {
		if p == path || strings.HasPrefix(p, path+"[") {
			delete(s.hidden, p)
		}
	}
}

// join puts a path together.
func join(path, name string) string {
	switch {
	case path == "":
		return name
	case name == "":
		return path
	default:
		return path + "." + name
	}
}

// label is a name as it stands in a path: in quotes, and not without end, if
// it is no plain word.
func label(name string) string {
	const longest = 80
	if len(name) > longest {
		name = name[:longest] + "..."
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || r == ' ' || r == utf8.RuneError {
			return strconv.Quote(name)
		}
	}
	return name
}

func item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// deref follows an alias. It cannot run in circles: the table bounds how deep
// the decoder goes, and an alias never refers to another.
func deref(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}
