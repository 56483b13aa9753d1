package config

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v4"
)

// indentedJSON writes JSON for people: < and > stay as they are, as nobody
// puts it into a page of HTML.
func indentedJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return out.Bytes(), nil
}

// orderedJSON is a tree of YAML nodes as JSON, with its keys in their order.
type orderedJSON struct{ *yaml.Node }

// MarshalJSON implements json.Marshaler.
func (o orderedJSON) MarshalJSON() ([]byte, error) {
	switch {
	case o.Kind == yaml.MappingNode:
		return o.members('{', '}', 2)
	case o.Kind == yaml.SequenceNode:
		return o.members('[', ']', 1)
	case o.Tag == "!!str":
		return quoted(o.Value), nil
	default: // numbers, true and false look the same in JSON
		return []byte(o.Value), nil
	}
}

// members writes the content in groups of step nodes: values, or names with
// their values.
func (o orderedJSON) members(begin, end byte, step int) ([]byte, error) {
	out := []byte{begin}
	for i, n := range o.Content {
		switch {
		case i%step > 0:
			out = append(out, ':')
		case i > 0:
			out = append(out, ',')
		}
		text, err := orderedJSON{n}.MarshalJSON()
		if err != nil {
			return nil, err
		}
		out = append(out, text...)
	}
	return append(out, end), nil
}

func quoted(s string) []byte {
	text, err := indentedJSON(s)
	if err != nil {
		panic("config: " + err.Error()) // a string always encodes
	}
	return bytes.TrimSuffix(text, []byte("\n"))
}
