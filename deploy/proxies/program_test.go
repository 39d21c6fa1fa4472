package proxies

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	site   = "images.example.com"
	client = "127.0.0.2" // where the client calls from
	soon   = 30 * time.Second
)

// program runs one kind of proxy.
type program struct {
	command func(config string) []string
	// place changes what an example cannot have in a test: where it listens, and where its certificate lies.
	place func(text string, at place) string
}

// place is where a proxy listens and what is there for it.
type place struct{ dir, port, cert, key, both string }

var programs = map[string]program{
	"nginx": {
		func(config string) []string { return []string{"-c", config, "-g", "daemon off;"} },
		func(text string, at place) string {
			text = strings.NewReplacer("listen 443", "listen 127.0.0.1:"+at.port, "/etc/ssl/images.example.com.pem",
				at.cert, "/etc/ssl/images.example.com.key", at.key).Replace(text)
			return "user root;\nevents {}\npid " + at.dir +
				"/pid;\nerror_log stderr;\nhttp {\naccess_log off;\nclient_body_temp_path " + at.dir + "/body;\n" +
				text + "}\n"
		},
	},
	"haproxy": {
		func(config string) []string { return []string{"-db", "-f", config} },
		func(text string, at place) string {
			return strings.NewReplacer("bind :443", "bind 127.0.0.1:"+at.port, "/etc/ssl/images.example.com.pem",
				at.both).Replace(text)
		},
	},
	"caddy": {
		func(config string) []string {
			return []string{"run", "--adapter", "caddyfile", "--config", config}
		},
		func(text string, at place) string {
			text = strings.Replace(text, "\n"+site+" {", "\nhttps://"+site+":"+at.port+" {\n\tbind 127.0.0.1\n\ttls "+
				at.cert+" "+at.key, 1)
			text = strings.Replace(text, "\n:8080 {", "\nhttps://"+site+":"+at.port+" {\n\tbind 127.0.0.1\n\ttls "+
				at.cert+" "+at.key, 1)
			return "{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + text
		},
	},
}

// start runs a proxy with an example, in front of nodes that stand where the addresses of the example are. It returns
// clients that call it under its name; each has cookies of its own.
func start(t *testing.T, name, example string, nodes map[string]*node) (newClient func() *http.Client) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + name); err != nil {
			t.Fatalf("there is no %s: .ci/run proxies installs it", name)
		}
	}
	at, roots := newPlace(t)
	text := programs[name].place(example, at)
	for address, n := range nodes {
		text = strings.ReplaceAll(text, address, n.address())
	}
	config := filepath.Join(at.dir, "config")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command(path, programs[name].command(config)...), at)
	return func() *http.Client {
		jar, _ := cookiejar.New(nil) // it never fails
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}}
		transport := &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: site},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, "127.0.0.1:"+at.port)
			},
		}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport, Jar: jar}
	}
}

// run starts a proxy, and ends it with the test. It returns once somebody listens.
func run(t *testing.T, c *exec.Cmd, at place) {
	t.Helper()
	var out output
	c.Stdout, c.Stderr = &out, &out
	c.Env = append(os.Environ(), "HOME="+at.dir, "XDG_DATA_HOME="+at.dir, "XDG_CONFIG_HOME="+at.dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		<-ended
		if t.Failed() {
			t.Log(out.String())
		}
	})
	for end := time.Now().Add(soon); ; time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+at.port); err == nil {
			conn.Close()
			return
		}
		select {
		case <-ended:
			t.Fatalf("%s ended:\n%s", c.Path, out.String())
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not listen:\n%s", c.Path, out.String())
		}
	}
}

// output is what a process says, which can be read while it writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// newPlace makes a directory with a certificate, and finds a free port. A program that takes that port meanwhile makes
// the proxy end at once, and the test fail.
func newPlace(t *testing.T) (place, *x509.CertPool) {
	t.Helper()
	fatal := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fatal(err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{site}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	fatal(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	fatal(err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	dir := t.TempDir()
	at := place{dir: dir, cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"),
		both: filepath.Join(dir, "both.pem")}
	for file, b := range map[string][]byte{at.cert: certPEM, at.key: keyPEM,
		at.both: append(certPEM[:len(certPEM):len(certPEM)], keyPEM...)} {
		fatal(os.WriteFile(file, b, 0o600))
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	fatal(err)
	_, at.port, _ = net.SplitHostPort(l.Addr().String())
	fatal(l.Close())
	return at, roots
}
