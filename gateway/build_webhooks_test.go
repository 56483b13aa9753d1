package gateway

import (
	"reflect"
	"testing"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/webhooks"
)

// TestWebhookOptions holds that what the file says of requests reaches the
// endpoint, and that an endpoint can be made of whatever the file's checks let
// through.
func TestWebhookOptions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		keys string
		want func(*webhooks.Options) // of the defaults
	}{
		{"", func(*webhooks.Options) {}},
		{"format: json", func(o *webhooks.Options) { o.Format = webhooks.FormatJSON }},
		{
			"format: cloudevents-binary, cloudevents: {type: t, source: /s, subject: u}, content_type: text/plain",
			func(o *webhooks.Options) {
				o.Format, o.ContentType = webhooks.FormatCloudEventsBinary, "text/plain"
				o.CloudEvents = webhooks.CloudEvents{Type: "t", Source: "/s", Subject: "u"}
			},
		},
		{"format: cloudevents-structured", func(o *webhooks.Options) { o.Format = webhooks.FormatCloudEventsStructured }},
		{
			"signing: {secrets: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, whsk_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=]}",
			func(o *webhooks.Options) {
				o.SigningSecrets = []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsk_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="}
			},
		},
		{"proxy: none", func(o *webhooks.Options) { o.Proxy = webhooks.NoProxy }},
		{"proxy: 'socks5://u:p@proxy:1080'", func(o *webhooks.Options) { o.Proxy = "socks5://u:p@proxy:1080" }},
		{
			"network: {deny: [link-local, loopback, private, 10.0.0.0/8], allow: [10.1.0.0/16]}",
			func(o *webhooks.Options) {
				o.Network = &webhooks.NetworkRules{Deny: []string{"link-local", "loopback", "private", "10.0.0.0/8"}, Allow: []string{"10.1.0.0/16"}}
			},
		},
		{"network: {deny: []}", func(o *webhooks.Options) { o.Network = &webhooks.NetworkRules{} }},
		{"auth: {basic: {username: u, password: p}}", func(o *webhooks.Options) { o.Auth.Basic = &webhooks.BasicAuth{Username: "u", Password: "p"} }},
		{"auth: {bearer: {token: t}}", func(o *webhooks.Options) { o.Auth.Bearer = &webhooks.BearerAuth{Token: "t"} }},
		{"auth: {header: {name: Authorization, value: a b}}", func(o *webhooks.Options) {
			o.Auth.Header = &webhooks.HeaderAuth{Name: "Authorization", Value: "a b"}
		}},
		{
			"auth: {oauth2: {token_url: 'https://t/token', client_id: i, client_secret: s, scopes: [a, b], audience: c}}",
			func(o *webhooks.Options) {
				o.Auth.OAuth2 = &webhooks.OAuth2{TokenURL: "https://t/token", ClientID: "i", ClientSecret: "s", Scopes: []string{"a", "b"}, Audience: "c"}
			},
		},
		{"auth: {aws_sigv4: {region: r, service: s}}", func(o *webhooks.Options) { o.Auth.AWSSigV4 = &webhooks.AWSSigV4{Region: "r", Service: "s"} }},
		{"auth: {gcp_id_token: {audience: a}}", func(o *webhooks.Options) { o.Auth.GCPIDToken = &webhooks.GCPIDToken{Audience: "a"} }},
	} {
		t.Run(tc.keys, func(t *testing.T) {
			t.Parallel()
			src := "kafka: {brokers: [b]}\nendpoints: [{name: a, topics: [a], url: 'https://a', " + tc.keys + "}]\n"
			c, err := config.Parse("test", []byte(src), config.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := webhookOptions(c.Endpoints[0], "1", nil)
			if err != nil {
				t.Fatal(err)
			}
			e, err := webhooks.New(got)
			if err != nil {
				t.Fatal(err)
			}
			e.Close()

			want := webhooks.Options{Format: webhooks.FormatRaw, Network: &webhooks.NetworkRules{Deny: []string{"metadata"}}}
			tc.want(&want)
			if !reflect.DeepEqual(aboutRequests(got), want) {
				t.Errorf("got  %+v\nwant %+v", aboutRequests(got), want)
			}
		})
	}
}

// aboutRequests are the options that say what is sent and which way.
func aboutRequests(o webhooks.Options) webhooks.Options {
	return webhooks.Options{
		Format: o.Format, ContentType: o.ContentType, CloudEvents: o.CloudEvents, SigningSecrets: o.SigningSecrets,
		Auth: o.Auth, Proxy: o.Proxy, Network: o.Network,
	}
}
