package console_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

func TestUsers(t *testing.T) {
	s := open(t)
	v := s.operator()
	alice := s.newcomer("alice")
	s.Grant(t, alice.ID, 12345)
	bob := s.user("bob <b>", account.RoleUser)
	s.is.NoErr(s.Accounts().DisableUser(t.Context(), bob.ID))
	a := v.get("users")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has(`href="/console/users/`+string(alice.ID)+`">alice</a>`, "12,345", "no password", "bob &lt;b&gt;",
		"disabled", "operator"))
	s.is.True(!a.has("pager"))

	a = v.get("users?q=+ALI")
	s.is.True(a.has("alice", `value="ALI"`))
	s.is.True(!a.has("bob"))
	a = v.get("users?q=zz")
	s.is.True(a.has("No user has “zz” in the name.", `value="zz"`, "Show all"))
}

func TestUsersByPage(t *testing.T) {
	s := open(t)
	v := s.operator() // olivia
	for i := range 105 {
		s.newcomer(fmt.Sprintf("user %03d", i))
	}
	rows := regexp.MustCompile(`<th scope="row"><a [^>]*>([^<]*)<`)
	var names []string
	pages := 0
	for at := "/console/users?q=us"; at != "" && pages < 10; pages++ {
		a := v.get(at)
		for _, m := range rows.FindAllStringSubmatch(a.body, -1) {
			names = append(names, m[1])
		}
		s.is.Equal(a.has("From A"), pages > 0)
		at = a.next()
	}
	s.is.Equal(pages, 3)
	s.is.Equal(len(names), 105)
	for i, name := range names {
		s.is.Equal(name, fmt.Sprintf("user %03d", i))
	}
	a := v.get("users?after=zzz") // behind the last
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("Users"))
}

// invitationLink is the link on a page that shows one.
func (a answer) invitationLink() string {
	m := regexp.MustCompile(`<code id="link">([^<]*)</code>`).FindStringSubmatch(a.body)
	if m == nil {
		return ""
	}
	return m[1]
}

func TestCreateUser(t *testing.T) {
	s := open(t)
	v := s.operator()
	s.is.True(v.get("users/new").has("Invite a user", `<option value="3" selected>`))
	a := v.do(http.MethodPost, "users", strings.NewReader("name=alice&role=user&days=3"),
		"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "Origin",
		"https://images.example.com")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("A link for alice", "shown only now"))
	link := a.invitationLink()
	path, ours := strings.CutPrefix(link, "https://images.example.com")
	s.is.True(ours)

	guest := s.visitor()
	s.is.True(guest.get(path).has("Welcome, alice"))
	s.is.Equal(guest.post(path, "password", secret, "again", secret).redirected(), "/console/")
	s.is.Equal(guest.get("users").StatusCode, http.StatusNotFound)

	for want, form := range map[string][]string{
		"Give the user a name.":                   {"name", " ", "role", "user", "days", "3"},
		"There is a user of this name already.":   {"name", "alice", "role", "user", "days", "3"},
		"The name of a user is 1 to 255 bytes":    {"name", "a\x07", "role", "user", "days", "3"},
		"Choose a role.":                          {"name", "bob", "role", "god", "days", "3"},
		"Choose how long the link works.":         {"name", "bob", "role", "user", "days", "31"},
		`id="f-days-fault">Choose how long the l`: {"name", "bob", "role", "user"},
	} {
		a := v.post("users", form...)
		s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
		if !a.has(want) {
			t.Errorf("%q is not in\n%s", want, a.body)
		}
	}
	_, err := s.Accounts().UserByName(t.Context(), "bob")
	s.is.Equal(err, imagegen.ErrNotFound)
}

func TestInviteAgain(t *testing.T) {
	s := open(t)
	v := s.operator()
	alice := s.signedIn("alice")
	page := "users/" + string(alice.user.ID)
	s.is.True(v.get(page).has("A new password"))
	first := v.post(page+"/invitation", "role", "user", "days", "1").invitationLink()
	second := v.post(page+"/invitation", "role", "operator", "days", "1").invitationLink()
	path := func(link string) string { return strings.TrimPrefix(link, "http://console.test") }
	s.is.True(s.visitor().get(path(first)).has(gone))
	s.is.Equal(s.visitor().post(path(second), "password", secret, "again", secret).redirected(), "/console/")
	l, err := s.config.Logins.Login(t.Context(), alice.user.ID)
	s.is.NoErr(err)
	s.is.Equal(l.Role, account.RoleOperator)

	s.is.NoErr(s.Accounts().DisableUser(t.Context(), alice.user.ID))
	a := v.post(page+"/invitation", "role", "user", "days", "1")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.Equal(a.invitationLink(), "")
	s.is.True(!v.get(page).has("Make the link"))
}
