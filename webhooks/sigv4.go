package webhooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
)

// awsFetcher gets the credentials of the process, as every AWS SDK finds them.
func awsFetcher(ctx context.Context, o *AWSSigV4, target *url.URL) (func(context.Context) (grant, error), error) {
	// The SDK would keep credentials to their very end; we renew before.
	early := func(c *aws.CredentialsCacheOptions) { c.ExpiryWindow = 2 * maxRenewalMargin }
	found, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithRegion(o.Region), awsconfig.WithCredentialsCacheOptions(early))
	if err != nil {
		return nil, fmt.Errorf("auth.aws_sigv4: read the AWS configuration: %w", err)
	}
	signer := &sigV4{signer: v4.NewSigner(), region: o.Region, service: o.Service, target: target}
	return func(ctx context.Context) (grant, error) {
		if found.Credentials == nil {
			return grant{}, errors.New("the AWS configuration names no credentials")
		}
		keys, err := found.Credentials.Retrieve(ctx)
		if err != nil {
			// Without the URL: that of a container's credentials is a secret.
			return grant{}, fmt.Errorf("AWS credentials: %w", withoutURL(err))
		}
		var life time.Duration
		if keys.CanExpire {
			life = time.Until(keys.Expires)
		}
		return grant{signer.with(keys), life}, nil
	}, nil
}

// sigV4 signs requests by AWS Signature Version 4.
type sigV4 struct {
	signer          *v4.Signer
	region, service string
	target          *url.URL
}

// with signs with these keys. What is signed is the body, the host and the media
// type, and not the other headers: what proxies do to those must not make a
// request a forged one.
func (s *sigV4) with(keys aws.Credentials) func(p *parcel, now time.Time) error {
	return func(p *parcel, now time.Time) error {
		target := *s.target // the signer writes to it
		signed := &http.Request{Method: http.MethodPost, URL: &target, Host: target.Host, Header: http.Header{}}
		if contentType, ok := p.header["Content-Type"]; ok {
			signed.Header["Content-Type"] = contentType
		}
		sum := sha256.Sum256(p.body)
		digest := hex.EncodeToString(sum[:])
		if s.service == "s3" {
			signed.Header.Set("X-Amz-Content-Sha256", digest)
		}
		if err := s.signer.SignHTTP(context.Background(), keys, signed, digest, s.service, s.region, now); err != nil {
			return fmt.Errorf("sign for AWS: %w", err)
		}
		for _, name := range []string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Content-Sha256"} {
			if value, ok := signed.Header[name]; ok {
				p.header[name] = value
			}
		}
		return nil
	}
}
