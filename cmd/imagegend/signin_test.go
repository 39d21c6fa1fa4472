package main_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// try signs in and returns the status of the answer, a redirect's if it went well.
func (b *browser) try(base, name, password string) int {
	once := b.Client
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r, err := once.PostForm(base+"/console/signin", url.Values{"name": {name}, "password": {password}})
	if err != nil {
		return 0
	}
	r.Body.Close()
	return r.StatusCode
}

// servedWithOperator is a daemon whose operator signs in with password, and the options that it was started with.
func servedWithOperator(t *testing.T) (*daemontest.Daemon, daemontest.Options) {
	t.Helper()
	o := daemontest.Options{DataDir: filepath.Join(t.TempDir(), "data"), Args: []string{"--operator-password-file",
		passwordFile(t), "--trusted-proxy", "127.0.0.1"}}
	return daemontest.Start(t, o), o
}

// A stranger who tries the operator's name keeps them out of no browser that they know, be it after a restart.
func TestStrangerAtTheOperatorsName(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d, o := servedWithOperator(t)
	owner, stranger := newBrowser(t), newBrowser(t)
	is.Equal(owner.try(d.URL, "operator", password), http.StatusSeeOther)
	is.Equal(d.Terminate(drainLimit), 0)
	d = daemontest.Start(t, o)
	refused := false
	for range 8 {
		refused = stranger.try(d.URL, "operator", "guess") == http.StatusTooManyRequests
	}
	is.True(refused)
	is.Equal(owner.try(d.URL, "operator", password), http.StatusSeeOther)
}

// A loop of right passwords neither keeps the operator out nor is it without end.
func TestLoopOfRightPasswords(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d, _ := servedWithOperator(t)
	operator, alice := newBrowser(t), newBrowser(t)
	is.Equal(operator.try(d.URL, "operator", password), http.StatusSeeOther)
	d.Admin("user", "create", "alice")
	alice.choose(strings.TrimSpace(d.Admin("user", "invite", "alice")))
	_, key := d.NewUser(100)

	met := make([]map[int]int, 60)
	var loop sync.WaitGroup
	for i := range met {
		b := newBrowser(t)
		met[i] = map[int]int{}
		loop.Go(func() {
			for range 10 {
				met[i][b.try(d.URL, "alice", password)]++
			}
		})
	}
	for range 15 {
		is.Equal(operator.try(d.URL, "operator", password), http.StatusSeeOther)
		is.Equal(d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox",
			"size": "64x64"})).Status, 200)
	}
	loop.Wait()
	all := map[int]int{}
	for _, m := range met {
		for status, n := range m {
			all[status] += n
		}
	}
	t.Log(all)
	is.True(all[http.StatusSeeOther] > 0)
	is.True(all[http.StatusTooManyRequests] > 500) // a browser that came in is known then, and may try again
	is.Equal(all[http.StatusServiceUnavailable], 0)
}
