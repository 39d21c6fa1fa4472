package console_test

import (
	"net/http"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

// keyNamed is a user's key of a name.
func (s *site) keyNamed(u imagegen.UserID, name string) imagegen.Key {
	s.Helper()
	keys, err := s.Accounts().Keys(s.Context(), u)
	s.is.NoErr(err)
	for _, k := range keys {
		if k.Name == name {
			return k
		}
	}
	s.Fatalf("there is no key %q", name)
	return imagegen.Key{}
}

// The owner of a key can set its limits when creating it, and change them later.
func TestLimitsOfAKey(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.post("keys", "name", "ci", "life", "never", "limit_daily", "1,000", "limit_at_once", "1").redirected()
	k := s.keyNamed(v.user.ID, "ci")
	s.is.Equal(k.Limits, imagegen.KeyLimits{Daily: 1000, Concurrent: 1})
	a := v.get("keys")
	s.is.True(a.has("1,000 credits a day, 1 request at once", `href="/console/keys/`+string(k.ID)+`/limits"`))

	page := "keys/" + string(k.ID) + "/limits"
	s.is.True(v.get(page).has("Limits of “ci”", "Used in all", `name="limit_daily"`, `value="1000"`))
	a = v.post(page, "limit_total", "1", "limit_monthly", "5")
	s.is.True(v.follow(a).has("The key “ci” is limited to 1 credit in all, 5 credits a month."))
	s.is.Equal(s.keyNamed(v.user.ID, "ci").Limits, imagegen.KeyLimits{Credits: 1, Monthly: 5})
	s.is.True(v.follow(v.post(page)).has("The key “ci” has no limits."))
	s.is.Equal(s.keyNamed(v.user.ID, "ci").Limits, imagegen.KeyLimits{})

	s.is.True(v.follow(v.post(page, "limit_models", " m, other-1 ")).has("is limited to the models m, other-1."))
	s.is.Equal(s.keyNamed(v.user.ID, "ci").Limits, imagegen.KeyLimits{Models: []string{"m", "other-1"}})
	s.is.True(v.get(page).has(`name="limit_models"`, `value="m other-1"`))
	a = v.post(page, "limit_models", "m m")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("Name at most 100 models, each once.", `value="m m"`))
	v.post(page).redirected()

	for field, entered := range map[string]string{"limit_total": "0", "limit_daily": "x", "limit_monthly": "-1",
		"limit_at_once": "1.5"} {
		a = v.post(page, field, entered)
		s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
		s.is.True(a.has("Enter a whole number", `value="`+entered+`"`))
		s.is.Equal(v.post("keys", "name", "other", "life", "never", field, entered).StatusCode,
			http.StatusUnprocessableEntity)
	}
	s.is.Equal(s.keyNamed(v.user.ID, "ci").Limits, imagegen.KeyLimits{})
	s.is.Equal(s.signedIn("bob").post(page, "limit_total", "1").StatusCode, http.StatusNotFound) // another's
}

// An operator changes the limits of anybody's key.
func TestLimitsOfAUsersKey(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.key("ci")
	k := s.keyNamed(v.user.ID, "ci")
	o := s.operator()
	page := "users/" + string(v.user.ID) + "/keys/" + string(k.ID) + "/limits"
	s.is.True(o.get("users/" + string(v.user.ID)).has(`href="/console/` + page + `"`))
	s.is.True(o.get(page).has("Limits of “ci” of alice"))
	s.is.True(o.follow(o.post(page, "limit_at_once", "2")).
		has("The key “ci” of alice is limited to 2 requests at once.", "2 requests at once</td>"))
	s.is.Equal(s.keyNamed(v.user.ID, "ci").Limits, imagegen.KeyLimits{Concurrent: 2})
	s.is.Equal(v.post(page, "limit_at_once", "9").StatusCode, http.StatusNotFound)
}

// The credits page lists charges by key and model.
func TestUsageByKey(t *testing.T) {
	s, b := withBook(t)
	v := s.signedIn("alice")
	v.key("c<i")
	k := s.keyNamed(v.user.ID, "c<i").ID
	used := func(k imagegen.KeyID, model string, spent imagegen.Credits) imagegen.Usage {
		return imagegen.Usage{Key: k, Model: model, UsageSums: imagegen.UsageSums{Charged: spent + 3, Refunded: 3,
			Spent: spent, Images: 4, Generations: 5, Failed: 1}}
	}
	b.uses = []imagegen.Usage{used("", "a", 1), used(k, "a", 2000), used("key_other", "b", 7)}
	a := v.get("credits")
	s.is.Equal(a.table("Credits charged in these days, by API key and model, the most spent first"), []string{
		"c<i | a | 5 | 1 | 4 | 3 | 2,000", "key_other | b | 5 | 1 | 4 | 3 | 7", "Playground | a | 5 | 1 | 4 | 3 | 1",
	})
}
