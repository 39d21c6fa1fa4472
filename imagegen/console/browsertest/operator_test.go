package browsertest_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Granted credits can be spent at once.
func TestGrant(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	user := s.signedIn(alice)
	user.shows("Your account has no credits.")

	operator := s.signedIn(s.user("olivia", account.RoleOperator))
	operator.press("Users", 200)
	operator.press("alice", 200)
	operator.fill("Credits", "0")
	operator.press("Grant", 422)
	operator.fill("Credits", "250")
	operator.press("Grant", 200)
	operator.shows("250 credits")

	user.open("playground", 200)
	user.lacks("Your account has no credits.")
	user.shows("Balance 250, afterwards 249.")
	b, err := s.As(alice.ID).Balance(t.Context())
	s.is.NoErr(err)
	s.is.Equal(b.Credits, imagegen.Credits(250))
}

// Disabling a user ends their sign-ins and keys at once.
func TestDisable(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	raw, _, err := s.Accounts().MintKey(t.Context(), alice.ID, "laptop", s.clock.Now().AddDate(1, 0, 0))
	s.is.NoErr(err)
	s.is.Equal(s.call(raw.Reveal()), 200)
	user := s.signedIn(alice)
	operator := s.signedIn(s.user("olivia", account.RoleOperator))
	operator.open("users/"+string(alice.ID), 200)
	operator.press("Disable for good", 200)
	operator.press("Disable alice", 200)
	user.press("Generations", 200)
	s.is.Equal(user.path(), "signin")
	user.signIn("alice", secret, 422)
	s.is.Equal(s.call(raw.Reveal()), 401)
}

// A suspended user sees a warning and can generate nothing, until they are resumed.
func TestSuspend(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	user := s.signedIn(alice)
	operator := s.signedIn(s.user("olivia", account.RoleOperator))
	operator.open("users/"+string(alice.ID), 200)
	operator.press("Suspend", 200)
	operator.shows("Suspended")
	user.open("playground", 200)
	user.shows("Your account is suspended")
	user.fill("Prompt", "a fox")
	user.eyes.expect(403)
	user.click("Generate")
	user.shows("This account is suspended, and nothing was charged")
	operator.press("Resume", 200)
	user.open("credits", 200)
	user.lacks("suspended")
}

// An operator can take back unspent credits, and the ledger shows it.
func TestRevokeCredits(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 50, Ref: "invoice-7"})
	operator := s.signedIn(s.user("olivia", account.RoleOperator))
	operator.open("users/"+string(alice.ID), 200)
	operator.unfold("Take credits back")
	operator.fill("Credits to take back", "51")
	operator.press("Take back", 422)
	operator.shows("So many are not there.")
	operator.fill("Credits to take back", "20")
	operator.press("Take back", 200)
	operator.shows("Taken back from alice: 20 credits. The balance is 30.")
	operator.press("Ledger", 200)
	operator.shows("Ledger of alice", "Taken back", "by console:olivia")
}

// All actions on a user work without scripts and by keys alone.
func TestOperatorsWork(t *testing.T) {
	for name, handicap := range map[string]func(*tab){
		"without scripts": (*tab).withoutScripts,
		"by keys":         func(t *tab) { t.byKeys = true },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			s.user("olivia", account.RoleOperator)
			alice := s.user("alice", account.RoleUser)
			_, _, err := s.Accounts().MintKey(t.Context(), alice.ID, "laptop", s.clock.Now().AddDate(1, 0, 0))
			s.is.NoErr(err)
			tab := s.tab()
			handicap(tab)
			tab.open("signin", 200)
			tab.signIn("olivia", secret, 200)
			tab.press("Users", 200)
			tab.press("alice", 200)
			tab.fill("Credits", "50")
			tab.press("Grant", 200)
			tab.unfold("Take credits back")
			tab.fill("Credits to take back", "51")
			tab.press("Take back", 422)
			tab.shows("So many are not there.")
			tab.fill("Credits to take back", "20")
			tab.press("Take back", 200)
			tab.shows("The balance is 30.")
			tab.press("Ledger", 200)
			tab.shows("Granted", "Taken back")
			tab.open("users/"+string(alice.ID), 200)
			tab.press("Suspend", 200)
			tab.shows("Suspended")
			tab.press("Resume", 200)
			tab.shows("alice is not suspended any more.")
			tab.unfold("Account type")
			tab.fill("Type", "PRO")
			tab.press("Change", 200)
			tab.press("Limits of laptop", 200)
			tab.fill("Credits a day", "5")
			tab.press("Set the limits", 200)
			tab.press("Revoke laptop", 200)
			tab.press("Revoke “laptop”", 200)
			tab.press("Disable for good", 200)
			tab.press("Disable alice", 200)
			tab.shows("alice is disabled.", "PRO")
			tab.press("Overview", 200)
			tab.press("System", 200)
			tab.press("Run an audit", 200)
		})
	}
}

// The result of an audit appears by itself.
func TestAudit(t *testing.T) {
	s := open(t)
	operator := s.signedIn(s.user("olivia", account.RoleOperator))
	operator.press("System", 200)
	operator.press("Run an audit", 200)
	operator.shows("clean", "Went over")
}
