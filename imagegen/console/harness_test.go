package console_test

import (
	"crypto/sha256"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// secret is the password of all users of a test.
const secret = "correct horse battery"

// clock is the time of the console and of its engine.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// site is a console over an engine at work, with the memory storage and the fake provider.
type site struct {
	*testing.T
	is *is.I
	imagegentest.Running
	*console.Console
	config console.Config
	clock  *clock
}

// open starts a site; change may alter the configuration of the console before.
func open(t *testing.T, change ...func(*console.Config)) *site {
	t.Helper()
	return openOver(t, func(*engine.Config) {}, change...)
}

// openOver is open with an engine whose configuration is altered too.
func openOver(t *testing.T, alter func(*engine.Config), change ...func(*console.Config)) *site {
	t.Helper()
	s := &site{T: t, is: is.New(t), clock: &clock{now: time.Now().UTC().Truncate(time.Second)}}
	s.Running = imagegentest.Start(t, func(c *engine.Config) { c.Now = s.clock.Now }, alter)
	s.config = console.Config{Engine: s.Engine, Ledger: s.DB, Logins: s.DB, Now: s.clock.Now}
	for _, c := range change {
		c(&s.config)
	}
	var err error
	s.Console, err = console.New(s.config)
	s.is.NoErr(err)
	return s
}

// beside is another node: a second console over the same engine and store.
func (s *site) beside() *site {
	s.Helper()
	c, err := console.New(s.config)
	s.is.NoErr(err)
	other := *s
	other.Console = c
	return &other
}

// user adds a user who signs in with secret.
func (s *site) user(name string, role account.Role) imagegen.User {
	s.Helper()
	u := s.newcomer(name)
	s.is.NoErr(s.config.Logins.SetLogin(s.Context(), account.Login{User: u.ID, Role: role, Password: hashed,
		ChangedAt: s.clock.Now()}))
	return u
}

// signedIn is a browser of a new user.
func (s *site) signedIn(name string) *visitor {
	s.Helper()
	return s.as(s.user(name, account.RoleUser))
}

// operator is a browser of a new operator.
func (s *site) operator() *visitor {
	s.Helper()
	return s.as(s.user("olivia", account.RoleOperator))
}

// as is a browser in which a user is signed in, as if by the form.
func (s *site) as(u imagegen.User) *visitor {
	s.Helper()
	const token = "a token that no test guesses: "
	v := s.visitor()
	v.user = u
	value := url.QueryEscape(token + string(u.ID))
	v.cookies["imagegen"] = value
	now := s.clock.Now()
	s.is.NoErr(s.config.Logins.CreateSignIn(s.Context(),
		account.SignIn{Hash: sha256.Sum256([]byte(value)), User: u.ID, CreatedAt: now, SeenAt: now,
			Agent: "Firefox/140.0 (Linux)", ConfirmedAt: now}))
	return v
}

// visitor is a browser that keeps cookies and follows no redirect.
type visitor struct {
	*site
	user    imagegen.User // the user who is signed in, if the test did so
	cookies map[string]string
	address string // where it comes from
	late    func() // called before the end of each form arrives; nil: it comes at once
}

// lateEnd calls late before the end of a body arrives.
type lateEnd struct {
	io.Reader
	late func()
}

func (l lateEnd) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	if err == io.EOF {
		l.late()
	}
	return n, err
}

func (s *site) visitor() *visitor {
	return &visitor{site: s, cookies: map[string]string{}, address: "192.0.2.1:1234"}
}

// answer is a response, read to its end.
type answer struct {
	*http.Response
	body string
}

// has reports whether all of the texts stand in the page, as they are written in HTML.
func (a answer) has(texts ...string) bool {
	for _, t := range texts {
		if !strings.Contains(a.body, t) {
			return false
		}
	}
	return true
}

// redirected is where a redirect after a form leads; "" if it is none.
func (a answer) redirected() string {
	if a.StatusCode != http.StatusSeeOther {
		return ""
	}
	return a.Header.Get("Location")
}

// next is where a link to the next page leads; "": there is none.
func (a answer) next() string {
	m := further.FindStringSubmatch(a.body)
	if m == nil {
		return ""
	}
	path, _, _ := strings.Cut(html.UnescapeString(m[1]), "#")
	return path
}

var further = regexp.MustCompile(`href="([^"]*)" rel="next"`)

// get fetches a page; its path lies below the console's, unless it begins with a slash.
func (v *visitor) get(path string, header ...string) answer {
	v.Helper()
	return v.do(http.MethodGet, path, nil, header...)
}

// post sends a form of names and values in turn, as the browser does from a page of the console.
func (v *visitor) post(path string, pairs ...string) answer {
	v.Helper()
	return v.postWith(path, pairs)
}

// postScripted does the same as a script does that puts the answer into the page.
func (v *visitor) postScripted(path string, pairs ...string) answer {
	v.Helper()
	return v.postWith(path, pairs, "HX-Request", "true")
}

func (v *visitor) postWith(path string, pairs []string, header ...string) answer {
	v.Helper()
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return v.do(http.MethodPost, path, strings.NewReader(values.Encode()),
		append(header, "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")...)
}

// request is a request with the browser's cookies. header holds names and values in turn.
func (v *visitor) request(method, path string, body io.Reader, header ...string) *http.Request {
	v.Helper()
	if !strings.HasPrefix(path, "/") {
		path = v.base() + path
	}
	if v.late != nil && body != nil {
		body = lateEnd{body, v.late}
	}
	r := httptest.NewRequestWithContext(v.Context(), method, "http://console.test"+path, body)
	r.RemoteAddr = v.address
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// do sends a request and keeps the cookies of the answer.
func (v *visitor) do(method, path string, body io.Reader, header ...string) answer {
	v.Helper()
	w := httptest.NewRecorder()
	v.ServeHTTP(w, v.request(method, path, body, header...))
	response := w.Result()
	for _, c := range response.Cookies() {
		if v.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(v.cookies, c.Name)
		}
	}
	return answer{response, w.Body.String()}
}

func (s *site) base() string {
	if s.config.Path == "" {
		return console.DefaultPath
	}
	return s.config.Path
}

// follow fetches what a redirect leads to.
func (v *visitor) follow(a answer) answer {
	v.Helper()
	to := a.redirected()
	if to == "" {
		v.Fatalf("no redirect: %s\n%s", a.Status, a.body)
	}
	return v.get(to)
}
