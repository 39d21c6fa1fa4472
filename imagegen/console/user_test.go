package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

func TestUserPage(t *testing.T) {
	s := open(t)
	v := s.operator()
	alice := s.newcomer("alice")
	page := "users/" + string(alice.ID)
	a := v.get(page)
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("Nothing to spend.", "No keys yet.", "Invite again", "Disable for good</a>", `value="FREE"`,
		string(alice.ID)))
	_, err := s.DB.Grant(t.Context(), imagegen.Grant{User: alice.ID, Credits: 1234, Promo: true, Ref: "welcome",
		Expires: s.clock.Now().Add(time.Hour)})
	s.is.NoErr(err)
	a = v.get(page)
	s.is.True(a.has("1,234", "welcome", "gift"))
	s.is.True(!a.has("More follow"))
	for range 50 {
		s.Grant(t, alice.ID, 1)
	}
	s.is.True(v.get(page).has("1,284", "More follow when these are spent."))
	s.is.Equal(v.get("users/usr_nobody").StatusCode, http.StatusNotFound)
	s.is.True(!v.get("users/" + string(v.user.ID)).has("Disable for good</a>")) // not oneself
}

func TestSetAccountType(t *testing.T) {
	s := open(t)
	v := s.operator()
	alice := s.newcomer("alice")
	page := "users/" + string(alice.ID)
	a := v.post(page+"/type", "type", "pro")
	s.is.True(v.follow(a).has("The account type of alice is PRO.", `value="PRO"`))
	a = v.post(page+"/type", "type", "p-r-o")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has(`id="f-type-fault">An account type is 1 to 64 of A-Z`, `value="p-r-o"`))
	u, err := s.Accounts().User(t.Context(), alice.ID)
	s.is.NoErr(err)
	s.is.Equal(u.AccountType, "PRO")
}

func TestDisable(t *testing.T) {
	s := open(t)
	v, alice := s.operator(), s.signedIn("alice")
	key := s.Key(t, alice.user.ID)
	page := "users/" + string(alice.user.ID)
	s.is.True(v.get(page+"/disable").has("Disable alice?", "for good", ">Disable alice</button>"))
	a := v.post(page + "/disable")
	s.is.True(v.follow(a).has("alice is disabled.", "Disabled <time"))
	s.is.True(alice.get("account").redirected() != "") // signed out
	_, err := s.Authenticate(t.Context(), key)
	s.is.Equal(err, error(imagegen.ErrInvalidKey))
	s.is.True(s.visitor().post("signin", "name", "alice", "password", secret).has(wrong))
	s.is.True(v.get(page + "/disable").has("alice is disabled already."))

	own := "users/" + string(v.user.ID) + "/disable"
	s.is.True(v.get(own).has("You cannot disable yourself"))
	s.is.Equal(v.post(own).StatusCode, http.StatusBadRequest)
	s.is.Equal(v.get("account").StatusCode, http.StatusOK)
}

func TestRevokeUserKey(t *testing.T) {
	s := open(t)
	v := s.operator()
	alice, bob := s.newcomer("alice"), s.newcomer("bob")
	raw, k, err := s.Accounts().MintKey(t.Context(), alice.ID, "lap<top", time.Time{})
	s.is.NoErr(err)
	page := "users/" + string(alice.ID)
	confirm := page + "/keys/" + string(k.ID) + "/revoke"
	a := v.get(page)
	s.is.True(a.has("lap&lt;top", k.Prefix, confirm, "active"))
	s.is.True(!a.has(raw.Reveal()))
	s.is.True(v.get(confirm).has("Revoke “lap&lt;top” of alice?"))
	// it is not bob's
	s.is.Equal(v.post("users/"+string(bob.ID)+"/keys/"+string(k.ID)+"/revoke").StatusCode, http.StatusNotFound)
	_, err = s.Authenticate(t.Context(), raw.Reveal())
	s.is.NoErr(err)
	s.is.True(v.follow(v.post(confirm)).has("The key “lap&lt;top” of alice is revoked.", "revoked</span>"))
	_, err = s.Authenticate(t.Context(), raw.Reveal())
	s.is.Equal(err, error(imagegen.ErrInvalidKey))
	s.is.True(!v.get(page).has(confirm))
	s.is.True(v.follow(v.get(confirm)).has("The key “lap&lt;top” of alice is revoked already."))
}

// A key that another program made may have no name.
func TestRevokeUserKeyWithoutAName(t *testing.T) {
	s := open(t)
	v := s.operator()
	alice := s.newcomer("alice")
	_, k, err := s.Accounts().MintKey(t.Context(), alice.ID, "", time.Time{})
	s.is.NoErr(err)
	confirm := "users/" + string(alice.ID) + "/keys/" + string(k.ID) + "/revoke"
	s.is.True(v.get(confirm).has("Revoke "+k.Prefix+"… of alice?", "Revoke the key</button>"))
	s.is.True(v.follow(v.post(confirm)).has("The key " + k.Prefix + "… of alice is revoked."))
}

// An operator sees how a generation ended and why, but neither prompt nor image.
func TestUserGenerations(t *testing.T) {
	s := open(t)
	v := s.operator()
	alice := s.newcomer("alice")
	page := "users/" + string(alice.ID) + "/generations"
	s.is.True(v.get(page).has("alice has not asked for an image yet."))
	s.Grant(t, alice.ID, 100)
	var images []imagegen.Image
	for _, prompt := range []string{"a secret fox", "a secret [fake:fail]", "a secret [fake:images=1]"} {
		g, err := s.As(alice.ID).Generate(t.Context(), imagegen.GenerateRequest{Model: "fake-1", Prompt: prompt, N: 2,
			Size: imagegen.Size{Width: 16, Height: 16}})
		s.is.True(err == nil || strings.Contains(prompt, "fail"))
		images = append(images, g.Images...)
	}
	a := v.get(page)
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("succeeded", "failed", "2 of 2", "1 of 2", "0 of 2", "the fake fails, as the prompt asks"))
	s.is.True(!a.has("secret"))
	for _, i := range images {
		s.is.True(!a.has(string(i.ID)))
	}
	a = v.get(page + "?status=failed")
	s.is.True(a.has("0 of 2"))
	s.is.True(!a.has("1 of 2"))
	s.is.True(v.get(page + "?status=queued").has("alice has no generation of this status."))
	s.is.True(v.get(page + "?status=nonsense").has("1 of 2"))
	s.is.Equal(v.get(page+"?after=nonsense").StatusCode, http.StatusBadRequest)
}

func TestPagesOfUserKeys(t *testing.T) {
	s := open(t)
	v := s.operator()
	alice := s.newcomer("alice")
	for range 51 {
		s.Key(t, alice.ID)
	}
	page := "users/" + string(alice.ID)
	a := v.get(page)
	s.is.Equal(strings.Count(a.body, "/revoke"), 50)
	a = v.get(a.next())
	s.is.Equal(strings.Count(a.body, "/revoke"), 1)
	s.is.True(a.has(`href="/console/` + page + `">Newest</a>`))
	a = v.post(page+"/type", "type", "p-r-o") // what is to be mended stands at an address of its own
	s.is.Equal(strings.Count(a.body, "/revoke"), 50)
	s.is.True(!a.has("?after="))
}
