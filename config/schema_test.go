package config

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("sharehook.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("sharehook.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func instance(t *testing.T, src string) any {
	t.Helper()
	var v any
	if err := yaml.Load([]byte(src), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestGoodFilesFitTheSchema(t *testing.T) {
	t.Parallel()
	s := compiledSchema(t)
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no good files: %v", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(instance(t, string(src))); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	replacements := `
kafka: {brokers: ["${env:A}"], client_id: "${env:A}"}
shutdown: {grace: "${env:A}"}
defaults: {members: "${env:A}", enabled: "${env:A}", retry: {multiplier: "${file:A}"}, share_group: {isolation: "${env:A}"}}
endpoints: [{name: "${env:A}", topics: ["${env:A}"], url: "${env:A}", read_ahead: "${env:A}", tls: , retry: , content_type: }]
`
	if err := s.Validate(instance(t, replacements)); err != nil {
		t.Error(err)
	}
}

func TestFaultyFilesDoNotFitTheSchema(t *testing.T) {
	t.Parallel()
	s := compiledSchema(t)
	for _, name := range []string{
		"unknown_key", "unknown_key_nested", "unknown_key_swapped", "missing_kafka", "missing_endpoints", "missing_brokers",
		"missing_name", "missing_url", "missing_topics", "empty_endpoints", "empty_topics", "wrong_type_list", "wrong_type_mapping",
		"wrong_type_number", "wrong_type_quoted", "duration_bare", "number_zero", "members_high", "isolation", "dead_letter_by",
		"not_yet_filter", "rate_limit_bare", "rate_limit_unit", "breaker_ratio", "sasl_token_url", "defaults_name", "defaults_group_name", "read_ahead_word",
		"null_number",
	} {
		src, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(instance(t, string(src))) == nil {
			t.Errorf("%s fits the schema", name)
		}
	}
}

// TestTableAndStructsBelongTogether holds that each built key has a field and
// each field a key, of types that fit.
func TestTableAndStructsBelongTogether(t *testing.T) {
	t.Parallel()
	var compare func(keys []key, of reflect.Type, path string)
	compare = func(keys []key, of reflect.Type, path string) {
		if of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		var fields, built []string
		for f := range of.Fields() {
			if tag := f.Tag.Get("yaml"); tag != "" {
				fields = append(fields, tag)
			}
		}
		for _, k := range keys {
			if k.notYet || path == "" && k.name == "defaults" {
				continue
			}
			built = append(built, k.name)
			if k.kind == object || k.kind == objects {
				f := field(reflect.New(of).Elem(), k.name)
				compare(k.keys, f.Type(), join(path, k.name))
			}
			if k.def != nil && k.kind != texts && reflect.TypeOf(k.def) != field(reflect.New(of).Elem(), k.name).Type() {
				t.Errorf("%s: the default %T is of another type than the field", join(path, k.name), k.def)
			}
		}
		slices.Sort(fields)
		slices.Sort(built)
		if !slices.Equal(fields, built) {
			t.Errorf("%s: the table has %v, the struct %v", path, built, fields)
		}
	}
	compare(rootKeys, reflect.TypeFor[Config](), "")
}

// TestEveryKeyIsDescribed holds what an editor shows, and that the schema
// knows each key of the interface, built or not.
func TestEveryKeyIsDescribed(t *testing.T) {
	t.Parallel()
	var walk func(keys []key, path string)
	walk = func(keys []key, path string) {
		for _, k := range keys {
			if !strings.HasSuffix(k.doc, ".") {
				t.Errorf("%s has no description that is a sentence: %q", join(path, k.name), k.doc)
			}
			walk(k.keys, join(path, k.name))
		}
	}
	walk(rootKeys, "")
	for _, name := range []string{
		"name", "topics", "url", "enabled", "share_group", "members", "concurrency", "max_held", "read_ahead", "rate_limit", "timeout",
		"headers", "forward_headers", "format", "content_type", "cloudevents", "schema_registry", "filter", "batch", "auth", "signing",
		"tls", "proxy", "network", "status", "honour_action", "retry", "breaker", "dead_letter",
	} {
		if _, ok := find(endpointKeys, name); !ok {
			t.Errorf("the endpoint key %s is unknown", name)
		}
		if !bytes.Contains(Schema(), []byte(`"`+name+`": {`)) {
			t.Errorf("the schema does not know %s", name)
		}
	}
}
