package webhooks

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Auth is how the gateway authenticates at an endpoint: at most one of its
// fields.
type Auth struct {
	Basic  *BasicAuth
	Bearer *BearerAuth
	Header *HeaderAuth
	OAuth2 *OAuth2
	// AWSSigV4 signs each request with the credentials of the process: AWS_*
	// variables, shared files, web identity, the container's or machine's role.
	AWSSigV4 *AWSSigV4
	// GCPIDToken sends ID tokens of the service account that
	// GOOGLE_APPLICATION_CREDENTIALS names, else of the machine.
	GCPIDToken *GCPIDToken
}

// BasicAuth is user and password (RFC 7617).
type BasicAuth struct{ Username, Password string }

// BearerAuth is a token that stays the same (RFC 6750).
type BearerAuth struct{ Token string }

// HeaderAuth is a header of any name that holds a credential.
type HeaderAuth struct{ Name, Value string }

// OAuth2 is the client credentials grant (RFC 6749, 4.4).
type OAuth2 struct {
	TokenURL, ClientID, ClientSecret string
	Scopes                           []string
	// Audience is asked for in the parameter that several servers have for it.
	Audience string
}

// AWSSigV4 names what a signature is good for, as us-east-1 and execute-api.
type AWSSigV4 struct{ Region, Service string }

// GCPIDToken names the audience of ID tokens, mostly the endpoint's origin.
type GCPIDToken struct{ Audience string }

// check reports what is wrong with the credentials, and never tells them.
func (a *Auth) check() error {
	given := 0
	var problems []error
	if a.Basic != nil {
		given++
		// Blanks at the ends are lawful: it goes out in base64.
		if strings.Contains(a.Basic.Username, ":") || !isFieldValue("-"+a.Basic.Username+a.Basic.Password+"-") {
			problems = append(problems, errors.New("auth.basic holds a control character, or a colon in the user; remove it"))
		}
	}
	if a.Bearer != nil {
		given++
		if a.Bearer.Token == "" || !isCarried([]byte(a.Bearer.Token)) || strings.Contains(a.Bearer.Token, " ") {
			problems = append(problems, errors.New("auth.bearer.token is empty or no token; copy it again"))
		}
	}
	if a.Header != nil {
		given++
		if err := checkAuthHeader(a.Header); err != nil {
			problems = append(problems, err)
		}
	}
	if a.OAuth2 != nil {
		given++
		if _, err := parseURL(a.OAuth2.TokenURL); err != nil {
			problems = append(problems, fmt.Errorf("auth.oauth2.token_url: %w", err))
		}
		if a.OAuth2.ClientID == "" {
			problems = append(problems, errors.New("auth.oauth2.client_id is empty"))
		}
	}
	if a.AWSSigV4 != nil {
		given++
		if a.AWSSigV4.Region == "" || a.AWSSigV4.Service == "" {
			problems = append(problems, errors.New("auth.aws_sigv4 needs region and service"))
		}
	}
	if a.GCPIDToken != nil {
		given++
		if a.GCPIDToken.Audience == "" {
			problems = append(problems, errors.New("auth.gcp_id_token.audience is empty"))
		}
	}
	if given > 1 {
		problems = append(problems, errors.New("auth has more than one way to authenticate; keep one"))
	}
	return errors.Join(problems...)
}

func checkAuthHeader(h *HeaderAuth) error {
	if strings.EqualFold(h.Name, "authorization") {
		if isFieldValue(h.Value) {
			return nil
		}
		return errors.New("auth.header.value has a control character or a blank at an end; remove it")
	}
	return checkFixedHeader(h.Name, h.Value)
}

// fixed are the headers of credentials that stay the same; nil if there are none.
func (a *Auth) fixed() map[string]string {
	switch {
	case a.Basic != nil:
		pair := base64.StdEncoding.EncodeToString([]byte(a.Basic.Username + ":" + a.Basic.Password))
		return map[string]string{"Authorization": "Basic " + pair}
	case a.Bearer != nil:
		return map[string]string{"Authorization": "Bearer " + a.Bearer.Token}
	case a.Header != nil:
		return map[string]string{a.Header.Name: a.Header.Value}
	default:
		return nil
	}
}

// authenticator gives out credentials that change while the endpoint lives.
type authenticator interface {
	// credentials waits for credentials that are good now. Its error is nothing
	// that the record or the endpoint can help.
	credentials(ctx context.Context) (credentials, error)
	// close ends what runs for it, after the endpoint's lifetime has ended.
	close()
}

// credentials authenticate one request.
type credentials interface {
	// set puts them into the request.
	set(p *parcel, now time.Time) error
	// judged is told the status that they were answered with, and says whether
	// to try again with others.
	judged(status int) (again bool)
}

// newAuthenticator makes the authenticator that checked options ask for; nil if
// the credentials, if any, stay the same.
func newAuthenticator(lifetime context.Context, o *Options, target *url.URL) (authenticator, error) {
	var fetch func(context.Context) (grant, error)
	var err error
	switch {
	case o.Auth.OAuth2 != nil:
		fetch, err = oauth2Fetcher(o)
	case o.Auth.AWSSigV4 != nil:
		fetch, err = awsFetcher(lifetime, o.Auth.AWSSigV4, target)
	case o.Auth.GCPIDToken != nil:
		fetch = gcpFetcher(o)
	}
	if err != nil || fetch == nil {
		return nil, err
	}
	return &tokens{fetch: fetch, timeout: o.Timeout, lifetime: lifetime}, nil
}

// withoutCredentials is the result of an attempt that was not made, as there are
// no credentials for it.
func (e *Endpoint) withoutCredentials(ctx context.Context, err error) Result {
	if ctx.Err() != nil || e.lifetime.Err() != nil {
		return Result{Verdict: Release, Reason: ReasonStopped, Cause: fmt.Errorf("post to %s: %w", e.origin, err)}
	}
	result := Result{Verdict: Release, Reason: ReasonAuth, Held: true, Cause: fmt.Errorf("authenticate at %s: %w", e.origin, err)}
	if wait, ok := errors.AsType[*noTokenError](err); ok {
		result.RetryAfter = wait.retryAfter
	}
	return result
}

// headersOf are all headers of an endpoint that stay the same, credentials
// among them.
func (o *Options) headersOf() map[string]string {
	all := o.Auth.fixed()
	if all == nil {
		return o.Headers
	}
	maps.Copy(all, o.Headers)
	return all
}

// sameHeader says whether one of the names is name in other letters.
func sameHeader(headers map[string]string, name string) bool {
	for other := range headers {
		if http.CanonicalHeaderKey(other) == http.CanonicalHeaderKey(name) {
			return true
		}
	}
	return false
}
