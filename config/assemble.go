package config

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v4"
)

// written is a top-level key where it stands.
type written struct {
	file        string
	name, value *yaml.Node
}

// assembly makes a Config of the files of one run.
type assembly struct {
	*parse
	config   Config
	keys     map[string]written // top-level keys but endpoints
	lists    []written          // endpoints of every file
	partial  bool               // a file is no YAML: what is missing may be there
	sections []*section         // of each endpoint
	defaults *section           // nil: none
	preset   Endpoint           // what every endpoint begins with
}

// load decodes and checks the sources; name is that of the whole.
func load(sources []source, name string, opts Options) (*Config, error) {
	if opts.LookupEnv == nil {
		opts.LookupEnv = os.LookupEnv
	}
	if opts.ReadFile == nil {
		opts.ReadFile = readReplacement
	}
	a := &assembly{
		parse: &parse{replacer: replacer{lookupEnv: opts.LookupEnv, readFile: opts.ReadFile, dir: opts.Dir}},
		keys:  map[string]written{},
	}
	a.config.source = name
	for _, src := range sources {
		a.config.read = append(a.config.read, src.file)
		root := src.read(&a.report)
		if root == nil {
			a.partial = true
			continue
		}
		a.collect(src, root)
	}
	a.decode(place{sources[0].file, 1, 1})
	if err := a.err(); err != nil {
		return nil, err
	}
	a.config.read = append(a.config.read, a.read...)
	return &a.config, nil
}

// collect sorts the top-level keys of one file.
func (a *assembly) collect(src source, root *yaml.Node) {
	s := a.section(src.file, "", root)
	for name, value := range s.entries(root, "") {
		w := written{src.file, name, deref(value)}
		earlier, twice := a.keys[name.Value]
		switch _, known := find(rootKeys, name.Value); {
		case !known:
			s.fault(name, label(name.Value), unknownKey(name.Value, rootKeys))
		case name.Value == "endpoints":
			a.lists = append(a.lists, w)
		case twice:
			s.fault(name, name.Value, fmt.Sprintf("stands in %s already; keep it in one file",
				place{earlier.file, earlier.name.Line, earlier.name.Column}))
		default:
			a.keys[name.Value] = w
		}
	}
}

// decode makes the values, defaults before the endpoints that take them over.
func (a *assembly) decode(top place) {
	root := reflect.ValueOf(&a.config).Elem()
	for _, k := range rootKeys {
		switch k.name {
		case "endpoints":
			a.endpoints(k, top)
		case "defaults":
			a.decodeDefaults()
		default:
			a.decodeKey(k, field(root, k.name), top)
		}
	}
	if a.nodes > maxNodes {
		// What was left out would only look missing, so this is the one fault.
		a.problems = nil
		a.add(top, "", fmt.Sprintf("the file holds more than %d values, those of aliases counted at each use; split or shorten it", maxNodes))
		return
	}
	a.checkEndpoints()
}

// decodeKey decodes kafka, admin or shutdown.
func (a *assembly) decodeKey(k key, into reflect.Value, top place) {
	fill(k.keys, into)
	w, ok := a.keys[k.name]
	if !ok {
		a.missing(k, top)
		return
	}
	s := a.section(w.file, k.name, w.name)
	value := w.value
	if isNull(value) {
		value = nullAt(w.name)
	}
	s.object(value, k.keys, into, "")
	if k.name == "kafka" {
		s.checkKafka(a.config.Kafka)
	}
	a.keepHidden(k.name, s)
}

// missing reports a top-level key that no file has.
func (a *assembly) missing(k key, top place) {
	if k.required && !a.partial {
		a.add(top, k.name, "is missing; "+k.advice())
	}
}

func (a *assembly) decodeDefaults() {
	preset := reflect.ValueOf(&a.preset).Elem()
	fill(endpointKeys, preset)
	if w, ok := a.keys["defaults"]; ok {
		a.defaults = a.section(w.file, "defaults", w.name)
		a.defaults.shared = true
		a.defaults.object(w.value, endpointKeys, preset, "")
	}
}

// endpoints decodes the lists of all files into one.
func (a *assembly) endpoints(k key, top place) {
	if len(a.lists) == 0 {
		a.missing(k, top)
	}
	for _, w := range a.lists {
		s := a.section(w.file, k.name, w.name)
		switch n := w.value; {
		case isNull(n):
			s.fault(w.name, "", "is empty; write at least one endpoint")
		case !s.hasForm(n, yaml.SequenceNode, objects, ""):
		case len(n.Content) == 0:
			s.fault(n, "", "is empty; write at least one endpoint")
		default:
			for i, element := range n.Content {
				a.endpoint(w.file, item(k.name, i), deref(element))
			}
		}
	}
}

func (a *assembly) endpoint(file, path string, n *yaml.Node) {
	if a.nodes > maxNodes {
		return
	}
	s := a.section(file, path, n)
	s.inherit(a.defaults)
	e := a.preset.clone()
	s.object(n, endpointKeys, reflect.ValueOf(&e).Elem(), "")
	e.complete(s.hidden)
	e.dropEvents(s)
	e.dropAuth(s)
	a.keepHidden(item("endpoints", len(a.config.Endpoints)), s)
	a.config.Endpoints = append(a.config.Endpoints, e)
	a.sections = append(a.sections, s)
}

// keepHidden remembers which values of the Config were brought in.
func (a *assembly) keepHidden(path string, s *section) {
	for p, shown := range s.hidden {
		if a.config.hidden == nil {
			a.config.hidden = map[string]string{}
		}
		a.config.hidden[join(path, p)] = shown
	}
}

// clone copies an endpoint so deep that a change of the copy is none of the
// original.
func (e Endpoint) clone() Endpoint {
	e.Topics = slices.Clone(e.Topics)
	e.Headers = maps.Clone(e.Headers)
	e.ForwardHeaders.Include = slices.Clone(e.ForwardHeaders.Include)
	e.ForwardHeaders.Exclude = slices.Clone(e.ForwardHeaders.Exclude)
	e.Network.Deny = slices.Clone(e.Network.Deny)
	e.Network.Allow = slices.Clone(e.Network.Allow)
	e.Auth = e.Auth.clone()
	e.Signing.Secrets = slices.Clone(e.Signing.Secrets)
	e.Status.Accept = slices.Clone(e.Status.Accept)
	e.Status.Release = slices.Clone(e.Status.Release)
	e.Status.Reject = slices.Clone(e.Status.Reject)
	if e.TLS != nil {
		tls := *e.TLS
		e.TLS = &tls
	}
	return e
}

// complete fills in the defaults that depend on other keys. One that is made of
// a value that was brought in is shown no more than that value.
func (e *Endpoint) complete(hidden map[string]string) {
	derive := func(path string, into *string, prefix, from, value string) {
		if *into != "" {
			return
		}
		*into = prefix + value
		if shown, ok := hidden[from]; ok {
			hidden[path] = prefix + shown
		}
	}
	derive("share_group.name", &e.ShareGroup.Name, "sharehook.", "name", e.Name)
	hideUser("proxy", e.Proxy, hidden)
	derive("dead_letter.topic", &e.DeadLetter.Topic, "dlq.", "share_group.name", e.ShareGroup.Name)
}
