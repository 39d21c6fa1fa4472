package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const password = "correct horse battery"

// passwordFile holds the first operator's password.
func passwordFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	is.New(t).NoErr(os.WriteFile(file, []byte(password+"\n"), 0o600))
	return file
}

var page = map[string]string{"Accept": "text/html,*/*;q=0.8"}

// browser keeps cookies and follows redirects.
type browser struct {
	*testing.T
	http.Client
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t, http.Client{Jar: jar}}
	t.Cleanup(b.CloseIdleConnections)
	return b
}

// see reads a page to its end; where is the path at which a redirect ended.
func (b *browser) see(r *http.Response, err error) (status int, where, body string) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Body.Close()
	var text strings.Builder
	if err := r.Write(&text); err != nil {
		b.Fatal(err)
	}
	return r.StatusCode, r.Request.URL.Path, text.String()
}

// choose sends the form behind a link by which a password is chosen.
func (b *browser) choose(link string, further ...string) (status int, where, body string) {
	b.Helper()
	form := url.Values{"password": {password}, "again": {password}}
	for i := 0; i < len(further); i += 2 {
		form.Set(further[i], further[i+1])
	}
	return b.see(b.PostForm(link, form))
}

func (b *browser) signIn(base, name string) (where string) {
	b.Helper()
	_, where, _ = b.see(b.PostForm(base+"/console/signin", url.Values{"name": {name}, "password": {password}}))
	return where
}

var setupLink = regexp.MustCompile(`http://\S*/console/setup/[\w-]+`)

// An empty service prints a link once; the person who opens it becomes the operator.
func TestSetUpByLink(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--log-format", "text"}})
	banner := d.Output()
	says(t, banner, "console   "+d.URL+"/console/", "no operator yet; within 15 minutes open "+d.URL)
	first := setupLink.FindString(banner)
	is.Equal(d.Terminate(drainLimit), 0)

	d = daemontest.Start(t, daemontest.Options{DataDir: d.DataDir})
	second := setupLink.FindString(d.Output()) // in the record of a log, too
	is.True(second != "" && second != first)
	b := newBrowser(t)
	status, _, _ := b.choose(d.URL+first[strings.Index(first, "/console"):], "name", "mallory")
	is.Equal(status, http.StatusNotFound) // a newer one took its place
	_, where, _ := b.choose(second, "name", "olivia")
	is.Equal(where, "/console/playground")
	status, _, body := b.see(b.Get(d.URL + "/console/system"))
	is.Equal(status, http.StatusOK)
	says(t, body, "olivia", "ready", "fake-1")
	status, _, _ = b.choose(second, "name", "mallory")
	is.Equal(status, http.StatusNotFound)
	is.True(!strings.Contains(d.Output(), password))
	is.Equal(d.Terminate(drainLimit), 0)

	d = daemontest.Start(t, daemontest.Options{DataDir: d.DataDir})
	is.Equal(setupLink.FindString(d.Output()), "") // there is an operator
	status, _, _ = b.see(b.Get(d.URL + "/console/system"))
	is.Equal(status, http.StatusOK) // who is still signed in
	is.Equal(newBrowser(t).signIn(d.URL, "olivia"), "/console/playground")
}

func TestSetUpByFile(t *testing.T) {
	is := is.New(t)
	file := passwordFile(t)
	o := daemontest.Options{DataDir: filepath.Join(t.TempDir(), "data"), Args: []string{"--operator-password-file",
		file, "--operator-name", "olivia"}}
	d := daemontest.Start(t, o)
	is.Equal(setupLink.FindString(d.Output()), "")
	is.True(!strings.Contains(d.Output(), password))
	is.Equal(newBrowser(t).signIn(d.URL, "olivia"), "/console/playground")
	is.Equal(d.Terminate(drainLimit), 0)

	is.NoErr(os.Remove(file)) // counts no more, not even that it is gone
	d = daemontest.Start(t, o)
	is.Equal(newBrowser(t).signIn(d.URL, "olivia"), "/console/playground")
}

func TestPasswordFileRefused(t *testing.T) {
	tests := []struct {
		name, text string
		mode       os.FileMode
		want       []string
	}{
		{"others can read it", password, 0o644, []string{"the password file cannot be used: others can read or change",
			"0644", "chmod 600"}},
		{"too short", "hunter2\n" + password, 0o600, []string{`operator "operator"`,
			"at least 12 characters; this one has 7"}},
		{"empty", "", 0o600, []string{"this one has 0"}},
		{"missing", "-", 0, []string{"the password file cannot be used: open"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			file := filepath.Join(t.TempDir(), "password")
			if test.mode != 0 {
				is.NoErr(os.WriteFile(file, []byte(test.text), test.mode))
			}
			d := daemontest.Launch(t, daemontest.Options{Args: []string{"--operator-password-file", file}})
			is.Equal(d.Wait(drainLimit), 1)
			says(t, d.Output(), test.want...)
			is.True(!strings.Contains(d.Output(), "hunter2") && !strings.Contains(d.Output(), password))
		})
	}
}

// The link is printed alone, beside a server and without one, and leads to the server.
func TestInvite(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	d.Admin("user", "create", "alice")
	stdout, stderr, status := d.Command("user", "invite", "alice", "--expires-in", "2h")
	is.Equal(status, 0)
	is.True(strings.HasPrefix(stdout, d.URL+"/console/invitation/") && strings.Count(stdout, "\n") == 1)
	says(t, stderr, "alice (user)", "works once")
	b := newBrowser(t)
	_, where, _ := b.choose(strings.TrimSpace(stdout))
	is.Equal(where, "/console/playground")
	status, _, _ = b.see(b.Get(d.URL + "/console/users"))
	is.Equal(status, http.StatusNotFound) // alice is not an operator

	_, stderr, status = d.Command("user", "invite", "bob")
	is.Equal(status, 1)
	says(t, stderr, `no user "bob"`, "user list")
	is.Equal(d.Terminate(drainLimit), 0)

	link := strings.TrimSpace(d.Admin("user", "invite", "alice", "--operator", "--base-url",
		"https://images.example.com"))
	path, ours := strings.CutPrefix(link, "https://images.example.com")
	is.True(ours)
	stdout, stderr, _ = d.Command("user", "invite", "alice")
	says(t, stdout, "http://127.0.0.1:8080/console/invitation/")
	says(t, stderr, "no server runs here", "--base-url")
	link = strings.TrimSpace(d.Admin("user", "invite", "alice", "--operator"))
	d = daemontest.Start(t, daemontest.Options{DataDir: d.DataDir})
	status, _, _ = b.choose(d.URL + path)
	is.Equal(status, http.StatusNotFound) // a former link
	b.choose(strings.Replace(link, "http://127.0.0.1:8080", d.URL, 1))
	status, _, _ = b.see(b.Get(d.URL + "/console/users"))
	is.Equal(status, http.StatusOK)
	says(t, d.Admin("user", "invite", "alice"), d.URL) // she stays an operator
	says(t, d.Admin("user", "list"), "ROLE", "operator")
	d.Admin("user", "disable", "alice")
	_, where, _ = b.see(b.Get(d.URL + "/console/users"))
	is.Equal(where, "/console/signin") // at once
	_, stderr, status = d.Command("user", "invite", "alice")
	is.Equal(status, 1)
	says(t, stderr, "disabled")
}

func TestConsoleOff(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--console=false", "--log-format", "text"}})
	is.True(!strings.Contains(d.Output(), "/console"))
	for _, path := range []string{"/", "/console", "/console/", "/console/signin"} {
		a := d.Call(daemontest.Request{Path: path, Header: page})
		is.Equal(a.Status, http.StatusNotFound)
		is.Equal(a.Code(), "notFound")
	}
	d.Admin("user", "create", "alice")
	_, stderr, status := d.Command("user", "invite", "alice")
	is.Equal(status, 1)
	says(t, stderr, "has no console", "--console")
}

// The console takes nothing from the API.
func TestConsoleBesideTheAPI(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	for _, path := range []string{"/", "/console"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			a := d.Call(daemontest.Request{Method: method, Path: path, Header: page})
			is.Equal(a.Status, http.StatusSeeOther)
			is.Equal(a.Header.Get("Location"), "/console/")
			is.True(strings.Contains(a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'"))
			is.Equal(a.Header.Get("X-Content-Type-Options"), "nosniff")
		}
		a := d.Call(daemontest.Request{Method: http.MethodPost, Path: path, Header: page})
		is.Equal(a.Status, http.StatusNotFound)
		is.Equal(a.Code(), "notFound")
	}
	for _, path := range []string{"/", "//console/signin", "/api/v1", "/api/../console/", "/consoles", "/console.txt"} {
		a := d.Call(daemontest.Request{Path: path})
		is.Equal(a.Status, http.StatusNotFound)
		is.Equal(a.Code(), "notFound")
	}
	is.Equal(d.Call(daemontest.Request{Path: "/api/v1/models"}).Status, http.StatusOK)
	a := d.Call(daemontest.Request{Path: "/console/"})
	is.Equal(a.Status, http.StatusSeeOther)
	is.Equal(a.Header.Get("Location"), "/console/signin?next=%2Fconsole%2F")
	is.True(a.Header.Get("Content-Security-Policy") != "")
	a = d.Call(daemontest.Request{Method: http.MethodPost, Path: "/console/signin", Header: map[string]string{
		"Sec-Fetch-Site": "cross-site", "Content-Type": "application/x-www-form-urlencoded"}})
	is.Equal(a.Status, http.StatusForbidden)
}

// Nothing is served behind a request with chunks and a length, at any address.
func TestNothingIsServedBehindChunks(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--ops-addr", "127.0.0.1:0", "--ops-admin"}})
	for base, paths := range map[string][]string{
		d.URL: {"/", "/console", "/console/signin", "/docs", "/openapi.json", "/api/v1/models", "/v1/models",
			"/mcp", "/nowhere"},
		d.OpsURL(): {"/healthz", "/metrics", "/admin/v1/users", "/nowhere"},
	} {
		for _, path := range paths {
			for _, method := range []string{"GET", "POST"} {
				t.Run(method+" "+path, func(t *testing.T) {
					is := is.New(t)
					c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
					is.NoErr(err)
					defer c.Close()
					fmt.Fprintf(c,
						"%s %s HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"+
							"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", method, path)
					in := bufio.NewReader(c)
					a, err := http.ReadResponse(in, nil)
					is.NoErr(err)
					is.Equal(a.Header.Get("X-Content-Type-Options"), "nosniff")
					is.True(a.Close)
					_, err = io.Copy(io.Discard, a.Body)
					is.NoErr(err)
					_, err = in.ReadByte()
					is.True(err != nil)
				})
			}
		}
	}
}

// Every answer has an X-Request-Id, that of the console and that of the API.
func TestRequestIDsOfTheConsole(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	for _, path := range []string{"/", "/console", "/console/", "/console/signin", "/console/nowhere", "/nowhere"} {
		r := daemontest.Request{Path: path, Header: page}
		is.True(len(d.Call(r).Header.Get("X-Request-Id")) >= 20)
		is.Equal(d.Call(r.With("X-Request-Id", "mine")).Header.Get("X-Request-Id"), "mine")
	}
}

// OPTIONS of the server as a whole has what that of a path has.
func TestOptionsOfTheServer(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, d.URL, nil)
	is.NoErr(err)
	r.URL.Opaque = "*"
	a, err := http.DefaultClient.Do(r)
	is.NoErr(err)
	is.NoErr(a.Body.Close())
	is.Equal(a.StatusCode, http.StatusNoContent)
	is.Equal(a.Header.Get("Allow"), "GET, HEAD, OPTIONS, POST")
	is.True(a.Header.Get("X-Request-Id") != "")
}

// Behind TLS cookies are sent no other way.
func TestSecureCookies(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--base-url", "https://images.example.com"}})
	d.Admin("user", "create", "alice")
	link := strings.TrimSpace(d.Admin("user", "invite", "alice"))
	path, ours := strings.CutPrefix(link, "https://images.example.com")
	is.True(ours)
	a := d.Call(daemontest.Request{Method: http.MethodPost, Path: path,
		Body: strings.NewReader("password=correct+horse+battery&again=correct+horse+battery"),
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded",
			"Sec-Fetch-Site": "same-origin"}})
	is.Equal(a.Status, http.StatusSeeOther)
	cookies := strings.Join(a.Header.Values("Set-Cookie"), "\n")
	says(t, cookies, "__Host-imagegen=", "Secure", "HttpOnly", "SameSite=Lax", "Path=/;")
}

// The banner of --dev leads into the playground.
func TestDevLink(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Dev: true})
	link := regexp.MustCompile(`http://\S*/console/entry/[\w-]+`).FindString(d.Output())
	is.True(link != "")
	b := newBrowser(t)
	_, _, body := b.see(b.Get(link))
	says(t, body, "Sign in as dev")
	_, where, _ := b.see(b.PostForm(link, nil))
	is.Equal(where, "/console/playground")
	status, _, _ := b.see(b.Get(link))
	is.Equal(status, http.StatusNotFound)
}

// An operator has the books checked from the browser; the command's audits are seen there, too.
func TestAuditFromTheConsole(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--operator-password-file", passwordFile(t)}})
	b := newBrowser(t)
	b.signIn(d.URL, "operator")
	system := func() string {
		_, _, body := b.see(b.Get(d.URL + "/console/system"))
		return body
	}
	says(t, system(), "None is known yet.")
	d.Admin("audit")
	says(t, system(), `clean</span>`)
	b.see(b.PostForm(d.URL+"/console/system/audit", nil))
	until(t, "audited", func() bool { return !strings.Contains(system(), "under way</span>") })
	says(t, system(), `clean</span>`)
}
