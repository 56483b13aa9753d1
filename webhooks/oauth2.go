package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// maxErrorCode bounds what is told of a refusal: the codes of RFC 6749, as
// invalid_client, are short.
const maxErrorCode = 40

// oauth2Fetcher gets access tokens by the client credentials grant.
func oauth2Fetcher(o *Options) (func(context.Context) (grant, error), error) {
	client, err := newTokenClient(o, o.Auth.OAuth2.TokenURL)
	if err != nil {
		return nil, err
	}
	c := &clientcredentials.Config{
		ClientID: o.Auth.OAuth2.ClientID, ClientSecret: o.Auth.OAuth2.ClientSecret,
		TokenURL: o.Auth.OAuth2.TokenURL, Scopes: o.Auth.OAuth2.Scopes,
	}
	if o.Auth.OAuth2.Audience != "" {
		c.EndpointParams = url.Values{"audience": {o.Auth.OAuth2.Audience}}
	}
	return func(ctx context.Context) (grant, error) {
		got, err := c.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
		if err != nil {
			return grant{}, tokenError(err)
		}
		var life time.Duration
		if !got.Expiry.IsZero() {
			life = time.Until(got.Expiry)
		}
		return bearer(got.Type(), got.AccessToken, life)
	}, nil
}

// newTokenClient makes a client that asks for tokens: by the same proxy and under
// the same network rules as the endpoint, but with the system's authorities, as
// the endpoint's certificate is nothing to the server of tokens. Tokens are asked
// for so seldom that it keeps no connection.
func newTokenClient(o *Options, tokenURL string) (*http.Client, error) {
	target, err := parseURL(tokenURL)
	if err != nil {
		return nil, fmt.Errorf("url of tokens: %w", err)
	}
	way, err := newWay(o, target)
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  way.choose,
			OnProxyConnectResponse: checkProxyAnswer,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				return way.dial(ctx, network, addr)
			},
			TLSHandshakeTimeout:    o.Timeout,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: maxAnswerHeader,
		},
		// A redirect would take the client's secret to somewhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// tokenError is why there is no token, without what the answer's body says and
// without the path of a URL: either may hold secrets.
func tokenError(err error) error {
	if refusal, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if code := refusal.ErrorCode; len(code) < maxErrorCode && isToken(code) {
			return fmt.Errorf("the server answered %d, %s", refusal.Response.StatusCode, code)
		}
		return fmt.Errorf("the server answered %d", refusal.Response.StatusCode)
	}
	return withoutURL(err)
}

// withoutURL takes the URL out of an error of net/http's client.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}
