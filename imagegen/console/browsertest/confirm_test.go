package browsertest_test

import (
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/account"
)

// After the password was asked for again, the action happens with what was typed before.
func TestConfirm(t *testing.T) {
	s := open(t)
	alice := s.signedIn(s.user("alice", account.RoleUser))
	s.clock.Advance(10 * time.Minute)
	alice.inspect(view{"confirm", "keys", 200, func(t *tab) {
		t.fill("Name", "build server")
		t.press("Create the key", 403)
	}})
	alice.fill("Your password", "wrong")
	alice.press("Confirm", 422)
	alice.fill("Your password", secret)
	alice.press("Confirm", 200)
	alice.shows("build server", "img_live_")
}
