package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

var anySegment = regexp.MustCompile(`\{[^}]*\}`)

// visit opens a route as its pattern says, with a segment that names nothing.
func (v *visitor) visit(r console.Route) answer {
	v.Helper()
	path := anySegment.ReplaceAllString(r.Path, "x")
	if r.Method == http.MethodPost {
		return v.post(path)
	}
	return v.get(path)
}

// Without a sign-in, a page leads to the sign-in page. Operators' pages do not exist for other users.
func TestAccess(t *testing.T) {
	s := open(t)
	nobody, user := s.visitor(), s.signedIn("alice")
	demoted := s.operator()
	s.is.NoErr(s.config.Logins.SetLogin(t.Context(), account.Login{User: demoted.user.ID, Role: account.RoleUser,
		Password: hashed}))
	for _, r := range console.Routes() {
		t.Run(r.Method+" "+r.Path, func(t *testing.T) {
			if a := nobody.visit(r); r.SignedIn && !strings.HasPrefix(a.redirected(), "/console/signin") {
				t.Errorf("to nobody: %s", a.Status)
			}
			for _, v := range []*visitor{user, demoted} {
				if !r.Operator {
					continue
				}
				if a := v.visit(r); a.StatusCode != http.StatusNotFound {
					t.Errorf("to a user: %s", a.Status)
				}
			}
		})
	}
}

// No page carries a script or a style of its own: the policy would refuse it. Nor does it lead to
// another host.
func TestNothingInline(t *testing.T) {
	s := open(t)
	v := s.operator()
	for _, r := range console.Routes() {
		if r.Method == http.MethodPost {
			continue
		}
		body := v.visit(r).body
		for _, inline := range []string{"<style", " style=", "<script>", " onclick=", " onload=", " onsubmit=",
			"javascript:", " hx-on", `="http://`, `="https://`, `="//`} {
			if strings.Contains(body, inline) {
				t.Errorf("%s has %q", r.Path, inline)
			}
		}
	}
}
