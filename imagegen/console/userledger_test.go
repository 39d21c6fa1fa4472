package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// An operator sees a user's ledger, but neither prompts nor images.
func TestUserLedger(t *testing.T) {
	s := open(t)
	v, alice := s.operator(), s.signedIn("alice")
	page := "users/" + string(alice.user.ID)
	s.is.True(v.get(page + "/ledger").has("alice was granted no credits so far."))
	_, err := s.DB.Grant(t.Context(), imagegen.Grant{User: alice.user.ID, Credits: 100, Ref: "invoice-7"})
	s.is.NoErr(err)
	g, err := alice.generate("a secret hare [fake:images=1]")
	s.is.NoErr(err)
	s.is.True(v.get(page).has(`href="/console/` + page + `/ledger"`))
	a := v.get(page + "/ledger")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("Ledger of alice", "invoice-7", "<code>"+string(g.ID)+"</code>", "Charged 2, used 1, refunded 1.",
		"What happened to the credits of alice", `href="/console/`+page+`/ledger.csv" download>`))
	s.is.True(!a.has("secret"))
	s.is.True(!a.has("generations/" + string(g.ID)))
	s.is.Equal(cmp.Diff(alice.get("credits/ledger.csv").rows(t), v.get(page+"/ledger.csv").rows(t)), "")
	for _, path := range []string{"users/usr_nobody/ledger", "users/usr_nobody/ledger.csv"} {
		s.is.Equal(v.get(path).StatusCode, http.StatusNotFound)
	}
	s.is.Equal(v.get(page+"/ledger?before=nonsense").StatusCode, http.StatusBadRequest)
}

func TestPagesOfAUserLedger(t *testing.T) {
	s := open(t)
	v, alice := s.operator(), s.newcomer("alice")
	for range 21 {
		s.Grant(t, alice.ID, 1)
	}
	page := "users/" + string(alice.ID) + "/ledger"
	a := v.get(page)
	s.is.Equal(strings.Count(a.body, ">Granted</th>"), 20)
	a = v.get(a.next())
	s.is.Equal(strings.Count(a.body, ">Granted</th>"), 1)
	s.is.True(a.has(`href="/console/` + page + `#ledger">Newest</a>`))
}
