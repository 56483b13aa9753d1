package webhooks

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// clientCredentials gets tokens by the client credentials grant.
func clientCredentials(o *OAuth2) func(context.Context) (*oauth2.Token, error) {
	c := &clientcredentials.Config{ClientID: o.ClientID, ClientSecret: o.ClientSecret, TokenURL: o.TokenURL, Scopes: o.Scopes}
	if o.Audience != "" {
		c.EndpointParams = url.Values{"audience": {o.Audience}}
	}
	return c.Token
}

// newTokenClient makes the client that asks for tokens: by the same proxy and
// under the same network rules as the endpoint, but with the system's
// authorities, as the endpoint's certificate is nothing to the server of tokens.
func newTokenClient(o *Options, target *url.URL) (*http.Client, error) {
	way, err := newWay(o, target)
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  way.choose,
			OnProxyConnectResponse: checkProxyAnswer,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := way.dial(ctx, network, addr)
				if err != nil {
					return nil, &dialError{err}
				}
				return c, nil
			},
			TLSHandshakeTimeout:    o.Timeout,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        idleConnTimeout,
			MaxResponseHeaderBytes: maxAnswerHeader,
		},
		// A redirect would take the client's secret to somewhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// withoutURL takes the URL out of an error of net/http's client.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}
