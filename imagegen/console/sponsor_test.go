package console_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

// The members of a sponsor go over pages as all users do, and stay those of the sponsor.
func TestMembersByPageForOperators(t *testing.T) {
	s := open(t)
	v, school, club := s.operator(), s.signedIn("school"), s.signedIn("club")
	club.member("ann", imagegen.KeyLimits{})
	for i := range 55 {
		_, err := s.Accounts().CreateMember(t.Context(), school.user.ID, fmt.Sprintf("m%03d", i), imagegen.KeyLimits{})
		s.is.NoErr(err)
	}
	var names []string
	for at := "/console/users?sponsor=" + string(school.user.ID); at != "" && len(names) < 100; {
		a := v.get(at)
		for _, m := range nameCells.FindAllStringSubmatch(a.body, -1) {
			names = append(names, m[1])
		}
		at = a.next()
	}
	s.is.Equal(len(names), 55)
	s.is.Equal(names[54], "school/m054")
	s.is.Equal(v.get("teams").table("Sponsors by name</caption>"), []string{"club | 1 member of club | 0 | 0",
		"school | 55 members of school | 0 | 0"})
}

// nameCells finds the names in a list of users.
var nameCells = regexp.MustCompile(`<th scope="row"><a [^>]*>([^<]*)<`)

// An operator sets who pays for a user, and sees the teams.
func TestSponsorOfAUser(t *testing.T) {
	s := open(t)
	v, school, zoe := s.operator(), s.signedIn("school"), s.signedIn("zoe")
	school.grant(20)
	s.is.True(v.get("teams").has("No teams yet"))
	page := "users/" + string(zoe.user.ID)
	s.is.True(v.get(page).has("Who pays", "Grant credits", "Set the sponsor"))
	a := v.follow(v.post(page+"/sponsor", "sponsor", "school", "limit_daily", "5"))
	s.is.True(a.has("school pays for zoe, within 5 credits a day.", `>school</a></dd>`, `value="5"`,
		"End the sponsorship"))
	s.is.True(!a.has("<h2>Grant credits</h2>"))
	_, err := zoe.generate("a fox")
	s.is.NoErr(err)
	s.is.Equal(v.get("teams").table("Sponsors by name</caption>"), []string{"school | 1 member of school | 2 | 18"})
	members := "users?sponsor=" + string(school.user.ID)
	s.is.True(v.get("users/" + string(school.user.ID)).has(`href="/console/` + members + `"`))
	a = v.get(members)
	s.is.True(a.has("Members of school", ">zoe</a>", "sponsored") && !a.has(">olivia</a>"))
	s.is.True(v.get(members+"&q=x").has("No user has “x”", `name="sponsor" value="`+string(school.user.ID)))
	s.is.Equal(v.get("users?sponsor=usr_nobody").StatusCode, http.StatusNotFound)
	s.is.True(v.get("users?sponsor=" + string(zoe.user.ID)).has("zoe pays for nobody else."))

	for want, form := range map[string][]string{
		"There is no user of this name.":  {"sponsor", "nobody"},
		"cannot pay for itself":           {"sponsor", "zoe"},
		"Enter a whole number of credits": {"sponsor", "school", "limit_daily", "0"},
	} {
		a := v.post(page+"/sponsor", form...)
		s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
		s.is.True(a.has(want))
	}
	a = v.post("users/"+string(school.user.ID)+"/sponsor", "sponsor", "olivia")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("User &#34;school&#34; pays for others and cannot get a sponsor; end that first"))
	a = v.post(page+"/grants", "credits", "5", "once", "o") // from a page that was open before
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("User &#34;zoe&#34; is a member of &#34;school&#34;, who pays for it"))

	s.is.NoErr(s.Accounts().SetAccountType(t.Context(), school.user.ID, "EDU"))
	s.is.True(v.get(page).has("<span>Account type</span><strong>EDU</strong>",
		"If it is empty, that of the sponsor counts."))
	s.is.True(v.get(members).has("the sponsor’s"))
	for set, want := range map[string]string{"free": "FREE", "": "that of the sponsor"} {
		s.is.True(v.follow(v.post(page+"/type", "type", set)).has("The account type of zoe is " + want + "."))
	}
	s.is.True(v.follow(v.post(page+"/sponsor/end")).has("zoe pays for themselves.", "Grant credits"))
	s.is.Equal(zoe.sponsor(), imagegen.UserID(""))
	s.is.Equal(school.post(page+"/sponsor", "sponsor", "school").StatusCode, http.StatusNotFound)
}
