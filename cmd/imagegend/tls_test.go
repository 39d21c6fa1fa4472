package main_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// authority issues certificates for this machine.
type authority struct {
	t     *testing.T
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
	lasts time.Duration // how long what it issues is valid
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, lasts: time.Hour}
	a.key = newKey(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		NotAfter: time.Now().Add(time.Hour)}
	a.cert = a.sign(template, template, a.key)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert
}

func (a *authority) trust() *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{RootCAs: pool}
}

// issue writes a certificate for this machine and its key.
func (a *authority) issue(dir string, serial int64) (certFile, keyFile string) {
	a.t.Helper()
	key := newKey(a.t)
	cert := a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(a.lasts),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}, a.cert, key)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePEM(a.t, keyFile, "PRIVATE KEY", secret)
	writePEM(a.t, certFile, "CERTIFICATE", cert.Raw)
	return certFile, keyFile
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shake opens a connection and returns what the daemon showed.
func shake(t *testing.T, d *daemontest.Daemon, c *tls.Config) tls.ConnectionState {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(d.URL, "https://"), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState()
}

// The daemon speaks TLS by itself, and a certificate that is renewed counts without a restart; one that is
// broken does not.
func TestTLS(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	a, dir := newAuthority(t), t.TempDir()
	certFile, keyFile := a.issue(dir, 2)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--tls-cert", certFile, "--tls-key", keyFile},
		TLS: a.trust()})
	is.True(strings.HasPrefix(d.URL, "https://"))
	_, key := d.NewUser(10)
	for range 2 { // on one connection
		answer := d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox",
			"size": "64x64"}))
		is.Equal(answer.Status, http.StatusOK)
		var made struct{ Images []struct{ URL string } }
		is.NoErr(json.Unmarshal(answer.Body, &made))
		is.True(strings.HasPrefix(made.Images[0].URL, d.URL+"/")) // https, for it is how the caller came
	}
	offers := a.trust()
	offers.NextProtos = []string{"h2", "http/1.1"}
	is.Equal(shake(t, d, offers).NegotiatedProtocol, "http/1.1")

	plain, err := http.Get(strings.Replace(d.URL, "https://", "http://", 1))
	is.NoErr(err)
	is.NoErr(plain.Body.Close())
	is.Equal(plain.StatusCode, http.StatusBadRequest)

	serial := func() int64 { return shake(t, d, a.trust()).PeerCertificates[0].SerialNumber.Int64() }
	is.Equal(serial(), int64(2))
	is.NoErr(os.WriteFile(certFile, []byte("half a certif"), 0o600))
	until(t, "the broken certificate is logged", func() bool {
		serial()
		return strings.Contains(d.Output(), "former certificate stays")
	})
	is.Equal(serial(), int64(2))
	a.issue(dir, 3)
	until(t, "the new certificate counts", func() bool { return serial() == 3 })
	is.Equal(d.Call(daemontest.Request{Path: "/readyz"}).Status, http.StatusOK)
	is.True(!strings.Contains(d.Output(), "TLS handshake error")) // who speaks no TLS fills no log
	is.Equal(d.Terminate(drainLimit), 0)
}

func TestTLSMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := newAuthority(t).issue(dir, 2)
	other := t.TempDir()
	_, otherKey := newAuthority(t).issue(other, 2)
	for says, args := range map[string][]string{
		"check --tls-cert and --tls-key": {"--tls-cert", filepath.Join(dir, "missing"), "--tls-key",
			keyFile},
		"private key does not match public key":     {"--tls-cert", certFile, "--tls-key", otherKey},
		"write a domain such as images.example.com": {"--acme-domain", "*.example.com"},
		"write an address such as https://images.example": {"--acme-domain", "images.example.com", "--acme-directory",
			"ca"},
	} {
		t.Run(says, func(t *testing.T) {
			is := is.New(t)
			_, stderr, status := command(t, t.TempDir(), nil, append([]string{"serve", "--models", "fake", "--addr",
				"127.0.0.1:0"}, args...)...)
			is.True(status != 0)
			is.True(bytes.Contains([]byte(stderr), []byte(says))) // what is wrong, and what to do
		})
	}
}
