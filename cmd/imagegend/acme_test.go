package main_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// pebble is Let's Encrypt's ACME server for tests, as strict as theirs.
type pebble struct {
	t                        *testing.T
	directory, root, tlsPort string
	vouched                  string // file with the certificate of the server itself
	client                   *http.Client
}

// startPebble skips the test where its programs are missing: go install
// github.com/letsencrypt/pebble/v2/cmd/pebble github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv.
func startPebble(t *testing.T) *pebble {
	t.Helper()
	program, names := goTool("pebble"), goTool("pebble-challtestsrv")
	if program == "" || names == "" {
		t.Skip("NOT RUN: there is no pebble; .ci/run acme installs it")
	}
	a, dir := newAuthority(t), t.TempDir()
	certFile, keyFile := a.issue(dir, 2)
	ports := freePorts(t, 5)
	p := &pebble{t: t, directory: "https://127.0.0.1:" + ports[0] + "/dir", root: "https://127.0.0.1:" + ports[1] +
		"/roots/0", tlsPort: ports[2]}
	p.vouched = filepath.Join(dir, "authority.pem")
	writePEM(t, p.vouched, "CERTIFICATE", a.cert.Raw)
	p.client = &http.Client{Transport: &http.Transport{TLSClientConfig: a.trust()}}
	number := func(port string) int {
		n, err := strconv.Atoi(port)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	settings, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": "127.0.0.1:" + ports[0], "managementListenAddress": "127.0.0.1:" + ports[1],
		"certificate": certFile, "privateKey": keyFile, "httpPort": number(ports[3]), "tlsPort": number(p.tlsPort),
	}})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "pebble.json")
	if err := os.WriteFile(config, settings, 0o600); err != nil {
		t.Fatal(err)
	}
	dns := "127.0.0.1:" + ports[4]
	background(t, names, "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dnsserver", dns, "-http01", "", "-https01",
		"", "-tlsalpn01", "", "-doh", "", "-management", "127.0.0.1:0")
	background(t, program, "-config", config, "-dnsserver", dns)
	until(t, "pebble answers", func() bool { return p.get(p.directory) != nil })
	return p
}

// goTool finds a program that go install has made.
func goTool(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	gopath, err := exec.Command("go", "env", "GOPATH").Output()
	path := filepath.Join(strings.TrimSpace(string(gopath)), "bin", name)
	if _, statErr := os.Stat(path); err != nil || statErr != nil {
		return ""
	}
	return path
}

// freePorts are free for TCP when they are looked for.
func freePorts(t *testing.T, n int) (ports []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, port)
	}
	return ports
}

// background runs a program until the test ends.
func background(t *testing.T, program string, args ...string) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
}

// get returns the body of an answer, nil without one.
func (p *pebble) get(url string) []byte {
	answer, err := p.client.Get(url)
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil
	}
	return body
}

// A certificate is issued when it is first asked for, for the domains that were named and no others, and is kept.
func TestACME(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := startPebble(t)
	roots := x509.NewCertPool()
	is.True(roots.AppendCertsFromPEM(p.get(p.root)))
	trust := &tls.Config{RootCAs: roots, ServerName: "images.example.com"}
	o := daemontest.Options{
		Args: []string{"--addr", "127.0.0.1:" + p.tlsPort, "--acme-domain", "images.example.com", "--acme-directory",
			p.directory},
		Env: []string{"SSL_CERT_FILE=" + p.vouched}, TLS: trust, DataDir: t.TempDir(),
	}
	d := daemontest.Start(t, o)
	_, key := d.NewUser(10)
	is.Equal(d.Call(daemontest.Request{Path: "/api/v1/models", Key: key}).Status, http.StatusOK)
	issued := shake(t, d, trust).PeerCertificates[0].SerialNumber

	other := trust.Clone()
	other.ServerName = "other.example.com"
	_, err := tls.Dial("tcp", strings.TrimPrefix(d.URL, "https://"), other)
	is.True(err != nil)
	info, err := os.Stat(filepath.Join(o.DataDir, "acme"))
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o700)) // private keys lie there

	is.Equal(d.Terminate(drainLimit), 0)
	again := daemontest.Start(t, o)
	is.Equal(shake(t, again, trust).PeerCertificates[0].SerialNumber, issued) // it is kept over a restart
	is.True(time.Until(shake(t, again, trust).PeerCertificates[0].NotAfter) > 0)
}
