package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

func TestRevokeCredits(t *testing.T) {
	s := open(t)
	v, alice := s.operator(), s.newcomer("alice")
	page := "users/" + string(alice.ID)
	s.is.True(!v.get(page).has("Take credits back")) // there are none
	s.Grant(t, alice.ID, 100)
	sold, err := s.DB.Grant(t.Context(), imagegen.Grant{User: alice.ID, Credits: 50, Ref: "invoice-7"})
	s.is.NoErr(err)
	has := func(want imagegen.Credits) {
		t.Helper()
		b, err := s.DB.Balance(t.Context(), alice.ID)
		s.is.NoErr(err)
		s.is.Equal(b.Credits, want)
	}
	a := v.get(page)
	s.is.True(a.has(`value="`+sold.ID+`">50 left of 50, `, ", invoice-7</option>"))
	once := onceField.FindAllStringSubmatch(a.body, -1)[1][1]

	form := []string{"revoke_credits", "30", "revoke_lot", sold.ID, "once", once}
	s.is.True(v.follow(v.post(page+"/revocations", form...)).
		has("Taken back from alice: 30 credits. The balance is 120."))
	s.is.True(v.follow(v.post(page+"/revocations", form...)).has("30 credits were taken back from alice already, at ",
		"Nothing was taken back now. The balance is 120.")) // a reload
	form[1] = "5"
	a = v.post(page+"/revocations", form...)
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("This form was sent before, for another grant or revocation"))
	has(120)

	s.is.True(v.follow(v.post(page+"/revocations", "revoke_credits", "1", "revoke_ref", "credit-note-1")).
		has("The balance is 119."))
	s.is.True(v.post(page+"/revocations", "revoke_credits", "2", "revoke_ref", "credit-note-1").
		has(`id="f-revoke_ref-fault">This reference was used before`, `value="credit-note-1"`))
	s.is.True(v.post(page+"/revocations", "revoke_credits", "2", "revoke_ref", "invoice-7").
		has(`id="f-revoke_ref-fault">This reference was used before`)) // for the grant
	has(119)
	s.is.Equal(v.post("users/usr_nobody/revocations", "revoke_credits", "1").StatusCode, http.StatusNotFound)
	s.is.True(v.get(page+"/ledger").has("Taken back", "credit-note-1", "by console:olivia", "\u221230"))
}

// Spent and held credits cannot be taken back: a revocation takes all that was entered, or nothing.
func TestRevokeCreditsRefuses(t *testing.T) {
	s := open(t)
	v, alice := s.operator(), s.signedIn("alice")
	page := "users/" + string(alice.user.ID)
	s.Grant(t, alice.user.ID, 10)
	_, err := alice.generate("a hare")
	s.is.NoErr(err)
	sold, err := s.DB.Grant(t.Context(), imagegen.Grant{User: alice.user.ID, Credits: 5})
	s.is.NoErr(err)
	for want, form := range map[string][]string{
		"So many are not there. What is spent": {"revoke_credits", "15"},
		"So many are not left of that grant.":  {"revoke_credits", "6", "revoke_lot", sold.ID},
		"Enter a whole number of credits":      {"revoke_credits", "-1"},
		"A reference is at most 255 bytes":     {"revoke_credits", "1", "revoke_ref", strings.Repeat("r", 256)},
	} {
		a := v.post(page+"/revocations", form...)
		s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
		if !a.has(want) {
			t.Errorf("%q is not in\n%s", want, a.body)
		}
	}
	b, err := s.DB.Balance(t.Context(), alice.user.ID)
	s.is.NoErr(err)
	s.is.Equal(b.Credits, imagegen.Credits(13))
}
