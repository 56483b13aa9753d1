package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// awsEnvironment keeps the process from finding credentials of the machine.
func awsEnvironment(t *testing.T, variables map[string]string) {
	t.Helper()
	none := filepath.Join(t.TempDir(), "none")
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", none)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", none)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	for name, value := range variables {
		t.Setenv(name, value)
	}
}

// verifiesSigV4 does what the documentation of Signature Version 4 says, without
// the SDK.
func verifiesSigV4(r received, host, secret string) error {
	authorization := r.header.Get("Authorization")
	var scope, names, signature string
	for part := range strings.SplitSeq(strings.TrimPrefix(authorization, "AWS4-HMAC-SHA256 "), ", ") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "Credential":
			_, scope, _ = strings.Cut(value, "/")
		case "SignedHeaders":
			names = value
		case "Signature":
			signature = value
		}
	}
	path, query, _ := strings.Cut(r.path, "?")
	canonical := "POST\n" + path + "\n" + query + "\n"
	for name := range strings.SplitSeq(names, ";") {
		value := r.header.Get(name)
		if name == "host" {
			value = host
		}
		canonical += name + ":" + value + "\n"
	}
	body := sha256.Sum256(r.body)
	canonical += "\n" + names + "\n" + hex.EncodeToString(body[:])
	digest := sha256.Sum256([]byte(canonical))
	toSign := "AWS4-HMAC-SHA256\n" + r.header.Get("X-Amz-Date") + "\n" + scope + "\n" + hex.EncodeToString(digest[:])
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	if want := hex.EncodeToString(mac(key, toSign)); signature != want {
		return fmt.Errorf("signature %s, want %s of\n%s", signature, want, canonical)
	}
	return nil
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

func TestSigV4Verifies(t *testing.T) {
	awsEnvironment(t, map[string]string{"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cret", "AWS_SESSION_TOKEN": "session"})
	r := newReceiver(t)
	for _, service := range []string{"execute-api", "s3"} {
		e := newEndpoint(t, r.URL+"/hooks/a?b=c", func(o *Options) { o.Auth.AWSSigV4 = &AWSSigV4{"eu-west-1", service} })
		for name, value := range oddValues() {
			m := message()
			m.Value, m.Headers = value, []Header{{"x-amz-date", []byte("theirs")}}
			want(t, post(t, e, m), Accept, ReasonOK, http.StatusOK)
			got := r.last(t)
			if err := verifiesSigV4(got, strings.TrimPrefix(r.URL, "http://"), "s3cret"); err != nil {
				t.Errorf("%s, %s: %v", service, name, err)
			}
			if got.header.Get("X-Amz-Security-Token") != "session" || !strings.Contains(got.header.Get("Authorization"), "/eu-west-1/"+service+"/aws4_request") {
				t.Errorf("%s, %s: %v", service, name, got.header)
			}
			r.forget()
		}
	}
}

// The vector "post-vanilla" of AWS's own suite.
func TestSigV4Vector(t *testing.T) {
	target, err := url.Parse("https://example.amazonaws.com/")
	if err != nil {
		t.Fatal(err)
	}
	s := &sigV4{signer: v4.NewSigner(), region: "us-east-1", service: "service", target: target}
	p := parcel{header: http.Header{}}
	keys := aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
	if err := s.with(keys)(&p, time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	const want = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, " +
		"Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
	if got := p.header.Get("Authorization"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNoAWSCredentialsHoldsTheRecord(t *testing.T) {
	awsEnvironment(t, nil)
	r := newReceiver(t)
	e := newEndpoint(t, r.URL, func(o *Options) { o.Auth.AWSSigV4 = &AWSSigV4{"eu-west-1", "execute-api"} })
	result := post(t, e, message())
	want(t, result, Release, ReasonAuth, 0)
	if !result.Held || len(r.requests()) != 0 {
		t.Errorf("got %+v", result)
	}
}

// Credentials of a container come from a URL that is a secret, and end.
func TestAWSContainerCredentials(t *testing.T) {
	var status, asked atomic.Int64
	container := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		if code := status.Load(); code != 0 {
			w.WriteHeader(int(code))
			return
		}
		fmt.Fprintf(w, `{"AccessKeyId":"A","SecretAccessKey":"s3cret","Token":"t","Expiration":%q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})
	awsEnvironment(t, map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": container + "/s3cret"})
	r := newReceiver(t)
	auth := func(o *Options) { o.Auth.AWSSigV4 = &AWSSigV4{"eu-west-1", "execute-api"} }
	e := newEndpoint(t, r.URL, auth)
	for range 3 {
		want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
	}
	if err := verifiesSigV4(r.last(t), strings.TrimPrefix(r.URL, "http://"), "s3cret"); err != nil || asked.Load() != 1 {
		t.Errorf("asked %d times, %v", asked.Load(), err)
	}
	status.Store(http.StatusForbidden)
	if result := post(t, newEndpoint(t, r.URL, auth), message()); !result.Held || strings.Contains(result.Cause.Error(), "s3cret") {
		t.Errorf("got %+v", result)
	}
}

// idToken is a JWT that nobody checks.
func idToken(audience string, life time.Duration) string {
	claims, _ := json.Marshal(map[string]any{"aud": audience, "iat": time.Now().Unix(), "exp": time.Now().Add(life).Unix()})
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"RS256"}`)) + "." + encode(claims) + "." + encode([]byte("signature"))
}

func TestGCPTokenOfTheMachine(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Metadata-Flavor") != "Google" || //nolint:misspell // Google's spelling
			r.URL.Path != "/computeMetadata/v1/instance/service-accounts/default/identity" {
			t.Errorf("got %s, %v", r.URL, r.Header)
		}
		_, _ = io.WriteString(w, idToken(r.FormValue("audience"), time.Hour)+"\n")
	})
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(server, "http://"))
	t.Setenv(googleCredentials, "")
	checkGCPToken(t)
}

func TestGCPTokenOfAServiceAccount(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(r.FormValue("assertion"), ".")
		claims, err := base64.RawURLEncoding.DecodeString(parts[1])
		var asked struct {
			Iss      string
			Audience string `json:"target_audience"`
		}
		if json.Unmarshal(claims, &asked) != nil || err != nil || asked.Iss != "robot@example.com" {
			t.Errorf("claims %s, %v", claims, err)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id_token":%q}`, idToken(asked.Audience, time.Hour))
	})
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	writeServiceAccount(t, map[string]string{
		"type": "service_account", "client_email": "robot@example.com", "token_uri": server + "/token", "private_key": string(pem.EncodeToMemory(
			&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	})
	checkGCPToken(t)
}

func writeServiceAccount(t *testing.T, account map[string]string) {
	t.Helper()
	content, err := json.Marshal(account)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(googleCredentials, file)
}

// checkGCPToken holds that attempts bear an ID token for the audience.
func checkGCPToken(t *testing.T) {
	t.Helper()
	r := newReceiver(t)
	e := newEndpoint(t, r.URL, func(o *Options) { o.Auth.GCPIDToken = &GCPIDToken{"https://hooks.example"} })
	want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
	want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
	parts := strings.Split(strings.TrimPrefix(r.last(t).header.Get("authorization"), "Bearer "), ".")
	if len(parts) != 3 {
		t.Fatalf("got %q", parts)
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || !strings.Contains(string(claims), `"aud":"https://hooks.example"`) {
		t.Errorf("claims %s, %v", claims, err)
	}
}

func TestGCPFaultsHoldTheRecord(t *testing.T) {
	r := newReceiver(t)
	e := newEndpoint(t, r.URL, func(o *Options) { o.Auth.GCPIDToken = &GCPIDToken{"https://hooks.example"} })
	for name, account := range map[string]map[string]string{
		"user":         {"type": "authorized_user", "refresh_token": "s3cret"},
		"no token url": {"type": "service_account", "private_key": "s3cret"},
		"no key":       {"type": "service_account", "private_key": "s3cret", "token_uri": "http://127.0.0.1:1/s3cret"},
	} {
		writeServiceAccount(t, account)
		result := post(t, newEndpoint(t, r.URL, func(o *Options) { o.Auth = e.options.Auth }), message())
		if !result.Held || strings.Contains(result.Cause.Error(), "s3cret") {
			t.Errorf("%s: got %+v", name, result)
		}
	}
	t.Setenv(googleCredentials, filepath.Join(t.TempDir(), "none"))
	if result := post(t, e, message()); !result.Held {
		t.Errorf("no file: got %+v", result)
	}
	if n := len(r.requests()); n != 0 {
		t.Errorf("%d requests were made without a token", n)
	}
}

func TestJWTLife(t *testing.T) {
	for offset, want := range map[time.Duration]time.Duration{
		0: time.Hour, 10 * time.Minute: 50 * time.Minute, -10 * time.Minute: time.Hour, 2 * time.Hour: time.Hour,
	} {
		if got := jwtLife(idToken("a", time.Hour), time.Unix(time.Now().Unix(), 0).Add(offset)); got < want-2*time.Second || got > want {
			t.Errorf("a clock %v off: got %v, want %v", offset, got, want)
		}
	}
	for _, token := range []string{"", "a.b", "a.!.c", "a.e30.c", "a.W10.c"} {
		if got := jwtLife(token, time.Now()); got != 0 {
			t.Errorf("%q: got %v", token, got)
		}
	}
}
