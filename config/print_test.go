package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func printed(t *testing.T, c *Config) string {
	t.Helper()
	var out bytes.Buffer
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestPrintReadsBack holds that what Print writes is the same configuration.
func TestPrintReadsBack(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"smallest", "every-key"} {
		c, err := Load(filepath.Join("testdata", "good", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		text := printed(t, c)
		text = writeSecretsAgain(text)
		again, err := Parse(c.source, []byte(text), testOptions())
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		// A secret is the only thing that does not come back.
		forgetSecrets(reflect.ValueOf(c))
		forgetSecrets(reflect.ValueOf(again))
		if !reflect.DeepEqual(c, again) {
			t.Errorf("%s: got  %+v\nwant %+v\n%s", name, *again, *c, text)
		}
	}
}

// forgetSecrets empties every Secret beneath a pointer.
func forgetSecrets(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			forgetSecrets(v.Elem())
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() {
				forgetSecrets(value)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			forgetSecrets(v.Index(i))
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[Secret]() {
			v.SetString("")
		}
	default:
	}
}

// writeSecretsAgain puts those secrets of every-key.yaml back that have a form
// of their own, so that a placeholder does not pass for one.
func writeSecretsAgain(printed string) string {
	return strings.Replace(printed, "secrets: [<secret>, <secret>]",
		"secrets: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, whsk_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=]", 1)
}

// TestPrintShowsEveryKey compares with a file on disk, so that a changed
// default or key is seen in review.
func TestPrintShowsEveryKey(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"smallest", "every-key"} {
		c, err := Load(filepath.Join("testdata", "good", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var asJSON bytes.Buffer
		if err := c.PrintJSON(&asJSON); err != nil {
			t.Fatal(err)
		}
		for form, got := range map[string]string{"printed": printed(t, c), "json": asJSON.String()} {
			golden := filepath.Join("testdata", "good", name+"."+form)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s: got\n%s", golden, got)
			}
		}
		var fromYAML, fromJSON any
		if err := yaml.Load([]byte(printed(t, c)), &fromYAML); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(asJSON.Bytes(), &fromJSON); err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(fromYAML)
		b, _ := json.Marshal(fromJSON)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: YAML and JSON differ:\n%s\n%s", name, a, b)
		}
	}
}

// TestPrintHidesWhatWasBroughtIn holds that replacements never show, in no
// kind of value, also where a default is made of one, or of defaults.
func TestPrintHidesWhatWasBroughtIn(t *testing.T) {
	t.Parallel()
	c, err := Parse("a.yaml", []byte(`
kafka:
  brokers: ["${env:WORD}:9092"]
  client_id: ${env:WORD}
  sasl: {username: "${env:WORD}", password: "x${env:WORD}"}
admin: {token: hunter2-literal}
defaults:
  content_type: text/${env:WORD}
  auth: {bearer: {token: "${env:WORD}"}}
  headers: {x-token: "Bearer ${file:lf}", x-kept: "a ${file:lf}"}
endpoints:
  - name: ${env:WORD}
    topics: [literal, "${env:TOPIC}-hunter2"]
    url: ${env:URL}
    auth: {basic: {username: "${env:WORD}", password: hunter2-literal}}
    concurrency: ${env:NUMBER}
    proxy: http://user:hunter2@proxy.example:3128
    headers: {X-Token: literal, x-b: "$${c}"}
    forward_headers: {include: ["${env:WORD}", b]}
    signing: {secrets: [whsec_aHVudGVyMg==, "whsec_${env:WORD}2"]}
    dead_letter: {topic: "dlq.${env:WORD}"}
`), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	var asJSON bytes.Buffer
	if err := c.PrintJSON(&asJSON); err != nil {
		t.Fatal(err)
	}
	text := printed(t, c)
	shown := strings.ReplaceAll(text+asJSON.String()+c.Summary(), "<secret>-hunter2", "") // a literal part
	if strings.Contains(shown, "hunter2") || strings.Contains(shown, "aHVudGVyMg") || strings.Contains(shown, "brought") {
		t.Errorf("shows what was brought in:\n%s%s", text, shown)
	}
	for _, want := range []string{
		`brokers: ['<secret>:9092']`, `client_id: <secret>`, `password: <secret>`, `token: <secret>`,
		`content_type: text/<secret>`, `X-Token: literal`, `x-kept: a <secret>`, `x-b: $${c}`,
		`topics: [literal, <secret>-hunter2]`, `url: <secret>`, `concurrency: <secret>`, `proxy: http://<secret>@proxy.example:3128`, `name: sharehook.<secret>`,
		`include: [<secret>, b]`, `secrets: [<secret>, <secret>]`, `topic: dlq.<secret>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("does not show %s:\n%s", want, text)
		}
	}
}

func TestEscapedDollarsReadBack(t *testing.T) {
	t.Parallel()
	var none replacer
	for _, s := range []string{"", "$", "$$", "$$$", "${", "$${", "$$${x}", "a$b", "$x{", "{$}", "$${env:A}"} {
		got, err := none.replace(escapeDollars(s))
		if err != nil || got.text != s || got.brought {
			t.Errorf("%q: got %q, %v", s, got.text, err)
		}
	}
}
