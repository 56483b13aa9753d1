package gateway

import (
	"context"
	"fmt"
	"net"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/dispatch"
	"github.com/sharehook/sharehook/gateway/cluster"
	"github.com/sharehook/sharehook/gateway/sharegroup"
	"github.com/sharehook/sharehook/webhooks"
)

// wishes are what the file asks of the cluster for an endpoint.
func wishes(c config.Endpoint) cluster.Wishes {
	return cluster.Wishes{
		Endpoint:        c.Name,
		Group:           c.ShareGroup.Name,
		Topics:          c.Topics,
		Start:           c.ShareGroup.Start,
		Isolation:       c.ShareGroup.Isolation,
		Lock:            c.ShareGroup.Lock,
		MaxDeliveries:   c.ShareGroup.MaxDeliveries,
		MaxRecordLocks:  c.ShareGroup.MaxRecordLocks,
		DeadLetterBy:    c.DeadLetter.By,
		DeadLetterTopic: c.DeadLetter.Topic,
		CopyRecord:      c.DeadLetter.CopyRecord,
	}
}

// dialer is what tests put in the place of the network.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// webhookOptions say how an endpoint is reached.
func webhookOptions(c config.Endpoint, version string, dial dialer) (webhooks.Options, error) {
	status, err := webhooks.ParseStatusMap(c.Status.Accept, c.Status.Release, c.Status.Reject)
	if err != nil {
		return webhooks.Options{}, fmt.Errorf("status: %w", err)
	}
	o := webhooks.Options{
		Name:    c.Name,
		URL:     c.URL,
		Timeout: c.Timeout,
		Headers: c.Headers,
		Forward: &webhooks.ForwardRules{
			Include: c.ForwardHeaders.Include,
			Exclude: c.ForwardHeaders.Exclude,
			Prefix:  c.ForwardHeaders.Prefix,
		},
		Format:      webhooks.Format(c.Format),
		ContentType: c.ContentType,
		CloudEvents: webhooks.CloudEvents(c.CloudEvents),

		Auth:           auth(c.Auth),
		SigningSecrets: revealed(c.Signing.Secrets),

		Status:        status,
		HonourAction:  c.HonourAction,
		MaxRetryAfter: c.Retry.MaxRetryAfter,
		Concurrency:   c.Concurrency,
		Network:       &webhooks.NetworkRules{Deny: c.Network.Deny, Allow: c.Network.Allow},
		Proxy:         c.Proxy,
		Version:       version,
		Dial:          dial,
	}
	if o.MaxRetryAfter == 0 {
		o.MaxRetryAfter = -1 // for webhooks 0 is the default; here it is "pay no heed"
	}
	if c.TLS != nil {
		if o.TLS, err = tlsConfig(*c.TLS); err != nil {
			return webhooks.Options{}, fmt.Errorf("tls: %w", err)
		}
	}
	return o, nil
}

// auth re-types the way to authenticate.
func auth(c config.Auth) (a webhooks.Auth) {
	switch {
	case c.Basic != nil:
		a.Basic = &webhooks.BasicAuth{Username: c.Basic.Username, Password: c.Basic.Password.Reveal()}
	case c.Bearer != nil:
		a.Bearer = &webhooks.BearerAuth{Token: c.Bearer.Token.Reveal()}
	case c.Header != nil:
		a.Header = &webhooks.HeaderAuth{Name: c.Header.Name, Value: c.Header.Value.Reveal()}
	case c.OAuth2 != nil:
		a.OAuth2 = &webhooks.OAuth2{
			TokenURL: c.OAuth2.TokenURL, ClientID: c.OAuth2.ClientID, ClientSecret: c.OAuth2.ClientSecret.Reveal(),
			Scopes: c.OAuth2.Scopes, Audience: c.OAuth2.Audience,
		}
	case c.AWSSigV4 != nil:
		a.AWSSigV4 = &webhooks.AWSSigV4{Region: c.AWSSigV4.Region, Service: c.AWSSigV4.Service}
	case c.GCPIDToken != nil:
		a.GCPIDToken = &webhooks.GCPIDToken{Audience: c.GCPIDToken.Audience}
	}
	return a
}

// revealed are secrets as they are sent, or signed with.
func revealed(secrets []config.Secret) []string {
	var plain []string
	for _, s := range secrets {
		plain = append(plain, s.Reveal())
	}
	return plain
}

// window says how many records are acquired, by whom and when.
type window struct {
	fetchRecords int // the most that one fetch brings
	fetches      int // fetches at a time of one member
	maxHeld      int // the most that dispatch holds
}

const (
	// fewBrokers is up to how many brokers each gets a fetch of its own,
	// whether it leads a partition now or may after the next move.
	fewBrokers = 6
	// mostFetched bounds a fetch: more brings nothing.
	mostFetched = 500
)

// acquisition sizes the fetches. They are dear for the broker and should be few
// and large, but what they bring while no slot is free pays a delivery if the
// process dies. So all fetches at a time bring no more than may be held ahead.
// dispatch asks for more when half of that is used up, and the share group
// keeps a fetch small when dispatch asks for little.
func acquisition(c config.Endpoint, leading, brokers int) window {
	w := window{fetches: max(1, leading, min(brokers, fewBrokers))}
	ahead := c.ReadAhead.Records
	if c.ReadAhead.Auto {
		ahead = c.Concurrency
	}
	w.fetchRecords = min(max(1, ahead/w.fetches/c.Members), mostFetched)
	// What fetches bring beyond the room that dispatch has waits in the share
	// group's hands. It counts as held.
	beyond := w.fetchRecords * w.fetches * c.Members
	w.maxHeld = max(min(c.Concurrency, c.MaxHeld), c.MaxHeld-beyond)
	return w
}

func shareGroupOptions(c config.Endpoint, w window, client []kgo.Opt) sharegroup.Options {
	return sharegroup.Options{
		Group:             c.ShareGroup.Name,
		Topics:            c.Topics,
		Client:            client,
		Members:           c.Members,
		FetchRecords:      w.fetchRecords,
		ConcurrentFetches: w.fetches,
	}
}

func dispatchOptions(c config.Endpoint, w window) dispatch.Options {
	return dispatch.Options{
		Concurrency:   c.Concurrency,
		MaxHeld:       w.maxHeld,
		ReadAhead:     c.ReadAhead.Records,
		ReadAheadAuto: c.ReadAhead.Auto,
		Breaker:       breakerOptions(c.Breaker),
		RateLimit:     c.RateLimit.PerSecond(),
		Retry: dispatch.Retry{
			Attempts:            c.Retry.Attempts,
			InitialInterval:     c.Retry.InitialInterval,
			Multiplier:          c.Retry.Multiplier,
			RandomizationFactor: c.Retry.RandomizationFactor,
			MaxInterval:         c.Retry.MaxInterval,
			MaxElapsedTime:      c.Retry.MaxElapsedTime,
		},
	}
}
