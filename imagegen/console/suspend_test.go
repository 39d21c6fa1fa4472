package console_test

import (
	"net/http"
	"testing"
)

// A suspended user can see everything and generate nothing, until they are resumed.
func TestSuspend(t *testing.T) {
	s := open(t)
	v, alice := s.operator(), s.signedIn("alice")
	s.Grant(t, alice.user.ID, 10)
	page := "users/" + string(alice.user.ID)
	s.is.True(v.follow(v.post(page+"/suspend")).has("Suspended <time", ">Resume</button>"))
	s.is.True(v.get("users").has(`<span class="badge suspended">suspended</span>`))
	for _, path := range []string{"playground", "generations", "credits", "keys"} {
		a := alice.get(path)
		s.is.Equal(a.StatusCode, http.StatusOK)
		s.is.True(a.has("Your account is suspended"))
	}
	a := alice.post("playground", "prompt", "a fox")
	s.is.Equal(a.StatusCode, http.StatusForbidden)
	s.is.True(a.has("This account is suspended, and nothing was charged; ask the operator of this service."))
	b, err := s.DB.Balance(t.Context(), alice.user.ID)
	s.is.NoErr(err)
	s.is.Equal(int(b.Credits), 10)

	s.is.True(v.follow(v.post(page+"/resume")).has("alice is not suspended any more.", ">Suspend</button>"))
	s.is.True(!alice.get("credits").has("suspended"))
	s.is.True(alice.post("playground", "prompt", "a fox").redirected() != "")
	for _, change := range []string{"suspend", "resume"} {
		s.is.Equal(v.post("users/usr_nobody/"+change).StatusCode, http.StatusNotFound)
	}
}
