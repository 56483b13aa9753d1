package gateway

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sharehook/sharehook/config"
)

// writeCertificate makes a self-signed certificate for 127.0.0.1 and writes it
// and its key.
func writeCertificate(t *testing.T, name, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The client's certificate is replaced while the gateway runs, half-written in
// between.
func TestRotatedCertificateIsUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	writeCertificate(t, "broker", file("broker.pem"), file("broker.key"))
	writeCertificate(t, "first", file("client.pem"), file("client.key"))
	pair, err := tls.LoadX509KeyPair(file("broker.pem"), file("broker.key"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	clients := make(chan string, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			server := conn.(*tls.Conn)
			if err := server.Handshake(); err != nil {
				clients <- err.Error()
			} else {
				clients <- server.ConnectionState().PeerCertificates[0].Subject.CommonName
			}
			_ = conn.Close()
		}
	}()

	d, err := newTLSDialer(config.TLS{CAFile: file("broker.pem"), CertFile: file("client.pem"), KeyFile: file("client.key")}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	dial := func(want string) {
		t.Helper()
		conn, err := d.dial(t.Context(), "tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := <-clients; got != want {
			t.Errorf("the broker saw %q, want %q", got, want)
		}
	}
	dial("first")
	if err := os.WriteFile(file("client.pem"), []byte("-----BEGIN CERT"), 0o600); err != nil {
		t.Fatal(err)
	}
	dial("first")
	writeCertificate(t, "second", file("client.pem"), file("client.key"))
	dial("second")
}
