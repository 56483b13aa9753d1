package config

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// source is one YAML file.
type source struct {
	file string
	text []byte
}

// read builds the tree of the file and returns its root mapping; nil after a
// fault.
func (src source) read(r *report) *yaml.Node {
	top := place{src.file, 1, 1}
	loader, err := yaml.NewLoader(bytes.NewReader(src.text))
	if err != nil {
		r.add(top, "", syntaxFault(err))
		return nil
	}
	var document yaml.Node
	if err := loader.Load(&document); errors.Is(err, io.EOF) {
		r.add(top, "", emptyFile)
		return nil
	} else if err != nil {
		r.add(src.syntaxPlace(err), "", syntaxFault(err))
		return nil
	}
	src.refuseMore(loader, r)

	root := &document
	if document.Kind == yaml.DocumentNode && len(document.Content) == 1 {
		root = document.Content[0]
	}
	switch {
	case isNull(root):
		r.add(top, "", emptyFile)
		return nil
	case root.Kind != yaml.MappingNode:
		r.add(place{src.file, root.Line, root.Column}, "",
			"the file is no mapping but "+nodeForm(root)+"; begin with the keys kafka: and endpoints:")
		return nil
	}
	return root
}

const emptyFile = "the file is empty; write at least kafka.brokers and one endpoint"

// refuseMore reports whatever follows the first document.
func (src source) refuseMore(loader *yaml.Loader, r *report) {
	var second yaml.Node
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.add(src.syntaxPlace(err), "", syntaxFault(err))
	default:
		r.add(place{src.file, second.Line, second.Column}, "",
			"a second document begins here; keep one document in a file, and use a folder of files instead")
	}
}

// syntaxFault says what the YAML library found. Its own words are used only
// where they never quote the file: a value may be a secret.
func syntaxFault(err error) string {
	load, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return "the file cannot be read as YAML; check quotes and indentation"
	}
	switch load.Stage {
	case yaml.ScannerStage, yaml.ParserStage:
		return "the file is no YAML: " + load.Message + "; check quotes and indentation"
	case yaml.ComposerStage:
		return "refers to an anchor that is not defined above; define it first, or quote a value that begins with *"
	case yaml.ReaderStage:
		return "the file holds bytes that are no UTF-8 text, or control characters; save it as UTF-8"
	default:
		return "the file cannot be read as YAML; check quotes and indentation"
	}
}

// syntaxPlace returns where the YAML library stopped.
func (src source) syntaxPlace(err error) place {
	if load, ok := errors.AsType[*yaml.LoadError](err); ok && load.Mark.Line > 0 {
		return place{src.file, load.Mark.Line, load.Mark.Column}
	}
	// The library gives no place for bytes that it cannot read at all.
	at := place{src.file, 1, 1}
	for rest := src.text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) {
			return at
		}
		if at.column++; r == '\n' {
			at.line, at.column = at.line+1, 1
		}
		rest = rest[size:]
	}
	return place{src.file, 1, 1}
}

// isNull tells whether nothing was written. A quoted "null" is a string.
func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Style&yaml.TaggedStyle == 0
}

// nodeForm names the form of a node for a person.
func nodeForm(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		return "a mapping"
	}
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	switch n.Tag {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	default:
		return "a string"
	}
}
