package webhooks

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	// newSecret and oldSecret are symmetric, of 24 and 32 bytes.
	newSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	oldSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
)

// seed of the asymmetric secret.
var seed = bytes.Repeat([]byte{7}, ed25519.SeedSize)

func asymmetricSecret(key []byte) string { return "whsk_" + base64.StdEncoding.EncodeToString(key) }

// oddValues are record values that something on the way might change.
func oddValues() map[string][]byte {
	return map[string][]byte{
		"object":          []byte(`{"b":1,"a":"é"}`),
		"numbers":         []byte(`{"x":1.0,"y":1e2}`),
		"large number":    []byte(`9007199254740993`),
		"html":            []byte("\"<>&\u2028\u2029\""),
		"plain html":      []byte("<>&\u2028"),
		"escapes":         []byte(`"\u00e9\/\ud800"`),
		"duplicate keys":  []byte(`{"a":1,"a":2}`),
		"blanks":          []byte(" { \"a\" : [ ] }\n"),
		"bom":             []byte("\ufeff{\"a\":1}"),
		"crlf":            []byte("{\r\n\"a\":1\r\n}\r\n"),
		"invalid utf-8":   {'"', 0xff, 0xfe, '"'},
		"cut utf-8":       []byte("{\"a\":\"\xc3\"}"),
		"nul":             {0},
		"nul in a string": []byte("\"a\x00b\""),
		"control":         []byte("a\x01\x1f\x7f\u0085b"),
		"quote":           []byte(`say "hello" \ bye`),
		"empty":           {},
		"null":            nil,
		"json null":       []byte("null"),
		"text":            []byte("größe 日本"),
		"two values":      []byte("1 2"),
		"nested":          []byte(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)),
		"1 MiB":           bytes.Repeat([]byte(`"0123456789"`+"\n"), 1<<20/13),
		"1 MiB of json":   []byte(`"` + strings.Repeat("x", 1<<20) + `"`),
	}
}

// verifies says whether a receiver that knows only this secret takes the request.
func verifies(secret string, r received) error {
	if encoded, ok := strings.CutPrefix(secret, "whsk_"); ok {
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return err
		}
		public, _ := ed25519.NewKeyFromSeed(key[:ed25519.SeedSize]).Public().(ed25519.PublicKey)
		return verifiesAsymmetric(public, r)
	}
	receiver, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return receiver.Verify(r.body, r.header)
}

// verifiesAsymmetric does what the specification says: the public library of Go
// knows v1 only.
func verifiesAsymmetric(public ed25519.PublicKey, r received) error {
	content := fmt.Sprintf("%s.%s.%s", r.header.Get("webhook-id"), r.header.Get("webhook-timestamp"), r.body)
	for part := range strings.SplitSeq(r.header.Get("webhook-signature"), " ") {
		encoded, ok := strings.CutPrefix(part, "v1a,")
		if !ok {
			continue
		}
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if err == nil && ed25519.Verify(public, []byte(content), signature) {
			return nil
		}
	}
	return fmt.Errorf("no signature of %q verifies", r.header.Get("webhook-signature"))
}

// What is sent verifies with each secret alone, whatever the value.
func TestSignaturesVerify(t *testing.T) {
	r := newReceiver(t)
	secrets := []string{newSecret, oldSecret, asymmetricSecret(seed), asymmetricSecret(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, 32)))}
	e := newEndpoint(t, r.URL, func(o *Options) { o.SigningSecrets = secrets })
	for name, value := range oddValues() {
		m := message()
		m.Value = value
		want(t, post(t, e, m), Accept, ReasonOK, http.StatusOK)
		got := r.last(t)
		if !bytes.Equal(got.body, value) {
			t.Errorf("%s: %d bytes arrived of %d, or others", name, len(got.body), len(value))
		}
		for i, secret := range secrets {
			if err := verifies(secret, got); err != nil {
				t.Errorf("%s, secret %d: %v", name, i, err)
			}
		}
		if err := verifies("whsec_"+base64.StdEncoding.EncodeToString([]byte("another secret")), got); err == nil {
			t.Errorf("%s: verifies with a secret that was not used", name)
		}
	}
}

// The newest secret's signature comes first, and the form is the specification's.
func TestSignatureForm(t *testing.T) {
	e := newEndpoint(t, "http://localhost", func(o *Options) { o.SigningSecrets = []string{newSecret, asymmetricSecret(seed), oldSecret} })
	m := message()
	m.ID, m.Value = "msg_p5jXN8AQM9LWM0D4loKWxJek", []byte(`{"test": 2432232314}`)
	p, err := e.pack(m, Attempt{Number: 1}, time.Unix(1614265330, 999))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(p.header.Get("webhook-signature"), " ")
	// The first is the vector of the public libraries' tests.
	if len(parts) != 3 || parts[0] != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" ||
		!strings.HasPrefix(parts[1], "v1a,") || !strings.HasPrefix(parts[2], "v1,") {
		t.Errorf("got %q", parts)
	}
	if len(p.header["Webhook-Signature"]) != 1 {
		t.Errorf("%d headers", len(p.header["Webhook-Signature"]))
	}
}

func TestUnsignedHasNoSignature(t *testing.T) {
	header, _ := headerOf(t, newEndpoint(t, "http://localhost", nil), message())
	if got, ok := header["Webhook-Signature"]; ok {
		t.Errorf("got %q", got)
	}
}

// An attempt is signed when it is made: a receiver that tolerates 5 s takes one
// of a record that was held for long.
func TestEachAttemptIsSignedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []received
		network := servePipe(t, func(w http.ResponseWriter, r *http.Request) {
			got = append(got, received{header: r.Header})
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		e := newEndpoint(t, "http://endpoint.example", viaPipe(network, func(o *Options) { o.SigningSecrets = []string{newSecret} }))
		m := message()
		m.Value = []byte{}
		for n := 1; n <= 3; n++ {
			pass(30 * time.Second)
			want(t, e.Attempt(t.Context(), m, Attempt{Number: n}), Release, ReasonStatus5xx, http.StatusServiceUnavailable)
			r := got[len(got)-1]
			if sent := r.header.Get("webhook-timestamp"); sent != fmt.Sprint(time.Now().Unix()) {
				t.Errorf("attempt %d: timestamp %s, now %d", n, sent, time.Now().Unix())
			}
			if err := verifies(newSecret, r); err != nil {
				t.Errorf("attempt %d: %v", n, err)
			}
		}
		if got[0].header.Get("webhook-signature") == got[1].header.Get("webhook-signature") {
			t.Error("the second attempt has the signature of the first")
		}
		e.Close()
		_ = network.Close()
	})
}

func TestSigningIsConcurrent(t *testing.T) {
	e := newEndpoint(t, "http://localhost", func(o *Options) { o.SigningSecrets = []string{newSecret, asymmetricSecret(seed)} })
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			m := message()
			m.Value = bytes.Repeat([]byte{byte(i)}, 1000*i)
			for range 50 {
				p, err := e.pack(m, Attempt{Number: 1}, time.Now())
				if err != nil {
					t.Error(err)
				} else if err := verifies(newSecret, received{header: p.header, body: p.body}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestBadSecretsAreFaultsThatTellNothing(t *testing.T) {
	pair := ed25519.NewKeyFromSeed(seed)
	other := append(bytes.Clone(pair[:32]), bytes.Repeat([]byte{1}, 32)...)
	for name, secret := range map[string]string{
		"empty":               "",
		"no prefix":           "hunter2",
		"public key":          "whpk_" + base64.StdEncoding.EncodeToString(pair[32:]),
		"nothing":             "whsec_",
		"no seed":             "whsk_",
		"no base64":           "whsec_hunter2!",
		"url base64":          "whsec_hunter2-hunter2_",
		"no padding":          "whsec_aHVudGVyMg",
		"no base64 of a seed": "whsk_hunter2!",
		"short seed":          asymmetricSecret(seed[1:]),
		"long seed":           asymmetricSecret(append([]byte{1}, seed...)),
		"not its public key":  asymmetricSecret(other),
		"other letters":       "WHSEC_aHVudGVyMg==",
	} {
		_, err := New(Options{Name: "orders", URL: "http://localhost", SigningSecrets: []string{newSecret, secret}})
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") || len(secret) > 6 && strings.Contains(err.Error(), secret[6:]) {
			t.Errorf("%s: the error tells the secret: %v", name, err)
		}
		if !strings.Contains(err.Error(), "signing secret 1") {
			t.Errorf("%s: the error does not say which: %v", name, err)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	body := bytes.Repeat([]byte("v"), 1<<10)
	for name, secrets := range map[string][]string{"v1": {newSecret}, "v1 twice": {newSecret, oldSecret}, "v1a": {asymmetricSecret(seed)}} {
		b.Run(name, func(b *testing.B) {
			s, err := newSigner(secrets)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.sign("uk-vasUQ0bZwoeuM0EufEw-2-0", "1795972891", body)
			}
		})
	}
}
