package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// browser is somebody who keeps cookies.
type browser struct {
	*testing.T
	is   *is.I
	base string
	http.Client
}

func (b *browser) do(method, path, contentType, body string, header ...string) (status int, text string) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.base+path, strings.NewReader(body))
	b.is.NoErr(err)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := b.Do(r)
	b.is.NoErr(err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	b.is.NoErr(err)
	return response.StatusCode, string(raw)
}

// form submits one, and returns the page that it leads to.
func (b *browser) form(path string, values url.Values) (status int, page string) {
	b.Helper()
	return b.do(http.MethodPost, path, "application/x-www-form-urlencoded", values.Encode())
}

// draw does what the script of the page does.
func (b *browser) draw(header ...string) (status int, body string) {
	b.Helper()
	return b.do(http.MethodPost, "/api/v1/images/generations", "application/json",
		`{"model":"fake-1","prompt":"a fox","size":"64x64"}`, header...)
}

func (b *browser) cookie() string {
	at, err := url.Parse(b.base)
	b.is.NoErr(err)
	for _, c := range b.Jar.Cookies(at) {
		return c.Value
	}
	return ""
}

// People sign in at the program, make images without a key, and sign out. Nobody else can use their sign-in.
func TestSessions(t *testing.T) {
	is := is.New(t)
	ctx, end := context.WithCancel(t.Context())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	out, printed := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, listener, printed) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	is.NoErr(err)
	jar, err := cookiejar.New(nil)
	is.NoErr(err)
	b := &browser{t, is, regexp.MustCompile(`http://\S+`).FindString(line), http.Client{Jar: jar}}
	defer b.CloseIdleConnections()

	status, body := b.draw()
	is.Equal(status, http.StatusUnauthorized)
	is.True(strings.Contains(body, "missingApiKey"))
	at, err := url.Parse(b.base)
	is.NoErr(err)
	b.Jar.SetCookies(at, []*http.Cookie{{Name: cookie, Value: "planted", Path: "/"}}) // by somebody else
	status, _ = b.form("/signin", url.Values{"user": {"alice"}, "password": {"wrong"}})
	is.Equal(status, http.StatusForbidden)
	status, page := b.form("/signin", url.Values{"user": {"alice"}, "password": {"fox"}})
	is.Equal(status, http.StatusOK)
	is.True(strings.Contains(page, "a fox in the snow"))
	is.True(b.cookie() != "planted") // to know that one is to know nothing

	status, body = b.draw()
	is.Equal(status, http.StatusOK)
	is.True(strings.Contains(body, `"credits":9`))
	status, _ = b.do(http.MethodPost, "/v1/images/generations", "application/json",
		`{"model":"fake-1","prompt":"a fox","size":"64x64"}`)
	is.Equal(status, http.StatusOK)
	status, _ = b.draw("Sec-Fetch-Site", "cross-site")
	is.Equal(status, http.StatusUnauthorized) // a page of another site
	status, _ = b.do(http.MethodPost, "/signout", "", "", "Sec-Fetch-Site", "cross-site")
	is.Equal(status, http.StatusForbidden)
	_, body = b.do(http.MethodGet, "/api/v1/credits", "", "")
	is.True(strings.Contains(body, `"credits":8`))

	status, page = b.do(http.MethodGet, "/console/credits", "", "")
	is.Equal(status, http.StatusOK)
	is.True(strings.Contains(page, `action="/signout"`)) // the account area, of the same sign-in
	status, _ = b.do(http.MethodGet, "/console/users", "", "")
	is.Equal(status, http.StatusNotFound) // she is not the operator

	kept := b.cookie()
	status, page = b.form("/signout", nil)
	is.Equal(status, http.StatusOK)
	is.True(strings.Contains(page, "Sign in"))
	b.Jar.SetCookies(at, []*http.Cookie{{Name: cookie, Value: kept, Path: "/"}}) // as a thief would
	status, body = b.draw()
	is.Equal(status, http.StatusUnauthorized)
	is.True(strings.Contains(body, "sign in again"))

	b.Jar.SetCookies(at, []*http.Cookie{{Name: cookie, MaxAge: -1, Path: "/"}})
	_, page = b.do(http.MethodGet, "/console/users", "", "")
	is.True(strings.Contains(page, `name="next" value="/console/users"`))
	_, page = b.form("/signin", url.Values{"user": {"bob"}, "password": {"hen"}, "next": {"/console/users"}})
	is.True(strings.Contains(page, "Audit trail")) // the operator's pages
	_, page = b.form("/signin", url.Values{"user": {"bob"}, "password": {"hen"}, "next": {"//evil.example"}})
	is.True(strings.Contains(page, "a fox in the snow"))
	end()
	is.NoErr(<-ended)
}
