package console_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

func TestConfig(t *testing.T) {
	is := is.New(t)
	_, err := console.New(console.Config{Path: "console"})
	is.True(err != nil)
	for _, wrong := range []string{"Config.Engine", "Config.Ledger", "Config.Logins", `got "console"`} {
		is.True(strings.Contains(err.Error(), wrong)) // all at once
	}
	for path, fine := range map[string]bool{"/": true, "/a/b/": true, "/a//b/": false, "/{a}/": false, "/a/../": false,
		"/a": false, "a/": false, "/a b/": false, "/ä/": false} {
		_, err := console.New(console.Config{Path: path})
		is.Equal(!strings.Contains(err.Error(), "Config.Path"), fine)
	}
}

func TestMountedElsewhere(t *testing.T) {
	s := open(t, func(c *console.Config) { c.Path = "/admin/images/" })
	v := s.signedIn("alice")
	a := v.get("account")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has(`action="/admin/images/signout"`, `href="/admin/images/static/`))
	s.is.True(!a.has("/console/"))
	s.is.Equal(v.get("/console/account").StatusCode, http.StatusNotFound)
	s.is.Equal(s.visitor().get("account").redirected(), "/admin/images/signin?next=%2Fadmin%2Fimages%2Faccount")
}

func TestNotFound(t *testing.T) {
	s := open(t)
	for _, v := range []*visitor{s.visitor(), s.signedIn("alice"), s.operator()} {
		a := v.get("nothing/here")
		s.is.Equal(a.StatusCode, http.StatusNotFound)
		s.is.True(a.has("There is nothing at this address", "<code>notFound</code>"))
		s.is.Equal(v.post("nothing/here").StatusCode, http.StatusNotFound)
	}
}

func TestForms(t *testing.T) {
	s := open(t)
	v := s.visitor()
	for body, status := range map[string]int{
		"name=%zz":                               http.StatusBadRequest,
		"name=" + strings.Repeat("a", 65<<10):    http.StatusBadRequest,
		"name=" + strings.Repeat("a", 60<<10):    http.StatusUnprocessableEntity,
		"name=a&name=b&password=x&colour=yellow": http.StatusUnprocessableEntity,
	} {
		a := v.do(http.MethodPost, "signin", strings.NewReader(body), "Content-Type",
			"application/x-www-form-urlencoded")
		s.is.Equal(a.StatusCode, status)
	}
}

// faulty is a store of logins that fails, or panics, wherever it is asked for a sign-in.
type faulty struct {
	account.LoginStore
	panics bool
	err    error
}

func (f faulty) SignIn(context.Context, [32]byte) (account.SignIn, error) {
	if f.panics {
		panic("a fault in the store")
	}
	return account.SignIn{}, f.err
}

func TestFaults(t *testing.T) {
	for name, fault := range map[string]faulty{"an error": {err: errors.New("a fault in the store")},
		"a panic": {panics: true}} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			s := open(t, func(c *console.Config) {
				c.Log = slog.New(slog.NewTextHandler(&log, nil))
				fault.LoginStore = c.Logins
				c.Logins = fault
			})
			v := s.visitor()
			v.cookies["imagegen"] = "x"
			link := s.invite(s.newcomer("alice"), account.RoleUser)
			a := v.get(link)
			s.is.Equal(a.StatusCode, http.StatusInternalServerError)
			s.is.True(a.has("Something went wrong", "reference"))
			s.is.True(!a.has("a fault in the store"))
			s.is.True(strings.Contains(log.String(), "a fault in the store"))
			_, reference, _ := strings.Cut(a.body, "reference <code>")
			s.is.True(strings.Contains(log.String(), "reference="+reference[:8]))
			s.is.True(!strings.Contains(log.String(), link[len("invitation/"):])) // a secret
		})
	}
}

func TestOverload(t *testing.T) {
	s := open(t, func(c *console.Config) {
		c.Logins = faulty{LoginStore: c.Logins, err: fmt.Errorf("%w: full", imagegen.ErrOverloaded)}
	})
	v := s.visitor()
	v.cookies["imagegen"] = "x"
	a := v.get("account")
	s.is.Equal(a.StatusCode, http.StatusServiceUnavailable)
	s.is.True(a.has("Too much work at the moment", "<code>overloaded</code>"))
}
