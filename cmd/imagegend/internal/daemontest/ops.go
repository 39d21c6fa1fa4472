package daemontest

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
)

// opsAddress finds the address for operators in the announcement, be it text or JSON.
var opsAddress = regexp.MustCompile(`ops(?:":"| +)(https?://[^\s"]+)`)

// OpsURL returns where the daemon serves operators. It must run with --ops-addr.
func (d *Daemon) OpsURL() string {
	d.tb.Helper()
	m := opsAddress.FindStringSubmatch(d.Output())
	if m == nil {
		d.tb.Fatalf("the daemon does not say where it serves operators:\n%s", d.Output())
	}
	return m[1]
}

// FromOps asks for a path at the address for operators, without a key.
func (d *Daemon) FromOps(path string) (body string, status int) {
	d.tb.Helper()
	return d.watch(d.client, d.OpsURL()+path)
}

// FromSocket asks for a path on the admin socket.
func (d *Daemon) FromSocket(path string) (body string, status int) {
	d.tb.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(d.DataDir, "admin.sock"))
	}
	// No connection is kept open, since the client serves this one request.
	c := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	return d.watch(c, "http://imagegend"+path)
}

// watch gets an address, as monitoring does.
func (d *Daemon) watch(c *http.Client, url string) (body string, status int) {
	d.tb.Helper()
	answer, err := c.Get(url)
	if err != nil {
		d.tb.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		d.tb.Fatal(err)
	}
	return string(text), answer.StatusCode
}
