package gateway

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/sharehook/sharehook/config"
)

// tlsConfig reads the files that a TLS section names.
func tlsConfig(c config.TLS) (*tls.Config, error) {
	cfg := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         c.ServerName,
		InsecureSkipVerify: c.InsecureSkipVerify, //nolint:gosec // what the file asks for, in so many words
	}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca_file: %s holds no certificate in PEM", c.CAFile)
		}
	}
	switch {
	case c.CertFile != "" && c.KeyFile != "":
		cert, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("cert_file and key_file: %w", err)
		}
		cfg.Certificates = []tls.Certificate{cert}
	case c.CertFile != "" || c.KeyFile != "":
		return nil, errors.New("cert_file and key_file belong together; give both or none")
	}
	return cfg, nil
}

// filesDigest stands for the content of the files that a TLS section names.
func filesDigest(c *config.TLS) [sha256.Size]byte {
	h := sha256.New()
	if c != nil {
		for _, file := range []string{c.CAFile, c.CertFile, c.KeyFile} {
			content, err := os.ReadFile(file)
			_, _ = fmt.Fprintf(h, "%s %v %x\n", file, err == nil, sha256.Sum256(content))
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}
