package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func TestSecretNeverPrints(t *testing.T) {
	t.Parallel()
	c := Config{
		Kafka: Kafka{SASL: &SASL{Password: "hunter2"}},
		Admin: Admin{Token: "hunter2"},
	}
	var out bytes.Buffer
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%10v"} {
		fmt.Fprintf(&out, format+"\n", c.Admin.Token)
		fmt.Fprintf(&out, format+"\n", c.Admin)
		fmt.Fprintf(&out, format+"\n", *c.Kafka.SASL)
	}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("configuration", "token", c.Admin.Token, "admin", c.Admin, "config", c)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(text)
	if text, err = yaml.Dump(c); err != nil {
		t.Fatal(err)
	}
	out.Write(text)
	// Hexadecimal, too: %x must not spell the secret.
	for _, form := range []string{"hunter2", "68756e74657232", "68756E74657232"} {
		if strings.Contains(out.String(), form) {
			t.Errorf("shows the secret: %s", out.String())
		}
	}
	if !strings.Contains(out.String(), hiddenText) {
		t.Errorf("shows no placeholder: %s", out.String())
	}
	if got := c.Admin.Token.Reveal(); got != "hunter2" {
		t.Errorf("Reveal: got %q", got)
	}
	if got := fmt.Sprint(Secret("")); got != "" {
		t.Errorf("an empty secret: got %q", got)
	}
}

// TestSecretsArriveAsTheyAre holds that what is brought in, and what is
// written in a file's usual forms, is not changed on its way.
func TestSecretsArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ written, want string }{
		{`'${file:plain}'`, "hunter2"},
		{`'${file:lf}'`, "hunter2"},
		{`'${file:crlf}'`, "hunter2"},
		{`'${file:space}'`, "hunter2 "},
		{`'${file:dollars}'`, "hunter2 $$ ${env:NO_SUCH} ${file:x}"},
		{`'${file:zeros}'`, "0123"},
		{`'${file:mapping}'`, "a: b"},
		{`'${file:quote}'`, `"`},
		{`${file:zeros}`, "0123"},
		{`${env:DOLLARS}`, "${env:WORD}"},
		{`p@s$w0rd`, "p@s$w0rd"},
		{`p@s$$w0rd`, "p@s$w0rd"},
		{`"$"`, "$"},
		{`a$`, "a$"},
		{`"$${env:WORD}"`, "${env:WORD}"},
		{`0123`, "0123"},
		{`1e3`, "1e3"},
		{`no`, "no"},
		{`"a: b"`, "a: b"},
		{`'"'`, `"`},
		{`"pass ${env:WORD}-${env:NUMBER}$"`, "pass hunter2-7$"},
		{`${env:NO_SUCH:-fallback}`, "fallback"},
		{`${env:EMPTY:-fallback}`, "fallback"},
		{`${env:NO_SUCH:-}x`, "x"},
		{`"${env:NO_SUCH:-a:-b: $c}"`, "a:-b: $c"},
		{`|-
      block`, "block"},
	} {
		src := "kafka:\n  brokers: [localhost]\n  sasl:\n    username: u\n    password: " + test.written +
			"\nendpoints: [{name: a, topics: [a], url: 'http://h/'}]\n"
		c, err := Parse("a.yaml", []byte(src), testOptions())
		if err != nil {
			t.Errorf("%s: %v", test.written, err)
			continue
		}
		if got := c.Kafka.SASL.Password.Reveal(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.written, got, test.want)
		}
	}
}

// TestReplacementsOfOtherTypes holds that a replacement may stand for a value
// of any single type, and is read as that.
func TestReplacementsOfOtherTypes(t *testing.T) {
	t.Parallel()
	c, err := Parse("a.yaml", []byte(`
kafka: {brokers: ["${env:NO_SUCH:-localhost}:9092"]}
endpoints:
  - name: a${env:NUMBER}
    topics: ["${env:TOPIC}"]
    url: ${env:URL}
    enabled: ${env:NO_SUCH:-false}
    concurrency: ${env:NUMBER}
    read_ahead: "${env:NUMBER}"
    timeout: ${env:NUMBER}s
    retry: {multiplier: "1.${env:NUMBER}"}
    tls: {ca_file: "${env:TOPIC}/ca.pem"}
`), Options{LookupEnv: testOptions().LookupEnv, Dir: "conf"})
	if err != nil {
		t.Fatal(err)
	}
	e := c.Endpoints[0]
	if e.Name != "a7" || e.Topics[0] != "brought-topic" || e.Enabled || e.Concurrency != 7 || e.ReadAhead.Records != 7 ||
		e.Timeout.String() != "7s" || e.Retry.Multiplier != 1.7 || e.TLS.CAFile != "conf/brought-topic/ca.pem" {
		t.Errorf("got %+v", e)
	}
}

func TestReplacementReadsNoEndlessFile(t *testing.T) {
	t.Parallel()
	if _, err := readBounded("/dev/zero", 1024); err == nil {
		t.Error("/dev/zero was read whole")
	}
}
