package config

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Print writes the effective configuration as one YAML file: every key that is
// built, defaults filled in, defaults: merged into the endpoints. Literals of
// the file are shown, secrets and what replacements brought in are not.
func (c *Config) Print(w io.Writer) error {
	text, err := yaml.Dump(c.tree())
	if err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	return nil
}

// PrintJSON writes what Print writes, as JSON with the keys in the same order.
func (c *Config) PrintJSON(w io.Writer) error {
	text, err := indentedJSON(orderedJSON{c.tree()})
	if err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	return nil
}

// Summary says in one line what the configuration is about.
func (c *Config) Summary() string {
	topics := map[string]bool{}
	for _, e := range c.Endpoints {
		for _, t := range e.Topics {
			topics[t] = true
		}
	}
	brokers := make([]string, len(c.Kafka.Brokers))
	for i, b := range c.Kafka.Brokers {
		brokers[i] = b
		if _, hidden := c.hidden[item("kafka.brokers", i)]; hidden {
			brokers[i] = hiddenText
		}
	}
	return fmt.Sprintf("%s: %s, %s, brokers %s", c.source,
		count(len(c.Endpoints), "endpoint"), count(len(topics), "topic"), strings.Join(brokers, ","))
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// tree is the configuration as YAML nodes.
func (c *Config) tree() *yaml.Node {
	return c.mapping(rootKeys, reflect.ValueOf(c).Elem(), "")
}

func (c *Config) mapping(keys []key, of reflect.Value, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, k := range keys {
		if k.notYet || k.name == "defaults" && path == "" {
			continue
		}
		value := field(of, k.name)
		if k.optional {
			if value.IsNil() {
				continue // its presence means something
			}
			value = value.Elem()
		}
		n.Content = append(n.Content, textNode(k.name), c.node(k, value, join(path, k.name)))
	}
	return n
}

func (c *Config) node(k key, value reflect.Value, path string) *yaml.Node {
	if shown, ok := c.hidden[path]; ok {
		return hiddenNode(k, shown)
	}
	switch v := value.Interface().(type) {
	case Secret:
		return textNode(v.String())
	case time.Duration:
		return wordNode("!!str", durationText(v))
	case ReadAhead:
		if v.Auto {
			return wordNode("!!str", v.String())
		}
		return wordNode("!!int", v.String())
	case Rate:
		return textNode(v.String())
	case bool:
		return wordNode("!!bool", strconv.FormatBool(v))
	case int:
		return wordNode("!!int", strconv.Itoa(v))
	case float64:
		return wordNode("!!float", trimFloat(v))
	case string:
		return literalNode(v)
	case []string:
		return c.list(k, v, path)
	case []Secret:
		return c.list(k, placeholders(v), path)
	case map[string]string:
		return c.texts(k, v, path)
	case []Endpoint:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := range v {
			n.Content = append(n.Content, c.mapping(endpointKeys, value.Index(i), item(path, i)))
		}
		return n
	default:
		return c.mapping(k.keys, value, path)
	}
}

func (c *Config) list(k key, values []string, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for i, v := range values {
		if shown, ok := c.hidden[item(path, i)]; ok {
			n.Content = append(n.Content, hiddenNode(k, shown))
			continue
		}
		n.Content = append(n.Content, literalNode(v))
	}
	return n
}

// placeholders are what is shown of secrets.
func placeholders(secrets []Secret) []string {
	shown := make([]string, len(secrets))
	for i, s := range secrets {
		shown[i] = s.String()
	}
	return shown
}

func (c *Config) texts(k key, values map[string]string, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if len(values) == 0 {
		n.Style = yaml.FlowStyle
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := literalNode(values[name])
		if shown, ok := c.hidden[join(path, label(name))]; ok {
			value = hiddenNode(k, shown)
		}
		n.Content = append(n.Content, textNode(name), value)
	}
	return n
}

// hiddenNode shows a value that a replacement is part of. Of a secret nothing
// is shown, of another value its literal parts.
func hiddenNode(k key, shown string) *yaml.Node {
	if k.kind == secret || k.kind == secrets {
		return textNode(hiddenText)
	}
	return literalNode(shown)
}

// literalNode is a string that reads back as itself: a dollar sign that would
// begin a replacement is doubled.
func literalNode(s string) *yaml.Node { return textNode(escapeDollars(s)) }

func escapeDollars(s string) string {
	if !strings.Contains(s, "$") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		if s[i] == '$' && i+1 < len(s) && (s[i+1] == '$' || s[i+1] == '{') {
			b.WriteByte('$')
		}
	}
	return b.String()
}

// textNode is a string, which the library quotes if it must.
func textNode(s string) *yaml.Node {
	n := wordNode("!!str", s)
	if s == "" {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func wordNode(tag, s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: s}
}
