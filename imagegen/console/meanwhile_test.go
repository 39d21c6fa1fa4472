package console_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

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

// Who was checked against a password that is changed meanwhile is not signed in.
func TestPasswordChangedMeanwhile(t *testing.T) {
	logins := &hasty{}
	s := open(t, func(c *console.Config) { logins.LoginStore, c.Logins = c.Logins, logins })
	alice := s.user("alice", account.RoleUser)
	logins.before = func() {
		s.is.NoErr(logins.SetLogin(t.Context(), account.Login{User: alice.ID, Role: account.RoleUser, Password: "another"}))
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

// The only operator who is disabled is none.
func TestSetUpAfterTheOperatorIsDisabled(t *testing.T) {
	s := open(t)
	olivia := s.user("olivia", account.RoleOperator)
	s.is.Equal(s.setup(), "")
	s.is.NoErr(s.Accounts().DisableUser(t.Context(), olivia.ID))
	s.is.True(s.setup() != "")
}

// A user's keys are all read for a page: there is an end to them.
func TestKeysAreBounded(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	for n := range 1000 {
		_, _, err := s.Accounts().MintKey(t.Context(), v.user.ID, fmt.Sprint("key ", n), time.Time{})
		s.is.NoErr(err)
	}
	a := v.post("keys", "name", "one more", "life", "never")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("You have made 1000 keys"))
}

// A caller that announces a body and sends none holds no connection for long, whatever it asks for.
func TestBodyThatDoesNotCome(t *testing.T) {
	s := open(t)
	for _, begin := range []string{"POST /console/signout", "POST /console/signin", "GET /console/signin", "POST /console/nothing"} {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			browser := imagegentest.Piped(t, &http.Server{Handler: s.Console})()
			began := time.Now()
			_, err := fmt.Fprintf(browser, "%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\n", begin)
			is.NoErr(err)
			r := bufio.NewReader(browser)
			for err == nil {
				_, err = r.ReadByte()
			}
			is.True(time.Since(began) <= time.Minute)
		})
	}
}

// A caller that asks and reads no answer holds no connection for long either, however small the answer is.
func TestAnswerThatNobodyReads(t *testing.T) {
	s := open(t)
	for _, path := range []string{"/console/", "/console/signin"} {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			browser := imagegentest.Piped(t, &http.Server{Handler: s.Console})()
			began := time.Now()
			browser.SetWriteDeadline(began.Add(time.Hour)) // else a connection that is never closed hangs the test
			var err error
			for err == nil {
				_, err = fmt.Fprintf(browser, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
			}
			is.True(time.Since(began) <= 6*time.Minute)
		})
	}
}
