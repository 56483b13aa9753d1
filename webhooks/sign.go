package webhooks

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync"
)

// Prefixes of signing secrets, by Standard Webhooks 1.0.0.
const (
	symmetricPrefix  = "whsec_" // v1: HMAC-SHA256
	asymmetricPrefix = "whsk_"  // v1a: Ed25519
)

// signer makes the signatures of Standard Webhooks. What is signed is the very
// bytes that are sent, after the id and the time of the attempt.
type signer struct {
	keys []signingKey
	// room is the length of all signatures together.
	room int
}

// signingKey is one secret, ready to sign with. It is used concurrently.
type signingKey interface {
	// appendSignature appends version and signature of head and body together.
	appendSignature(to, head, body []byte) []byte
}

// newSigner reads the secrets, the newest first. Its error names secrets by
// their places only.
func newSigner(secrets []string) (signer, error) {
	var s signer
	var problems []error
	for i, secret := range secrets {
		key, err := parseSecret(secret)
		if err != nil {
			problems = append(problems, fmt.Errorf("signing secret %d: %w", i, err))
			continue
		}
		s.keys = append(s.keys, key)
		s.room += len(" v1a,") + base64.StdEncoding.EncodedLen(ed25519.SignatureSize)
	}
	return s, errors.Join(problems...)
}

// headerCount is how many headers a signer writes.
func (s *signer) headerCount() int { return min(len(s.keys), 1) }

// parseSecret reads a secret as receivers' libraries do: base64 with its
// padding behind a prefix. How long a symmetric one is, its receiver decides.
func parseSecret(secret string) (signingKey, error) {
	if encoded, ok := strings.CutPrefix(secret, symmetricPrefix); ok {
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(key) == 0 {
			return nil, errors.New("what follows whsec_ is no base64; copy it again, '=' at the end included")
		}
		return newSymmetricKey(key), nil
	}
	if encoded, ok := strings.CutPrefix(secret, asymmetricPrefix); ok {
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, errors.New("what follows whsk_ is no base64; copy it again, '=' at the end included")
		}
		return newAsymmetricKey(key)
	}
	return nil, errors.New("it begins with neither whsec_ nor whsk_; use a secret of Standard Webhooks")
}

// sign is the value of webhook-signature: all signatures, the newest secret's
// first, so that a receiver which knows any one of the secrets can verify.
func (s *signer) sign(id, timestamp string, body []byte) string {
	var room [128]byte
	head := append(room[:0], id...)
	head = append(head, '.')
	head = append(head, timestamp...)
	head = append(head, '.')

	value := make([]byte, 0, s.room)
	for i, key := range s.keys {
		if i > 0 {
			value = append(value, ' ')
		}
		value = key.appendSignature(value, head, body)
	}
	return string(value)
}

// symmetricKey signs with HMAC-SHA256.
type symmetricKey struct {
	// macs are keyed and ready: keying one costs as much as signing 128 bytes.
	macs sync.Pool
}

func newSymmetricKey(key []byte) *symmetricKey {
	return &symmetricKey{macs: sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}
}

func (k *symmetricKey) appendSignature(to, head, body []byte) []byte {
	mac, _ := k.macs.Get().(hash.Hash)
	defer k.macs.Put(mac)
	mac.Reset()
	mac.Write(head)
	mac.Write(body)
	var sum [sha256.Size]byte
	return base64.StdEncoding.AppendEncode(append(to, "v1,"...), mac.Sum(sum[:0]))
}

// asymmetricKey signs with Ed25519.
type asymmetricKey struct{ private ed25519.PrivateKey }

// newAsymmetricKey takes a seed, or a seed with the public key behind it, which
// is how some tools keep a private key.
func newAsymmetricKey(key []byte) (signingKey, error) {
	switch len(key) {
	case ed25519.SeedSize, ed25519.PrivateKeySize:
	default:
		return nil, errors.New("what follows whsk_ is neither a seed of 32 bytes nor a seed and its public key of 64; use the private key")
	}
	private := ed25519.NewKeyFromSeed(key[:ed25519.SeedSize])
	if len(key) == ed25519.PrivateKeySize && !slices.Equal(key, private) {
		return nil, errors.New("the public key in it is not that of its seed; copy it again, or use the seed alone")
	}
	return &asymmetricKey{private}, nil
}

func (k *asymmetricKey) appendSignature(to, head, body []byte) []byte {
	// Ed25519 reads what it signs twice, so it wants it in one piece.
	content := slices.Concat(head, body)
	return base64.StdEncoding.AppendEncode(append(to, "v1a,"...), ed25519.Sign(k.private, content))
}
