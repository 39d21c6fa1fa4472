package console_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

var rawKey = regexp.MustCompile(`img_live_[0-9A-Za-z]{49}`)

// key makes an API key by the form and returns the address at which it is shown, once.
func (v *visitor) key(name string) (address string) {
	v.Helper()
	address = v.post("keys", "name", name, "life", "never").redirected()
	v.is.True(strings.HasPrefix(address, "/console/keys/key_") && strings.HasSuffix(address, "/created"))
	return address
}

const shownOnce = "A key is shown once only."

func TestKeyIsShownOnce(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.is.True(v.get("keys").has("No keys yet", "A key is shown once"))
	address := v.key("lap<top")
	s.is.Equal(v.do(http.MethodHead, address, nil).StatusCode, http.StatusOK) // uses nothing up

	a := v.get(address)
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.Equal(a.Header.Get("Cache-Control"), "no-store")
	raw := rawKey.FindString(a.body)
	s.is.True(a.has("lap&lt;top", `<pre id="raw"`, "It works until you revoke it.",
		"curl -H &#39;Authorization: Bearer "+raw+"&#39; &#39;http://console.test/api/v1/credits&#39;"))
	u, err := s.Authenticate(t.Context(), raw)
	s.is.NoErr(err)
	s.is.Equal(u.User(), v.user.ID)

	a = v.get(address) // a reload
	s.is.Equal(a.redirected(), "/console/keys")
	a = v.follow(a)
	s.is.True(a.has(shownOnce, "lap&lt;top", raw[:15]+"…", "active", `<span class="none">never</span>`))
	s.is.True(!a.has(raw))
}

// A raw key is shown only in the browser that created it. Requests of others do not use it up.
func TestKeyIsShownWhereItWasAskedFor(t *testing.T) {
	s := open(t)
	v, bob := s.signedIn("alice"), s.signedIn("bob")
	other := s.visitor()
	other.post("signin", "name", "alice", "password", secret)
	address := v.key("laptop")
	s.is.True(other.follow(other.get(address)).has(shownOnce))
	s.is.Equal(bob.get(address).StatusCode, http.StatusNotFound)
	s.is.True(rawKey.MatchString(v.get(address).body))
}

// A raw key that is not fetched in time is not shown any more.
func TestUnseenKeysEnd(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	early := v.key("early")
	s.clock.Advance(30 * time.Second)
	late := v.key("late")
	s.clock.Advance(30 * time.Second)
	s.is.True(!rawKey.MatchString(v.get(early).body))
	s.is.True(rawKey.MatchString(v.get(late).body))
}

// Several keys that wait to be shown do not push each other out, and any node shows them.
func TestUnseenKeysAtAnotherNode(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	var addresses []string
	for i := range 12 {
		addresses = append(addresses, v.key(fmt.Sprint("key ", i)))
	}
	v.site = s.beside()
	for _, address := range addresses {
		s.is.True(rawKey.MatchString(v.get(address).body))
	}
}

func TestLifeOfAKey(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	now := s.clock.Now()
	day := now.AddDate(0, 0, 7)
	endOfDay := time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		life, day string
		expires   time.Time
	}{
		"for ever":           {"never", "", time.Time{}},
		"a month":            {"30", "", now.AddDate(0, 0, 30)},
		"a quarter":          {"90", "2001-01-01", now.AddDate(0, 0, 90)}, // the day is hidden, and not meant
		"a year":             {"365", "", now.AddDate(0, 0, 365)},
		"a day of one's own": {"own", day.Format(time.DateOnly), endOfDay},
		"today":              {"own", now.Format(time.DateOnly), now.Truncate(24*time.Hour).AddDate(0, 0, 1)},
	} {
		address := v.post("keys", "name", name, "life", c.life, "day", c.day).redirected()
		s.is.True(v.get(address).has("It works until"))
		keys, err := s.Accounts().Keys(t.Context(), v.user.ID)
		s.is.NoErr(err)
		k := keys[len(keys)-1]
		s.is.Equal(k.Name, name)
		s.is.True(k.ExpiresAt.Equal(c.expires))
	}
	s.clock.Advance(31 * 24 * time.Hour)
	v = s.as(v.user)
	a := v.get("keys")
	s.is.Equal(strings.Count(a.body, `<span class="badge expired">`), 3)
	s.is.Equal(strings.Count(a.body, `<span class="badge active">`), 3)
	s.is.Equal(strings.Count(a.body, `/revoke"`), 3) // what has expired need not be revoked
}

func TestKeyIsRefused(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	yesterday := s.clock.Now().AddDate(0, 0, -1).Format(time.DateOnly)
	for want, form := range map[string][]string{
		`id="f-name-fault">Give the key a name`: {"name", " ", "life",
			"30"},
		`id="f-name-fault">The name of a key is 1 to 255 bytes of printable text`: {"name",
			strings.Repeat("ä", 128), "life", "30"},
		`id="f-life-fault">Choose how long the key works.`: {"name", "laptop"},
		`name="life" aria-invalid="true" aria-describedby="f-life-fault"`: {"name", "laptop",
			"life", "31"},
		`id="f-day-fault">Enter the last day on which the key works.`: {"name", "laptop",
			"life", "own"},
		`<option value="own" selected>`: {"name", "laptop",
			"life", "own", "day", "tomorrow"},
		`id="f-day-fault">Enter a day that is not over, such as `: {"name", "laptop",
			"life", "own", "day", yesterday},
		`type="date" value="9999-12-31"`: {"name", "laptop",
			"life", "own", "day", "9999-12-31"},
		`aria-invalid="true" aria-describedby="f-day-fault f-day-hint" type="date" value="0000-`: {"name", "laptop",
			"life", "own", "day", "0000-00-00"},
	} {
		a := v.post("keys", form...)
		s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
		if !a.has(want) {
			t.Errorf("%q is not in\n%s", want, a.body)
		}
		// what was entered stands there still
		s.is.True(strings.TrimSpace(form[1]) == "" || a.has(`value="`+form[1]+`"`))
	}
	keys, err := s.Accounts().Keys(t.Context(), v.user.ID)
	s.is.NoErr(err)
	s.is.Equal(len(keys), 0)
}

func TestRevokeKey(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	address := v.key("lap<top")
	raw := rawKey.FindString(v.get(address).body)
	revoke := strings.TrimSuffix(address, "created") + "revoke"
	s.is.True(v.get("keys").has(`href="` + revoke + `"`))
	s.is.True(v.get(revoke).has("Revoke “lap&lt;top”?", `action="`+revoke+`"`, raw[:15]+"…"))
	_, err := s.Authenticate(t.Context(), raw)
	s.is.NoErr(err) // to be asked changes nothing

	a := v.follow(v.post(revoke))
	s.is.True(a.has("The key “lap&lt;top” is revoked.", `<span class="badge revoked">`))
	s.is.True(!a.has(revoke))
	_, err = s.Authenticate(t.Context(), raw)
	s.is.Equal(err, error(imagegen.ErrInvalidKey))
	s.is.True(v.follow(v.get(revoke)).has("The key “lap&lt;top” is revoked already."))
	s.is.Equal(v.post(revoke).redirected(), "/console/keys") // a second press
}

// A key that another program made may have no name.
func TestKeyWithoutAName(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	_, k, err := s.Accounts().MintKey(t.Context(), v.user.ID, "", time.Time{})
	s.is.NoErr(err)
	revoke := "keys/" + string(k.ID) + "/revoke"
	s.is.True(v.get("keys").has("no name"))
	s.is.True(v.get(revoke).has("Revoke " + k.Prefix + "…?"))
	s.is.True(v.follow(v.post(revoke)).has("The key " + k.Prefix + "… is revoked."))
}

// Another user's key is answered as one that does not exist.
func TestKeyOfAnother(t *testing.T) {
	s := open(t)
	v, bob := s.signedIn("alice"), s.signedIn("bob")
	address := v.key("laptop")
	raw := rawKey.FindString(v.get(address).body)
	revoke := strings.TrimSuffix(address, "created") + "revoke"
	s.is.True(!bob.get("keys").has("laptop"))
	for _, a := range []answer{bob.get(address), bob.get(revoke), bob.post(revoke), bob.get("keys/key_nothing/revoke"),
		bob.post("keys/key_nothing/revoke")} {
		s.is.Equal(a.StatusCode, http.StatusNotFound)
		s.is.True(!a.has("laptop"))
	}
	_, err := s.Authenticate(t.Context(), raw)
	s.is.NoErr(err)
}

func TestPagesOfKeys(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	const n = 120
	for i := range n {
		_, _, err := s.Accounts().MintKey(t.Context(), v.user.ID, fmt.Sprintf("key <%d>", i), time.Time{})
		s.is.NoErr(err)
	}
	name := regexp.MustCompile(`key &lt;(\d+)&gt; <code`)
	var names []string
	address := "keys"
	for page := range 3 {
		a := v.get(address)
		s.is.Equal(a.has(">Newest</a>"), page > 0)
		for _, found := range name.FindAllStringSubmatch(a.body, -1) {
			names = append(names, found[1])
		}
		s.is.Equal(len(names), min(n, 50*(page+1)))
		address = a.next()
		s.is.Equal(address == "", page == 2)
	}
	for i, name := range names {
		s.is.Equal(name, fmt.Sprint(n-1-i)) // newest first
	}
	keys, err := s.Accounts().Keys(t.Context(), v.user.ID)
	s.is.NoErr(err)
	s.is.True(v.get("keys?after="+string(keys[0].ID)).has("No more keys", `href="/console/keys"`))
}

// A user can create a limited number of keys, since a page reads all of them.
func TestKeysAreBounded(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	for n := range 1000 {
		_, _, err := s.Accounts().MintKey(t.Context(), v.user.ID, fmt.Sprint("key ", n), time.Time{})
		s.is.NoErr(err)
	}
	a := v.post("keys", "name", "one more", "life", "never")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("You have made 1000 keys"))
}
