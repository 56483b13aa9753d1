package webhooks

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"cloud.google.com/go/compute/metadata"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"
)

// googleCredentials is the variable that names the file of a service account.
const googleCredentials = "GOOGLE_APPLICATION_CREDENTIALS"

// maxKeyFile bounds what is read of that file.
const maxKeyFile = 1 << 20

// gcpFetcher gets ID tokens: by the key of a service account if a file of one is
// named, which is read each time so that it can be replaced, else from the
// metadata server of the machine or the pod.
func gcpFetcher(o *Options) func(context.Context) (grant, error) {
	return func(ctx context.Context) (grant, error) {
		var token string
		var err error
		if file := os.Getenv(googleCredentials); file != "" {
			token, err = serviceAccountToken(ctx, o, file)
		} else {
			token, err = machineToken(ctx, o.Auth.GCPIDToken.Audience)
		}
		if err != nil {
			return grant{}, err
		}
		return bearer("Bearer", token, jwtLife(token, time.Now()))
	}
}

// machineToken asks the metadata server. The network rules are for endpoints, not
// for us.
func machineToken(ctx context.Context, audience string) (string, error) {
	client := metadata.NewClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}})
	query := url.Values{"audience": {audience}, "format": {"full"}}
	token, err := client.GetWithContext(ctx, "instance/service-accounts/default/identity?"+query.Encode())
	if err != nil {
		return "", fmt.Errorf("ask the metadata server, as %s is not set: %w", googleCredentials, withoutURL(err))
	}
	return strings.TrimSpace(token), nil
}

// serviceAccount is what is used of a service account's file.
type serviceAccount struct {
	Type         string `json:"type"`
	ClientEmail  string `json:"client_email"`
	PrivateKey   string `json:"private_key"`
	PrivateKeyID string `json:"private_key_id"`
	TokenURI     string `json:"token_uri"`
}

// serviceAccountToken changes an assertion that is signed with the account's key
// for an ID token.
func serviceAccountToken(ctx context.Context, o *Options, file string) (string, error) {
	account, err := readServiceAccount(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", googleCredentials, err)
	}
	client, err := newTokenClient(o, account.TokenURI)
	if err != nil {
		return "", fmt.Errorf("%s: token_uri: %w", googleCredentials, err)
	}
	c := &jwt.Config{
		Email: account.ClientEmail, PrivateKey: []byte(account.PrivateKey), PrivateKeyID: account.PrivateKeyID, TokenURL: account.TokenURI,
		PrivateClaims: map[string]any{"target_audience": o.Auth.GCPIDToken.Audience}, UseIDToken: true,
	}
	got, err := c.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client)).Token()
	if err != nil {
		return "", tokenError(err)
	}
	return got.AccessToken, nil
}

// readServiceAccount reads the file of a service account. Its error tells nothing
// of the content.
func readServiceAccount(file string) (*serviceAccount, error) {
	if info, err := os.Stat(file); err != nil || info.Size() > maxKeyFile {
		return nil, errors.New("the file cannot be read, or is too large; check its path and permissions")
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, errors.New("the file cannot be read; check its permissions")
	}
	var account serviceAccount
	if err := json.Unmarshal(content, &account); err != nil {
		return nil, errors.New("the file is no JSON; use that of a service account's key")
	}
	if account.Type != "service_account" {
		return nil, errors.New("the file is not that of a service account's key; use one, or none on Google Cloud")
	}
	return &account, nil
}

// jwtLife is how long a JWT is good by its own claims; 0 if it does not say. It is
// never more than it was when the token was made, nor nothing because a clock is
// wrong.
func jwtLife(token string, now time.Time) time.Duration {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return 0
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return 0
	}
	var times struct{ Iat, Exp int64 }
	if err := json.Unmarshal(claims, &times); err != nil || times.Iat == 0 || times.Exp <= times.Iat {
		return 0
	}
	life := time.Duration(times.Exp-times.Iat) * time.Second
	if left := time.Unix(times.Exp, 0).Sub(now); left > 0 {
		life = min(life, left)
	}
	return life
}
