package console_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func TestCookies(t *testing.T) {
	for name, secure := range map[string]bool{"imagegen": false, "__Host-imagegen": true} {
		t.Run(name, func(t *testing.T) {
			s := open(t, func(c *console.Config) { c.Secure = secure })
			s.user("alice", account.RoleUser)
			a := s.visitor().post("signin", "name", "alice", "password", secret)
			var c *http.Cookie
			for _, k := range a.Cookies() {
				if k.Name == name {
					c = k
				}
			}
			s.is.True(c != nil)
			s.is.True(c.HttpOnly && c.Secure == secure && c.SameSite == http.SameSiteLaxMode && c.Domain == "" &&
				c.MaxAge == 0)
			s.is.Equal(c.Path, map[bool]string{false: "/console/", true: "/"}[secure])
			s.is.Equal(len(c.Value), 43) // 256 bits
			in, err := s.config.Logins.SignIn(t.Context(), sha256.Sum256([]byte(c.Value)))
			s.is.NoErr(err) // only the hash is kept
			s.is.Equal(in.CreatedAt, s.clock.Now())
		})
	}
}

// Each sign-in sets a new cookie, and the former one stops working.
func TestRotation(t *testing.T) {
	s := open(t)
	s.user("alice", account.RoleUser)
	v := s.visitor()
	v.cookies["imagegen"] = "placed there by somebody"
	v.post("signin", "name", "alice", "password", secret)
	first := v.cookies["imagegen"]
	s.is.True(first != "" && first != "placed there by somebody")
	v.post("signin", "name", "alice", "password", secret)
	s.is.True(v.cookies["imagegen"] != first)
	s.is.Equal(v.get("account").StatusCode, http.StatusOK)
	v.cookies["imagegen"] = first
	s.is.True(v.get("account").redirected() != "")
}

func TestIdle(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	for range 5 {
		s.clock.Advance(28 * time.Minute)
		s.is.Equal(v.get("account").StatusCode, http.StatusOK) // use keeps it alive
	}
	s.clock.Advance(30 * time.Minute)
	a := v.get("account")
	s.is.True(strings.HasPrefix(a.redirected(), "/console/signin"))
	s.is.Equal(len(v.cookies), 0)
}

func TestAbsolute(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	for range 12*3 - 1 {
		s.clock.Advance(20 * time.Minute)
		s.is.Equal(v.get("account").StatusCode, http.StatusOK)
	}
	s.clock.Advance(20 * time.Minute)
	s.is.True(v.get("account").redirected() != "")
}

// Ended sign-ins are removed from the store.
func TestEndedSignInsAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, func(c *console.Config) { c.Now = nil })
		alice := s.signedIn("alice")
		time.Sleep(31 * time.Minute)
		s.user("bob", account.RoleUser)
		s.is.True(s.visitor().post("signin", "name", "bob", "password", secret).redirected() != "")
		left, err := s.config.Logins.SignIns(t.Context(), alice.user.ID)
		s.is.NoErr(err)
		s.is.Equal(len(left), 0)
	})
}

// Disabling a user ends their sign-ins at once.
func TestDisabledUser(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.is.NoErr(s.Accounts().DisableUser(t.Context(), v.user.ID))
	s.is.True(v.get("account").redirected() != "")
}

// A script that fetches a part of a page loads the sign-in page as a whole when the session has ended,
// and comes back to the page that it stood in.
func TestEndUnderAScript(t *testing.T) {
	s := open(t)
	a := s.visitor().get("account", "HX-Request", "true", "HX-Current-URL",
		"http://console.test/console/generations?status=failed")
	s.is.Equal(a.StatusCode, http.StatusNoContent)
	s.is.Equal(a.Header.Get("HX-Redirect"), "/console/signin?next=%2Fconsole%2Fgenerations%3Fstatus%3Dfailed")
}

// What arrives whole only after the sign-in has ended is not done.
func TestSignInEndsWhileAFormArrives(t *testing.T) {
	s := open(t, func(c *console.Config) { c.Operations = console.EngineOperations{Engine: c.Engine} })
	v := s.operator()
	tried := 0
	for _, d := range actions(s, v) {
		arrived := false
		v.cookies = s.as(v.user).cookies
		v.late = func() {
			s.is.NoErr(s.DB.EndSignIns(t.Context(), v.user.ID))
			arrived = true
		}
		var a answer
		news := s.news(func() { a = d.do() })
		if !arrived { // it has no form to wait for
			continue
		}
		if tried++; !strings.HasPrefix(a.redirected(), "/console/signin") {
			t.Errorf("%s: %s", d.route, a.Status)
		}
		for _, r := range news {
			if slices.Contains(d.acts, r.Act) {
				t.Errorf("%s: %s", d.route, r.Act)
			}
		}
	}
	s.is.True(tried >= 9)
}

// Nor does somebody act who was disabled, or stopped being an operator.
func TestRightsEndWhileAFormArrives(t *testing.T) {
	for name, test := range map[string]struct {
		end    func(s *site, v *visitor) error
		status int
	}{
		"disabled": {func(s *site, v *visitor) error { return s.Accounts().DisableUser(s.Context(), v.user.ID) }, 303},
		"no operator": {func(s *site, v *visitor) error {
			return s.DB.SetLogin(s.Context(), account.Login{User: v.user.ID, Role: account.RoleUser, Password: hashed,
				ChangedAt: s.clock.Now()})
		}, 404},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			v, bob := s.operator(), s.newcomer("bob")
			v.late = func() { s.is.NoErr(test.end(s, v)) }
			a := v.post("users/"+string(bob.ID)+"/grants", "credits", "333", "once", "x")
			s.is.Equal(a.StatusCode, test.status)
			b, err := s.As(bob.ID).Balance(t.Context())
			s.is.NoErr(err)
			s.is.Equal(b.Credits, imagegen.Credits(0))
		})
	}
}

// The playground makes nothing then, and the page holds what was typed.
func TestSignInEndsWhileAPromptArrives(t *testing.T) {
	spool := new(imagegentest.CountedSpool)
	s := openOver(t, spool.Watch)
	v := s.signedIn("alice")
	v.grant(10)
	v.late = func() { s.is.NoErr(s.DB.EndSignIns(t.Context(), v.user.ID)) }
	typed := []string{"model", imagegentest.Model, "n", "1", "prompt", "a fox"}
	for name, post := range map[string]func() answer{
		"urlencoded": func() answer { return v.post("playground", typed...) },
		"multipart":  func() answer { return v.postFiles("playground", []file{{"a.png", picture(20, 20)}}, typed...) },
	} {
		v.cookies = s.as(v.user).cookies
		a := post()
		if a.StatusCode != http.StatusForbidden || cmp.Diff(typed, a.hiddenFields()) != "" {
			t.Errorf("%s: %s, %q", name, a.Status, a.hiddenFields())
		}
	}
	s.is.Equal(len(v.made()), 0)
	s.is.Equal(spool.Held(), 0)
}

// pause is a part of a body that takes its time and brings nothing.
type pause func()

func (p pause) Read([]byte) (int, error) {
	p()
	return 0, io.EOF
}

// Files that come for longer than a sign-in lasts without use keep it in use.
func TestLongUploadKeepsTheSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		v := s.signedIn("alice")
		contentType, whole := formOf([]file{{"a.png", picture(20, 20)}}, "model", imagegentest.Model, "n", "1",
			"prompt", "a fox", "show", "cost")
		slow := pause(func() {
			s.clock.Advance(25 * time.Minute)
			time.Sleep(25 * time.Minute)
		})
		n := len(whole)
		body := io.MultiReader(bytes.NewReader(whole[:n/3]), slow, bytes.NewReader(whole[n/3:n/2]), slow,
			bytes.NewReader(whole[n/2:]))
		w := httptest.NewRecorder()
		v.ServeHTTP(w, v.request(http.MethodPost, "playground", body, "Content-Type", contentType))
		s.is.Equal(w.Code, http.StatusOK)
		s.is.Equal(v.get("account").StatusCode, http.StatusOK)
	})
}

// A page that waits for its images notices that the sign-in has ended, and shows none of them.
func TestSignInEndsMidWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		v := s.signedIn("alice")
		v.grant(1)
		g := v.begin("[fake:delay=5s]", 1)
		v.reaches(g.ID, imagegen.StatusProcessing)
		began := time.Now()
		time.AfterFunc(2*time.Second, func() { s.is.NoErr(s.DB.EndSignIns(t.Context(), v.user.ID)) })
		a := v.get("playground/results/"+string(g.ID)+"?seen=processing-0-false&wait=10", "HX-Request", "true")
		s.is.True(strings.HasPrefix(a.Header.Get("HX-Redirect"), "/console/signin?next="))
		s.is.True(time.Since(began) <= 3*time.Second)
	})
}

// A sign-in that a fast clock dated ends in time once the clock is right, and its user comes in again.
func TestSignInOfAFastClock(t *testing.T) {
	var ahead atomic.Int64
	ahead.Store(int64(50 * time.Hour))
	db := memory.New(&memory.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	s := openOver(t, func(c *engine.Config) { c.Store, c.Ledger, c.Images, c.Spool, c.Now = db, db, db, db, nil },
		func(c *console.Config) { c.Ledger, c.Logins, c.Now = db, db, nil })
	s.user("alice", account.RoleUser)
	v := s.visitor()
	v.post("signin", "name", "alice", "password", secret)
	in := func() bool { return v.get("account").StatusCode == http.StatusOK }
	s.is.True(in())
	ahead.Store(0)
	db.Now()
	s.is.NoErr(db.ConfirmClock(t.Context()))
	s.is.True(in())
	ahead.Store(int64(30 * time.Minute))
	s.is.True(!in())
	s.is.True(s.visitor().post("signin", "name", "alice", "password", secret).redirected() != "")
}

// A user has a limited number of sign-ins: one more ends the oldest.
func TestSignInsAreBounded(t *testing.T) {
	s := open(t)
	u := s.user("alice", account.RoleUser)
	browsers := make([]*visitor, 52)
	for i := range browsers {
		browsers[i] = s.visitor()
		s.is.True(browsers[i].post("signin", "name", "alice", "password", secret).redirected() != "")
		s.clock.Advance(10 * time.Second)
	}
	all, err := s.config.Logins.SignIns(t.Context(), u.ID)
	s.is.NoErr(err)
	s.is.Equal(len(all), 50)
	for i, v := range browsers {
		s.is.Equal(v.get("account").StatusCode == http.StatusOK, i >= 2)
	}
}

// Polling by an open page does not count as use of the sign-in.
func TestPollingKeepsNobodySignedIn(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	for range 2 {
		s.clock.Advance(14 * time.Minute)
		s.is.Equal(v.get("generations/changes", "HX-Request", "true").Header.Get("HX-Redirect"), "")
	}
	s.clock.Advance(2 * time.Minute)
	s.is.True(v.get("generations/changes", "HX-Request", "true").Header.Get("HX-Redirect") != "")
}

// hasty is a LoginStore in which something happens just before a sign-in is created.
type hasty struct {
	account.LoginStore
	before func()
}

func (h *hasty) CreateSignIn(ctx context.Context, s account.SignIn) error {
	if h.before != nil {
		h.before()
	}
	return h.LoginStore.CreateSignIn(ctx, s)
}

// A sign-in fails if the password changes while it is checked.
func TestPasswordChangedMeanwhile(t *testing.T) {
	logins := &hasty{}
	s := open(t, func(c *console.Config) { logins.LoginStore, c.Logins = c.Logins, logins })
	alice := s.user("alice", account.RoleUser)
	logins.before = func() {
		s.is.NoErr(logins.SetLogin(t.Context(), account.Login{User: alice.ID, Role: account.RoleUser,
			Password: "another"}))
	}
	v := s.visitor()
	a := v.post("signin", "name", "alice", "password", secret)
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("The password was changed meanwhile"))
	s.is.Equal(len(v.cookies), 0)
	left, err := logins.SignIns(t.Context(), alice.ID)
	s.is.NoErr(err)
	s.is.Equal(len(left), 0)
}
