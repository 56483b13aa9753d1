package gateway

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

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

// dialTimeout bounds connecting to a broker, the TLS handshake included.
const dialTimeout = 10 * time.Second

// tlsDialer dials brokers. It reads its files again for each connection, so
// that a certificate that was rotated is used from the next one on; while the
// files are half-written, the last good ones are.
type tlsDialer struct {
	files config.TLS
	log   *slog.Logger

	mu   sync.Mutex
	last *tls.Config
	seen [sha256.Size]byte // the digest of the files that last was made of
}

func newTLSDialer(c config.TLS, log *slog.Logger) (*tlsDialer, error) {
	d := &tlsDialer{files: c, log: log, seen: filesDigest(&c)}
	var err error
	d.last, err = tlsConfig(c)
	return d, err
}

func (d *tlsDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	dialer := tls.Dialer{Config: d.config()}
	return dialer.DialContext(ctx, network, address)
}

// config is the configuration of the files as they are now, or as they were
// when they were good.
func (d *tlsDialer) config() *tls.Config {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := filesDigest(&d.files)
	if now == d.seen {
		return d.last
	}
	cfg, err := tlsConfig(d.files)
	if err != nil {
		d.log.Warn("kafka.tls: files changed and are not usable, the last good ones are used", "error", err)
		return d.last
	}
	d.last, d.seen = cfg, now
	d.log.Info("kafka.tls: files changed, new connections use them")
	return d.last
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

// CheckFiles reads the certificates and keys that a configuration names, which
// package config does not. Its error is all that is wrong with them, joined.
func CheckFiles(c *config.Config) error {
	var errs []error
	check := func(what string, files *config.TLS) {
		if files == nil {
			return
		}
		if _, err := tlsConfig(*files); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w; check the path, the permissions and the content", what, err))
		}
	}
	check("kafka.tls", c.Kafka.TLS)
	for _, e := range c.Endpoints {
		if e.Enabled {
			check(fmt.Sprintf("tls of endpoint %q", e.Name), e.TLS)
		}
	}
	return errors.Join(errs...)
}
