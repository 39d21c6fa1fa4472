package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

const gone = "This link leads nowhere"

func (s *site) setup() string {
	s.Helper()
	path, err := console.SetupLink(s.Context(), s.config.Logins, s.clock.Now().Add(15*time.Minute))
	s.is.NoErr(err)
	return path
}

func TestSetup(t *testing.T) {
	s := open(t)
	link := s.setup()
	v := s.visitor()
	a := v.get(link)
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(v.get(link).has("Become the operator")) // looking at it does not use it up

	a = v.post(link, "name", "olivia", "password", "short", "again", "short")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("A password has at least 12 characters; this one has 5.", `value="olivia"`, `aria-invalid="true"`,
		`aria-describedby="f-password-fault f-password-hint"`))
	s.is.True(!a.has("short"))

	a = v.post(link, "name", "olivia", "password", secret, "again", secret)
	s.is.Equal(a.redirected(), "/console/")
	a = v.get("account") // signed in at once
	s.is.True(a.has("Welcome. You are the operator of this service.", "<dd>operator</dd>"))

	s.is.True(s.visitor().get(link).has(gone))
	s.is.Equal(s.visitor().post(link, "name", "mallory", "password", secret, "again", secret).StatusCode,
		http.StatusNotFound)
	_, err := s.Accounts().UserByName(t.Context(), "mallory")
	s.is.Equal(err, imagegen.ErrNotFound)
	s.is.Equal(s.setup(), "") // there is an operator
	s.is.Equal(s.visitor().post("signin", "name", "olivia", "password", secret).redirected(), "/console/")
}

func TestSetupRefuses(t *testing.T) {
	s := open(t)
	_, err := s.Accounts().CreateUser(t.Context(), "taken", "")
	s.is.NoErr(err)
	link := s.setup()
	for want, form := range map[string][]string{
		"Choose a name to sign in with.": {"name", " ", "password", secret, "again",
			secret},
		"There is a user of this name already. Choose another.": {"name", "taken", "password", secret,
			"again", secret},
		"The name of a user is 1 to 255 bytes of printable text": {"name", "a\u0007b", "password", secret,
			"again", secret},
		"This is not the same as the password above.": {"name", "olivia", "password", secret,
			"again", "correct horse batterz"},
		"A password has at most 200 characters; this one has 201.": {"name", "olivia", "password",
			strings.Repeat("ä", 201), "again", strings.Repeat("ä", 201)},
		"A password has at least 12 characters; this one has 0.": {"name", "olivia"},
		"A password has at least 5 different characters; this one has 1.": {"name", "olivia", "password",
			"xxxxxxxxxxxx", "again", "xxxxxxxxxxxx"},
		"A password has at least 5 different characters; this one has 4.": {"name", "olivia", "password",
			"abcdabcdabcdabcd", "again", "abcdabcdabcdabcd"},
		"A password is text that can be typed again.": {"name", "olivia", "password",
			"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
	} {
		a := s.visitor().post(link, form...)
		s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
		if !a.has(want) {
			t.Errorf("%q is not in\n%s", want, a.body)
		}
	}
	n, err := s.config.Logins.Operators(t.Context())
	s.is.NoErr(err)
	s.is.Equal(n, 0)
	long := strings.Repeat("äöüßé", 40)
	// the link is still good
	s.is.Equal(s.visitor().post(link, "name", "olivia", "password", long, "again", long).redirected(), "/console/")
}

func TestSetupEnds(t *testing.T) {
	s := open(t)
	first := s.setup()
	second := s.setup()
	s.is.True(s.visitor().get(first).has(gone)) // the later counts
	s.is.Equal(s.visitor().get(second).StatusCode, http.StatusOK)
	s.clock.Advance(15 * time.Minute)
	s.is.True(s.visitor().get(second).has(gone))

	third := s.setup()
	s.operator() // made by other means
	s.is.True(s.visitor().get(third).has(gone))
	s.is.True(s.visitor().post(third, "name", "mallory", "password", secret, "again", secret).has(gone))
	s.is.True(s.visitor().get("setup/guess").has(gone))
}

func TestSetPassword(t *testing.T) {
	s := open(t)
	u, err := s.Accounts().CreateUser(t.Context(), "olivia", "")
	s.is.NoErr(err)
	err = console.SetPassword(t.Context(), s.config.Logins, u.ID, account.RoleOperator, "short")
	s.is.Equal(err.Error(), "invalid_request: a password has at least 12 characters; this one has 5")
	s.is.NoErr(console.SetPassword(t.Context(), s.config.Logins, u.ID, account.RoleOperator, secret))
	s.is.Equal(s.visitor().post("signin", "name", "olivia", "password", secret).redirected(), "/console/")
	s.is.Equal(s.setup(), "")
}

// A password that cannot be hashed at the moment costs neither the name nor the link.
func TestSetupUnderLoad(t *testing.T) {
	s := open(t)
	link, form := s.setup(), []string{"name", "olivia", "password", secret, "again", secret}
	free := s.Overburden()
	a := s.visitor().post(link, form...)
	s.is.Equal(a.StatusCode, http.StatusServiceUnavailable)
	s.is.True(a.has("Too much work at the moment"))
	free()
	s.is.Equal(s.visitor().post(link, form...).redirected(), "/console/")
}

// A disabled operator does not count as one.
func TestSetUpAfterTheOperatorIsDisabled(t *testing.T) {
	s := open(t)
	olivia := s.user("olivia", account.RoleOperator)
	s.is.Equal(s.setup(), "")
	s.is.NoErr(s.Accounts().DisableUser(t.Context(), olivia.ID))
	s.is.True(s.setup() != "")
}
