package config

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// object decodes a mapping into a struct. Values that are already in the
// struct stay unless the mapping sets them: so defaults are merged.
func (s *section) object(n *yaml.Node, keys []key, into reflect.Value, path string) {
	n = deref(n)
	if !isNull(n) {
		if !s.hasForm(n, yaml.MappingNode, object, path) {
			return
		}
		for name, value := range s.entries(n, path) {
			s.entry(name, value, keys, into, path)
		}
	}
	for _, k := range keys {
		if child := join(path, k.name); k.required && !k.notYet && !s.written(child) && !s.shared {
			s.faultAt(s.place(n), child, "is missing; "+k.advice())
		}
	}
}

// written tells whether a key has a value, or a fault that says more.
func (s *section) written(path string) bool {
	_, ok := s.places[path]
	return ok || s.faulty[path]
}

// entries yields the pairs of a mapping and reports names that are no plain
// words, merge keys and names that are given twice.
func (s *section) entries(n *yaml.Node, path string) func(yield func(name, value *yaml.Node) bool) {
	return func(yield func(name, value *yaml.Node) bool) {
		first := make(map[string]place, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i], n.Content[i+1]
			switch {
			case name.Tag == "!!merge":
				s.fault(name, path, "merge keys (<<) are not supported; write shared keys under defaults")
				continue
			case name.Kind != yaml.ScalarNode || name.Style&yaml.TaggedStyle != 0 || isNull(name):
				s.fault(name, path, "has a key that is no plain word; write it as name: value")
				continue
			}
			if at, twice := first[name.Value]; twice {
				s.fault(name, join(path, label(name.Value)), fmt.Sprintf("is given twice, first in line %d; keep one", at.line))
				continue
			}
			first[name.Value] = s.place(name)
			if !yield(name, value) {
				return
			}
		}
	}
}

// entry decodes one key of a mapping into its field.
func (s *section) entry(name, value *yaml.Node, keys []key, into reflect.Value, path string) {
	child := join(path, label(name.Value))
	k, known := find(keys, name.Value)
	switch {
	case !known:
		s.fault(name, child, unknownKey(name.Value, keys))
	case k.notYet:
		s.fault(name, child, k.name+" is not supported yet; remove it")
	case k.alone && s.shared:
		s.fault(name, child, "cannot stand in defaults; write it at each endpoint")
	default:
		s.value(k, name, deref(value), field(into, k.name), child)
	}
}

// value decodes the value of a known key.
func (s *section) value(k key, name, n *yaml.Node, into reflect.Value, path string) {
	if s.nodes++; s.nodes > maxNodes {
		return // reported once, at the end
	}
	if isNull(n) {
		s.null(k, name, into, path)
		return
	}
	s.set(path, s.place(n))
	switch k.kind {
	case object:
		s.object(n, k.keys, present(k, into), path)
	case texts, secrets:
		s.texts(k, n, into, path)
	case textMap:
		s.textMap(k, n, into, path)
	default:
		s.scalar(k, n, into, path)
	}
}

// null decodes a key with nothing behind it. Where nothing can be meant, an
// optional text or an object, that is what it means; elsewhere it is a value
// that somebody forgot.
func (s *section) null(k key, name *yaml.Node, into reflect.Value, path string) {
	switch {
	case k.kind == object:
		s.set(path, s.place(name))
		s.object(nullAt(name), k.keys, present(k, into), path)
	case k.required:
		s.fault(name, path, "is empty; "+k.advice())
	case k.kind == textMap: // maps merge: nothing is added
	case k.def == nil:
		s.set(path, s.place(name))
		into.SetZero()
	default:
		s.fault(name, path, fmt.Sprintf("is empty; write %s, or remove the key for the default %s", k.kind.wants(), defaultText(k)))
	}
}

// nullAt stands for an empty mapping behind a name, so that what is missing
// in it is reported at the name.
func nullAt(name *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: name.Line, Column: name.Column}
}

// present returns the struct of an object, made with its defaults if it is
// optional and not there yet.
func present(k key, into reflect.Value) reflect.Value {
	if !k.optional {
		return into
	}
	if into.IsNil() {
		into.Set(reflect.New(into.Type().Elem()))
		fill(k.keys, into.Elem())
	}
	return into.Elem()
}

// texts decodes a list of strings or secrets, which replaces the one before.
func (s *section) texts(k key, n *yaml.Node, into reflect.Value, path string) {
	into.SetZero()
	if !s.hasForm(n, yaml.SequenceNode, k.kind, path) {
		return
	}
	if k.required && len(n.Content) == 0 {
		s.fault(n, path, "is empty; "+k.advice())
		return
	}
	for i, element := range n.Content {
		element = deref(element)
		at := item(path, i)
		if s.nodes++; s.nodes > maxNodes {
			return
		}
		s.places[at] = s.place(element)
		if v, ok := s.text(k, element, at); ok {
			into.Set(reflect.Append(into, reflect.ValueOf(v).Convert(into.Type().Elem())))
		}
	}
}

// textMap decodes names and strings into the map that is there. Names are
// compared without regard to case, as those of HTTP headers are.
func (s *section) textMap(k key, n *yaml.Node, into reflect.Value, path string) {
	if !s.hasForm(n, yaml.MappingNode, k.kind, path) {
		return
	}
	merged, _ := reflect.TypeAssert[map[string]string](into)
	if merged == nil {
		merged = map[string]string{}
	}
	names := make(map[string]string, len(merged)) // as they are written, by their folded form
	for name := range merged {
		names[strings.ToLower(name)] = name
	}
	here := map[string]place{}
	for name, value := range s.entries(n, path) {
		at := join(path, label(name.Value))
		if s.nodes++; s.nodes > maxNodes {
			return
		}
		folded := strings.ToLower(name.Value)
		if first, twice := here[folded]; twice {
			s.fault(name, at, fmt.Sprintf("is given twice, in other letters in line %d; keep one", first.line))
			continue
		}
		here[folded] = s.place(name)
		if old, inherited := names[folded]; inherited {
			delete(merged, old)
			delete(s.hidden, join(path, label(old)))
		}
		s.places[at] = s.place(value)
		if complaint := k.checkName(name.Value); complaint != "" {
			s.fault(name, at, complaint)
			continue
		}
		if v, ok := s.text(k, deref(value), at); ok {
			merged[name.Value] = v
		}
	}
	if len(merged) > 0 {
		into.Set(reflect.ValueOf(merged))
	}
}

// hasForm reports a value of the wrong form.
func (s *section) hasForm(n *yaml.Node, form yaml.Kind, k kind, path string) bool {
	if n.Kind == form && n.Style&yaml.TaggedStyle == 0 {
		return true
	}
	reason := fmt.Sprintf("wants %s, has %s; ", k.wants(), nodeForm(n))
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		reason = "has a tag, which is not supported; remove the word that begins with !"
	case (k == texts || k == secrets) && n.Kind == yaml.ScalarNode:
		reason += "write it in brackets: [...]"
	case k == texts || k == secrets || k == objects:
		reason += "begin every entry with a dash"
	default:
		reason += "indent its keys below it"
	}
	s.fault(n, path, reason)
	return false
}

// unknownKey says so, with the key that was probably meant.
func unknownKey(name string, keys []key) string {
	var names, built []string
	for _, k := range keys {
		names = append(names, k.name)
		if !k.notYet {
			built = append(built, k.name)
		}
	}
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("unknown key; did you mean %s?", near)
	}
	return "unknown key; remove it, or use one of " + strings.Join(built, ", ")
}
