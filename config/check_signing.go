package config

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"strings"
)

// Prefixes of the secrets of Standard Webhooks.
const (
	symmetricPrefix  = "whsec_" // v1: HMAC-SHA256
	asymmetricPrefix = "whsk_"  // v1a: Ed25519
	publicPrefix     = "whpk_"  // what the receiver has of v1a
)

// checkSigningSecret checks that a secret can be signed with. How long a
// symmetric one must be, its receiver knows.
func checkSigningSecret(secret string) string {
	if encoded, ok := strings.CutPrefix(secret, symmetricPrefix); ok {
		if key, err := base64.StdEncoding.DecodeString(encoded); err != nil || len(key) == 0 {
			return "has no base64 behind whsec_; copy it again, any = at its end included"
		}
		return ""
	}
	if encoded, ok := strings.CutPrefix(secret, asymmetricPrefix); ok {
		return checkSigningKey(encoded)
	}
	if strings.HasPrefix(secret, publicPrefix) {
		return "is a public key, with which receivers verify; write the private one, which begins with whsk_"
	}
	return "is no secret of Standard Webhooks; write one that begins with whsec_ or whsk_"
}

// checkSigningKey checks the private key of v1a: a seed, or a seed with its
// public key behind it.
func checkSigningKey(encoded string) string {
	key, err := base64.StdEncoding.DecodeString(encoded)
	switch {
	case err != nil:
		return "has no base64 behind whsk_; copy it again, any = at its end included"
	case len(key) == ed25519.SeedSize:
		return ""
	case len(key) != ed25519.PrivateKeySize:
		return "is no Ed25519 key; write base64 of the 32 bytes of its seed, or of the 64 bytes of seed and public key, behind whsk_"
	case !bytes.Equal(key, ed25519.NewKeyFromSeed(key[:ed25519.SeedSize])):
		return "ends with a public key that is not that of its seed; copy it again, or write the seed alone"
	}
	return ""
}
