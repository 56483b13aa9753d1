package webhooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// issuer is a server of tokens and the endpoint that takes them.
type issuer struct {
	mu      sync.Mutex
	issued  int    // guarded by mu
	valid   string // guarded by mu: the token that the endpoint takes
	life    string // guarded by mu: expires_in as it stands in the answer; empty: none
	status  int    // guarded by mu: 0: tokens are given
	body    string // guarded by mu: of an answer that is no token
	slow    time.Duration
	refuses bool // guarded by mu: the endpoint takes no token at all

	accepted int // guarded by mu
	refused  int // guarded by mu
	form     string
	secret   string
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/token" {
		i.token(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.refuses || i.valid == "" || r.Header.Get("Authorization") != "Bearer "+i.valid {
		i.refused++
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	i.accepted++
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	user, password, _ := r.BasicAuth()
	pass(i.slow)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.form, i.secret = r.PostForm.Encode(), user+":"+password
	w.Header().Set("Content-Type", "application/json")
	if i.status != 0 {
		w.WriteHeader(i.status)
		_, _ = io.WriteString(w, i.body)
		return
	}
	i.issued++
	i.valid = fmt.Sprintf("t%d", i.issued)
	life := ""
	if i.life != "" {
		life = `,"expires_in":` + i.life
	}
	fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer"%s}`, i.valid, life)
}

func (i *issuer) set(change func(*issuer)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(i)
}

func (i *issuer) counts() (issued, accepted, refused int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.issued, i.accepted, i.refused
}

// inIssuersBubble runs a test in fake time with an endpoint whose tokens come
// from an issuer.
func inIssuersBubble(t *testing.T, change func(*issuer), test func(t *testing.T, i *issuer, e *Endpoint)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{life: "3600"}
		if change != nil {
			change(i)
		}
		network := servePipe(t, i.ServeHTTP)
		e := newEndpoint(t, "http://endpoint.example/hook", viaPipe(network, func(o *Options) {
			o.Auth.OAuth2 = &OAuth2{
				TokenURL: "http://issuer.example/token", ClientID: "gateway", ClientSecret: "s3cret", Scopes: []string{"a", "b"}, Audience: "hooks",
			}
		}))
		test(t, i, e)
		e.Close()
		_ = network.Close()
	})
}

func wantCounts(t *testing.T, i *issuer, issued, accepted, refused int) {
	t.Helper()
	if a, b, c := i.counts(); a != issued || b != accepted || c != refused {
		t.Errorf("%d tokens issued, %d requests accepted, %d refused; want %d, %d, %d", a, b, c, issued, accepted, refused)
	}
}

func TestOneTokenServesAll(t *testing.T) {
	inIssuersBubble(t, func(i *issuer) { i.slow = time.Second }, func(t *testing.T, i *issuer, e *Endpoint) {
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() { want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK) })
		}
		wg.Wait()
		wantCounts(t, i, 1, 64, 0)
		if i.form != "audience=hooks&grant_type=client_credentials&scope=a+b" || i.secret != "gateway:s3cret" {
			t.Errorf("asked with %s by %s", i.form, i.secret)
		}
	})
}

// A token is revoked after 100 records, with 64 in flight: one renewal, and
// every record arrives.
func TestRevokedTokenIsRenewedOnce(t *testing.T) {
	inIssuersBubble(t, func(i *issuer) { i.slow = 100 * time.Millisecond }, func(t *testing.T, i *issuer, e *Endpoint) {
		var wg sync.WaitGroup
		records := make(chan int)
		for range 64 {
			wg.Go(func() {
				for range records {
					want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
				}
			})
		}
		for n := range 500 {
			if n == 100 {
				i.set(func(i *issuer) { i.valid = "revoked" })
			}
			records <- n
		}
		close(records)
		wg.Wait()
		issued, accepted, refused := i.counts()
		if issued != 2 || accepted != 500 || refused == 0 || refused > 64 {
			t.Errorf("%d tokens issued, %d accepted, %d refused", issued, accepted, refused)
		}
	})
}

// Tokens are renewed before they end, and nobody waits for it.
func TestTokenIsRenewedEarly(t *testing.T) {
	for life, early := range map[string]time.Duration{"3600": 59 * time.Minute, `"3600"`: 59 * time.Minute, "60": 45 * time.Second, "2": 1500 * time.Millisecond} {
		inIssuersBubble(t, func(i *issuer) { i.life = life }, func(t *testing.T, i *issuer, e *Endpoint) {
			post(t, e, message())
			pass(early - time.Millisecond)
			post(t, e, message())
			wantCounts(t, i, 1, 2, 0)
			i.set(func(i *issuer) { i.slow = 100 * time.Millisecond })
			pass(time.Millisecond)
			start := time.Now()
			post(t, e, message())
			if time.Since(start) != 0 {
				t.Errorf("life %s: waited %v for an early renewal", life, time.Since(start))
			}
			pass(time.Second)
			wantCounts(t, i, 2, 3, 0)
			post(t, e, message())
			wantCounts(t, i, 2, 4, 0)
		})
	}
}

// Without a word on its end, or with a word that cannot be, a token is used until
// it is refused.
func TestTokenWithoutAnEnd(t *testing.T) {
	for _, life := range []string{"", "0", "-5", "null"} {
		inIssuersBubble(t, func(i *issuer) { i.life = life }, func(t *testing.T, i *issuer, e *Endpoint) {
			for range 3 {
				want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
				pass(24 * time.Hour)
			}
			wantCounts(t, i, 1, 3, 0)
			i.set(func(i *issuer) { i.valid = "" })
			want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
			wantCounts(t, i, 2, 4, 1)
		})
	}
}

// While no token can be had no request is made, and the server of tokens is
// asked less and less.
func TestNoTokenHoldsTheRecord(t *testing.T) {
	const body = `{"error":"invalid_client","error_description":"s3cret"}`
	inIssuersBubble(t, func(i *issuer) { i.status, i.body = http.StatusUnauthorized, body }, func(t *testing.T, i *issuer, e *Endpoint) {
		var asked []time.Duration
		start := time.Now()
		for time.Since(start) < 2*time.Minute {
			result := post(t, e, message())
			want(t, result, Release, ReasonAuth, 0)
			if !result.Held || strings.Contains(result.Cause.Error(), "s3cret") || !strings.Contains(result.Cause.Error(), "invalid_client") {
				t.Fatalf("got %+v", result)
			}
			if result.RetryAfter <= 0 || result.RetryAfter > maxTokenWait {
				t.Fatalf("try again after %v", result.RetryAfter)
			}
			asked = append(asked, time.Since(start))
			pass(result.RetryAfter)
		}
		if got := fmt.Sprint(asked); got != "[0s 1s 3s 7s 15s 31s 1m1s 1m31s]" {
			t.Errorf("asked at %s", got)
		}
		wantCounts(t, i, 0, 0, 0)
		i.set(func(i *issuer) { i.status = 0 })
		want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
		wantCounts(t, i, 1, 1, 0)
	})
}

// A failed early renewal costs nothing as long as the token is good.
func TestOutageWithAGoodToken(t *testing.T) {
	inIssuersBubble(t, nil, func(t *testing.T, i *issuer, e *Endpoint) {
		post(t, e, message())
		i.set(func(i *issuer) { i.status = http.StatusServiceUnavailable })
		pass(59 * time.Minute)
		for range 59 {
			want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
			pass(time.Second)
		}
		pass(time.Second)
		if result := post(t, e, message()); !result.Held {
			t.Errorf("got %+v", result)
		}
		i.set(func(i *issuer) { i.status = 0 })
		pass(maxTokenWait)
		want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
	})
}

// An endpoint that takes no token at all: each record is tried twice at most, and
// the server of tokens is not asked for each of them.
func TestEveryTokenIsRefused(t *testing.T) {
	inIssuersBubble(t, func(i *issuer) { i.refuses = true }, func(t *testing.T, i *issuer, e *Endpoint) {
		for range 20 {
			want(t, post(t, e, message()), Reject, ReasonStatus4xx, http.StatusUnauthorized)
		}
		wantCounts(t, i, 2, 0, 21)
		pass(unprovenPause)
		want(t, post(t, e, message()), Reject, ReasonStatus4xx, http.StatusUnauthorized)
		wantCounts(t, i, 3, 0, 23)
	})
}

func TestAttemptIsSignedAfterTheWaitForAToken(t *testing.T) {
	var got received
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{life: "3600", slow: 8 * time.Second}
		network := servePipe(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hook" {
				body, _ := io.ReadAll(r.Body)
				got = received{header: r.Header.Clone(), body: body}
				if verifies(newSecret, got) != nil || r.Header.Get("webhook-timestamp") != fmt.Sprint(time.Now().Unix()) {
					t.Errorf("the signature is old: %v", r.Header)
				}
			}
			i.ServeHTTP(w, r)
		})
		e := newEndpoint(t, "http://endpoint.example/hook", viaPipe(network, func(o *Options) {
			o.SigningSecrets = []string{newSecret}
			o.Auth.OAuth2 = &OAuth2{TokenURL: "http://issuer.example/token", ClientID: "gateway"}
		}))
		want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
		i.set(func(i *issuer) { i.valid = "" })
		want(t, post(t, e, message()), Accept, ReasonOK, http.StatusOK)
		e.Close()
		_ = network.Close()
	})
}

// A server of tokens that never answers holds nobody longer than the timeout,
// and a drain not at all.
func TestTokenThatNeverComes(t *testing.T) {
	inIssuersBubble(t, func(i *issuer) { i.slow = time.Hour }, func(t *testing.T, _ *issuer, e *Endpoint) {
		start := time.Now()
		if result := post(t, e, message()); !result.Held || time.Since(start) != DefaultTimeout {
			t.Errorf("got %+v after %v", result, time.Since(start))
		}
		pass(minTokenWait)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("drain")) })
		result := e.Attempt(ctx, message(), Attempt{Number: 1})
		want(t, result, Release, ReasonStopped, 0)
		if result.Held {
			t.Error("a stop is no hold")
		}
		time.AfterFunc(time.Second, e.Close)
		want(t, post(t, e, message()), Release, ReasonStopped, 0)
	})
}

// The rules of the network hold for the server of tokens, and no cause tells its
// path.
func TestTokenURLIsJudged(t *testing.T) {
	r := newReceiver(t)
	for _, tokenURL := range []string{"http://169.254.169.254/s3cret", "http://127.0.0.1:1/s3cret?s3cret"} {
		e := newEndpoint(t, r.URL, func(o *Options) {
			o.Auth.OAuth2 = &OAuth2{TokenURL: tokenURL, ClientID: "a", ClientSecret: "s3cret"}
		})
		result := post(t, e, message())
		want(t, result, Release, ReasonAuth, 0)
		denied := errors.Is(result.Cause, errDenied)
		if !result.Held || strings.Contains(result.Cause.Error(), "s3cret") || denied != strings.Contains(tokenURL, "169.254") {
			t.Errorf("%s: %+v", tokenURL, result)
		}
	}
	if n := len(r.requests()); n != 0 {
		t.Errorf("%d requests were made without a token", n)
	}
}

// Odd answers of the server of tokens: none makes a request that HTTP cannot
// carry, none is told.
func TestOddTokens(t *testing.T) {
	r := newReceiver(t)
	for _, answer := range []string{
		`{"access_token":"s3cret\r\nx: y","token_type":"bearer"}`, `{"access_token":""}`, `{}`, `s3cret`, `[]`, `{"access_token":"größe"}`, strings.Repeat("s3cret", 1<<19),
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer)
		})
		e := newEndpoint(t, r.URL, func(o *Options) { o.Auth.OAuth2 = &OAuth2{TokenURL: url, ClientID: "a"} })
		result := post(t, e, message())
		if !result.Held || strings.Contains(result.Cause.Error(), "s3cret") {
			t.Errorf("%.40s: %+v", answer, result)
		}
	}
	if n := len(r.requests()); n != 0 {
		t.Errorf("%d requests were made without a token", n)
	}
}

// The client's secret follows no redirect.
func TestTokenRedirectIsNotFollowed(t *testing.T) {
	thief := newReceiver(t)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
	})
	e := newEndpoint(t, "http://127.0.0.1:1", func(o *Options) { o.Auth.OAuth2 = &OAuth2{TokenURL: url, ClientID: "a", ClientSecret: "s3cret"} })
	if result := post(t, e, message()); !result.Held {
		t.Errorf("got %+v", result)
	}
	if n := len(thief.requests()); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}
