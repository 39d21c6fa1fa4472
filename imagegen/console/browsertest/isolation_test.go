package browsertest_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

// Two users see nothing of each other.
func TestStrangers(t *testing.T) {
	s := open(t)
	alice, bob := s.user("alice", account.RoleUser), s.user("bob", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 12_346})
	g := s.generate(alice, "a secret of alice", 1)
	_, key, err := s.Accounts().MintKey(t.Context(), alice.ID, "laptop of alice", s.clock.Now().AddDate(1, 0, 0))
	s.is.NoErr(err)

	theirs := s.signedIn(bob)
	for _, page := range []string{"playground", "generations", "credits", "keys", "account"} {
		theirs.open(page, 200)
		theirs.lacks("alice", "12,345", "12345")
	}
	image := string(g.Images[0].ID)
	for _, page := range []string{"generations/" + string(g.ID), "generations/" + string(g.ID) + "/live",
		"generations/" + string(g.ID) + "/erase", "playground?again=" + string(g.ID), "thumbnails/" + image, "images/" +
			image, "keys/" + string(key.ID) + "/revoke",
		"users", "users/" + string(alice.ID), "users/" + string(alice.ID) + "/generations", "system"} {
		theirs.open(page, 404)
		theirs.lacks("a secret of alice", "laptop")
	}

	hers := s.signedIn(alice)
	hers.open("generations/"+string(g.ID), 200)
	hers.shows("a secret of alice")
	s.is.Equal(hers.fetch("images/"+image), 200)
	s.is.Equal(hers.fetch("thumbnails/"+image), 200)
	hers.open("keys/"+string(key.ID)+"/revoke", 200)
}

// fetch is the status of an answer that the browser gets without showing it.
func (t *tab) fetch(path string) int {
	t.Helper()
	return evaluate[int](t, `fetch("`+t.address+console.DefaultPath+path+`").then((answer) => answer.status)`)
}
