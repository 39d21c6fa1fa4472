package console_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

const teamTable = "Members by name, with the credits that they used</caption>"

// member is a browser of a new member of the visitor, within limits.
func (v *visitor) member(name string, l imagegen.KeyLimits) *visitor {
	v.Helper()
	m, err := v.Accounts().CreateMember(v.Context(), v.user.ID, name, l)
	v.is.NoErr(err)
	v.is.NoErr(v.config.Logins.SetLogin(v.Context(), account.Login{User: m.ID, Role: account.RoleUser,
		Password: hashed, ChangedAt: v.clock.Now()}))
	return v.as(m)
}

// sponsor is the identifier of who pays for a user.
func (v *visitor) sponsor() imagegen.UserID {
	v.Helper()
	u, err := v.Accounts().User(v.Context(), v.user.ID)
	v.is.NoErr(err)
	return u.Sponsor
}

// team is the path of the visitor's page for its sponsor.
func (v *visitor) team() string { return "team/" + string(v.user.ID) }

// A sponsor invites a member, who signs in and works with the sponsor's credits.
func TestTeam(t *testing.T) {
	s := open(t)
	school := s.signedIn("school")
	school.grant(20)
	entry := `<a href="/console/team">Team</a>`
	a := school.get("credits")
	s.is.True(!a.has(entry) && a.has("Invite your team</a>"))
	a = school.get("team")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("No members yet", "<code>school/</code>", `aria-current="page">Team</a>`))

	s.is.True(school.get("team/new").has("They sign in as school/NAME.", `name="limit_daily"`))
	a = school.post("team", "name", "zoe", "days", "3", "limit_daily", "3")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("A link for school/zoe", "and is then a user"))
	zoe, err := s.Accounts().UserByName(t.Context(), "school/zoe")
	s.is.NoErr(err)
	s.is.Equal(zoe.Sponsor, school.user.ID)
	s.is.True(a.has(`href="/console/team/` + string(zoe.ID) + `">To school/zoe`))
	s.is.True(school.get("credits").has(entry))

	guest := s.visitor()
	guest.user = zoe
	link := strings.TrimPrefix(a.invitationLink(), "http://console.test")
	s.is.Equal(guest.post(link, "password", secret, "again", secret).redirected(), "/console/")
	_, err = guest.generate("a secret fox")
	s.is.NoErr(err)
	_, err = guest.generate("a secret hare")
	s.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	s.is.Equal(school.balance(), imagegen.Credits(18))

	a = school.get("team")
	s.is.Equal(a.table(teamTable), []string{"school/zoe | active | 2 | 2 | 2 | 3 credits a day"})
	s.is.True(a.has("<strong>18</strong>", "<span>Today, in UTC</span><strong>2</strong>"))
	a = school.get("team/" + string(zoe.ID))
	s.is.Equal(a.table("for school/zoe in these days, by model</caption>"), []string{"fake-1 | 1 | 0 | 2 | 0 | 2"})
	s.is.True(a.has("<span>Left to spend</span><strong>1</strong>", "<strong>2</strong><small>of 3</small>"))
}

// The sponsor sees what was used, and neither prompts nor images.
func TestTeamShowsNoPrompts(t *testing.T) {
	s := open(t)
	school, operator := s.signedIn("school"), s.operator()
	school.grant(20)
	zoe := school.member("zoe", imagegen.KeyLimits{})
	r, err := zoe.generate("a secret [fake:images=1]")
	s.is.NoErr(err)
	for _, path := range []string{"team", zoe.team(), zoe.team() + "/remove", "credits", "credits/ledger.csv",
		"generations", "playground"} {
		a := school.get(path)
		s.is.Equal(a.StatusCode, http.StatusOK)
		s.is.True(!a.has("secret") && !a.has(string(r.Images[0].ID)))
	}
	s.is.Equal(school.get("credits").table(ledgerTable)[0][:len("Partly refunded | school/zoe Charged 2, used 1")],
		"Partly refunded | school/zoe Charged 2, used 1")
	row := school.get("credits/ledger.csv").rows(t)[1]
	s.is.Equal(row[9], "school/zoe")
	for _, path := range []string{"generations/" + string(r.ID), "images/" + string(r.Images[0].ID),
		"thumbnails/" + string(r.Images[0].ID), "generations/" + string(r.ID) + "/images.zip"} {
		s.is.Equal(school.get(path).StatusCode, http.StatusNotFound)
		s.is.Equal(zoe.get(path).StatusCode, http.StatusOK)
	}
	a := operator.get("users/" + string(school.user.ID) + "/ledger")
	s.is.True(a.has("for school/zoe") && !a.has("secret"))
}

// teamActs are the paths of a member's page, with what they change.
var teamActs = []string{"", "/remove", "POST /limits", "POST /invitation", "POST /suspend", "POST /resume",
	"POST /remove"}

// A sponsor acts on its own members only; a member has no team.
func TestTeamIsTheSponsorsOwn(t *testing.T) {
	s := open(t)
	school, club, operator := s.signedIn("school"), s.signedIn("club"), s.operator()
	zoe, ann := school.member("zoe", imagegen.KeyLimits{Daily: 3}), club.member("ann", imagegen.KeyLimits{})
	nobody := s.signedIn("nobody")
	before := func() (all []imagegen.User) {
		all, err := s.Accounts().Users(t.Context())
		s.is.NoErr(err)
		return all
	}
	users := before()
	rows := s.news(func() {
		for _, c := range []struct {
			who *visitor
			of  imagegen.UserID
		}{{club, zoe.user.ID}, {operator, zoe.user.ID}, {zoe, zoe.user.ID}, {ann, zoe.user.ID},
			{school, nobody.user.ID}, {school, school.user.ID}, {school, club.user.ID}, {school, "usr_nobody"},
			{nobody, nobody.user.ID}} {
			for _, act := range teamActs {
				at := "team/" + string(c.of)
				below, post := strings.CutPrefix(act, "POST ")
				a := c.who.get(at + below)
				if post {
					a = c.who.post(at+below, "days", "3", "limit_daily", "9")
				}
				if a.StatusCode != http.StatusNotFound {
					t.Errorf("%s of %s to %s: %s", act, c.of, c.who.user.Name, a.Status)
				}
			}
		}
		for _, path := range []string{"team", "team/new"} {
			a := zoe.get(path)
			s.is.Equal(a.StatusCode, http.StatusNotFound)
			s.is.True(!a.has(`<a href="/console/team"`))
		}
		s.is.Equal(zoe.post("team", "name", "x", "days", "3").StatusCode, http.StatusNotFound)
	})
	s.is.Equal(len(rows), 0)
	s.is.Equal(cmp.Diff(users, before()), "")
	s.is.True(!club.get("team").has("zoe"))
	s.is.True(!club.get("team?q=zoe").has("school/zoe"))
}

// Every act of a sponsor leaves a row in the trail, with the sponsor as its actor, and waits for a confirmation.
func TestTeamInTheTrail(t *testing.T) {
	s := open(t)
	school := s.signedIn("school")
	at := school.member("zoe", imagegen.KeyLimits{}).team()
	ann, err := s.Accounts().CreateMember(t.Context(), school.user.ID, "ann", imagegen.KeyLimits{})
	s.is.NoErr(err)
	acts := []struct {
		path string
		form []string
		acts []account.Act
	}{
		{"team", []string{"name", "bob", "days", "3"},
			[]account.Act{account.ActUserCreate, account.ActUserInvite}},
		{"team/" + string(ann.ID) + "/invitation", []string{"days", "1"}, []account.Act{account.ActUserInvite}},
		{at + "/limits", []string{"limit_daily", "3"}, []account.Act{account.ActUserSponsor}},
		{at + "/suspend", nil, []account.Act{account.ActUserSuspend}},
		{at + "/resume", nil, []account.Act{account.ActUserResume}},
		{at + "/remove", nil, []account.Act{account.ActUserSponsor}},
	}
	for _, act := range acts {
		var done []account.Act
		for _, r := range s.news(func() {
			if a := school.post(act.path, act.form...); a.StatusCode >= 400 {
				t.Fatalf("%s: %s", act.path, a.Status)
			}
		}) {
			done = append(done, r.Act)
			s.is.Equal(r.Actor, account.Actor{Via: account.ViaConsole, Name: "school", User: school.user.ID,
				Address: "192.0.2.1"})
		}
		s.is.Equal(cmp.Diff(act.acts, done), "")
	}
	s.clock.Advance(6 * 60e9) // the confirmation is over
	for _, act := range acts[:5] {
		rows := s.news(func() {
			path := strings.Replace(act.path, at, "team/"+string(ann.ID), 1)
			s.is.True(school.post(path, act.form...).has("Confirm"))
			foreign := school.do(http.MethodPost, path, strings.NewReader(""), "Sec-Fetch-Site", "cross-site")
			s.is.Equal(foreign.StatusCode, http.StatusForbidden)
		})
		s.is.Equal(len(rows), 0)
	}
}

// A form with mistakes changes nothing, and says what is wrong.
func TestInviteMemberRefusals(t *testing.T) {
	s := open(t)
	school := s.signedIn("school")
	school.member("zoe", imagegen.KeyLimits{})
	for want, form := range map[string][]string{
		"Give the member a name.":                  {"name", " ", "days", "3"},
		"There is a user of this name already.":    {"name", "zoe", "days", "3"},
		"A person is named by 1 to 128 bytes":      {"name", "a\x07", "days", "3"},
		"The name of a member has no &#34;/&#34;;": {"name", "../club/zoe", "days", "3"},
		"Choose how long the link works.":          {"name", "bob", "days", "31"},
		"Enter a whole number of credits":          {"name", "bob", "days", "3", "limit_daily", "-1"},
		"Enter a whole number of requests":         {"name", "bob", "days", "3", "limit_at_once", "x"},
	} {
		a := school.post("team", form...)
		s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
		if !a.has(want) {
			t.Errorf("%q is not in\n%s", want, a.body)
		}
	}
	all, err := s.Accounts().Users(t.Context())
	s.is.NoErr(err)
	s.is.Equal(len(all), 2)
}

// New limits count at once, with what was used so far.
func TestLimitsOfAMember(t *testing.T) {
	s := open(t)
	school := s.signedIn("school")
	school.grant(20)
	zoe := school.member("z<b>oe", imagegen.KeyLimits{})
	_, err := zoe.generate("a fox")
	s.is.NoErr(err)
	a := school.follow(school.post(zoe.team()+"/limits", "limit_total", "3", "limit_at_once", "1"))
	s.is.True(a.has("school/z&lt;b&gt;oe is limited to 3 credits in all, 1 request at once.", `value="3"`))
	s.is.Equal(zoe.balance(), imagegen.Credits(1))
	_, err = zoe.generate("a fox")
	s.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	a = school.post(zoe.team()+"/limits", "limit_total", "three")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("Enter a whole number of credits", `value="three"`))
	s.is.True(school.follow(school.post(zoe.team() + "/limits")).has("has no limits."))
	s.is.Equal(zoe.balance(), imagegen.Credits(18))
}

// Nothing is charged for a member who is suspended.
func TestSuspendMember(t *testing.T) {
	s := open(t)
	school := s.signedIn("school")
	school.grant(20)
	zoe := school.member("zoe", imagegen.KeyLimits{})
	s.is.True(school.follow(school.post(zoe.team()+"/suspend")).has("Suspended <time", "suspended</span>"))
	_, err := zoe.generate("a fox")
	s.is.True(errors.Is(err, imagegen.ErrChargeRefused))
	s.is.True(zoe.get("credits").has("Ask school, who pays for you, or the operator"))
	s.is.Equal(school.get("team").table(teamTable), []string{"school/zoe | suspended | 0 | 0 | 0 | none"})
	s.is.True(school.get(zoe.team() + "/remove").has("The suspension stays"))
	s.is.True(school.follow(school.post(zoe.team() + "/resume")).has("school/zoe is not suspended any more."))
	_, err = zoe.generate("a fox")
	s.is.NoErr(err)
}

// A link would let the sponsor see what a member made before, so there is one only for a member who never signed in.
func TestLinkForAMember(t *testing.T) {
	s := open(t)
	school := s.signedIn("school")
	zoe := school.member("zoe", imagegen.KeyLimits{})
	bob := s.newcomer("bob") // has used the API so far
	s.is.NoErr(s.Engine.SetSponsor(t.Context(), bob.ID, school.user.ID, imagegen.KeyLimits{}))
	ann, err := s.Accounts().CreateMember(t.Context(), school.user.ID, "ann", imagegen.KeyLimits{})
	s.is.NoErr(err)
	for _, at := range []string{zoe.team(), "team/" + string(bob.ID)} {
		s.is.True(!school.get(at).has("Make the link"))
		a := school.post(at+"/invitation", "days", "3")
		s.is.Equal(a.StatusCode, http.StatusBadRequest)
		s.is.Equal(a.invitationLink(), "")
	}
	at := "team/" + string(ann.ID)
	s.is.True(school.get(at).has("Make the link"))
	s.is.Equal(school.post(at+"/invitation", "days", "x").StatusCode, http.StatusUnprocessableEntity)
	s.is.True(school.post(at+"/invitation", "days", "3").invitationLink() != "")
	s.is.NoErr(s.Accounts().DisableUser(t.Context(), ann.ID))
	s.is.Equal(school.post(at+"/invitation", "days", "3").StatusCode, http.StatusBadRequest)
	s.is.True(school.get(at).has("An operator of this service disabled school/ann"))
}

// A member who is removed while their work runs gets it, at the sponsor's cost, and nothing more.
func TestRemoveMemberAtWork(t *testing.T) {
	g := newGate()
	s := openOver(t, g.oneByOne)
	school := s.signedIn("school")
	school.grant(20)
	zoe := school.member("zoe", imagegen.KeyLimits{Daily: 9})
	running := zoe.begin("a secret fox", 2)
	zoe.reaches(running.ID, imagegen.StatusProcessing)
	waiting := zoe.begin("a secret hare", 1)
	s.is.True(school.get(zoe.team()+"/remove").has("Remove school/zoe?", "pays for themselves again"))
	s.is.Equal(zoe.sponsor(), school.user.ID) // asked, and not done
	s.is.True(school.follow(school.post(zoe.team()+"/remove")).has("school/zoe is not in your team any more.",
		"No members yet"))
	s.is.Equal(zoe.sponsor(), imagegen.UserID(""))
	for _, act := range teamActs {
		if !strings.HasPrefix(act, "POST ") {
			s.is.Equal(school.get(zoe.team()+act).StatusCode, http.StatusNotFound)
		}
	}
	s.is.Equal(school.post(zoe.team()+"/remove").StatusCode, http.StatusNotFound) // also the second press

	s.is.True(zoe.get("credits").has("<h2>No credits yet</h2>"))
	close(g.opened)
	zoe.reaches(running.ID, imagegen.StatusSucceeded)
	zoe.reaches(waiting.ID, imagegen.StatusSucceeded)
	s.is.Equal(school.balance(), imagegen.Credits(17))
	s.is.Equal(zoe.balance(), imagegen.Credits(0))
	a := school.get("credits")
	s.is.Equal(len(a.table(ledgerTable)), 3) // two of zoe's, and the grant
	s.is.True(a.has("school/zoe") && !a.has("secret"))
	s.is.Equal(zoe.get("generations/"+string(running.ID)).StatusCode, http.StatusOK)
	s.is.Equal(zoe.get("team").StatusCode, http.StatusOK) // who pays for themselves can have a team
	_, err := zoe.generate("a fox")
	s.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	zoe.grant(5)
	_, err = zoe.generate("a fox")
	s.is.NoErr(err)
}

// A member's pages say who pays and what is left.
func TestPagesOfAMember(t *testing.T) {
	s := open(t)
	school := s.signedIn("school")
	school.grant(20)
	zoe := school.member("zoe", imagegen.KeyLimits{Credits: 100, Daily: 2})
	_, err := zoe.generate("a fox")
	s.is.NoErr(err)
	s.is.True(zoe.get("account").has("<dt>Paid by</dt><dd>school</dd>"))
	a := zoe.get("credits")
	s.is.True(a.has("<span>Left for you</span><strong>0</strong>", "<strong>2</strong><small>of 2</small>",
		"<strong>2</strong><small>of 100</small>", "<strong>school</strong> pays for your images",
		`2</span> credits in 30 days`))
	s.is.Equal(a.table("Credits charged in these days, by model, the most spent first</caption>"),
		[]string{"fake-1 | 1 | 0 | 2 | 0 | 2"})
	s.is.True(!a.has(`id="ledger"`) && !a.has("Invite your team") && !a.has("No credits"))
	s.is.True(zoe.get("playground").has("Nothing is left of what school pays for you.",
		"ask school, who pays for you, for"))
	s.is.True(school.get("credits").has(`2</span> credits in 30 days`))
}

// Somebody behind a key is listed as the chat interface calls them, since their name there is an identifier.
func TestTeamShowsWhatMembersAreCalled(t *testing.T) {
	s := open(t)
	school, operator := s.signedIn("school"), s.operator()
	school.grant(20)
	raw, _, err := s.Accounts().MintMembersKey(t.Context(), school.user.ID, "chat", time.Time{}, 30,
		imagegen.KeyLimits{Daily: 3})
	s.is.NoErr(err)
	for id, name := range map[string]string{"7b1c": "<i>Zoë</i>", "9f00": "Ann\u202eevil", "1a2b": ""} {
		pupil, err := s.Authenticate(account.WithPerson(t.Context(), account.Person{ID: id, Name: name}), raw.Reveal())
		s.is.NoErr(err)
		_, err = pupil.Generate(t.Context(), imagegen.GenerateRequest{Model: "fake-1", Prompt: "a secret fox"})
		s.is.NoErr(err)
	}
	zoe, err := s.Accounts().UserByName(t.Context(), "school/7b1c")
	s.is.NoErr(err)
	s.is.Equal(school.get("team").table(teamTable), []string{"school/1a2b | active | 1 | 1 | 1 | 3 credits a day",
		"school/7b1c <i>Zoë</i> | active | 1 | 1 | 1 | 3 credits a day",
		"school/9f00 | active | 1 | 1 | 1 | 3 credits a day"})
	for _, a := range []answer{school.get("team/" + string(zoe.ID)), operator.get("users?sponsor=" +
		string(school.user.ID)), operator.get("users/" + string(zoe.ID))} {
		s.is.True(a.has("&lt;i&gt;Zoë&lt;/i&gt;") && !a.has("<i>Zoë") && !a.has("evil"))
	}
	s.is.True(operator.get("users/" + string(school.user.ID)).has("for 30 members, each 3 credits a day"))
	s.is.True(school.get("keys").has("for 30 members, each 3 credits a day"))
}

func TestTeamByPage(t *testing.T) {
	s := open(t)
	school := s.signedIn("school")
	for i := range 55 {
		_, err := s.Accounts().CreateMember(t.Context(), school.user.ID, fmt.Sprintf("m%03d", i), imagegen.KeyLimits{})
		s.is.NoErr(err)
	}
	var names []string
	for at := "/console/team"; at != "" && len(names) < 100; {
		a := school.get(at)
		for _, m := range nameCells.FindAllStringSubmatch(a.body, -1) {
			names = append(names, m[1])
		}
		at = a.next()
	}
	s.is.Equal(len(names), 55)
	s.is.Equal(names[54], "school/m054")
	s.is.Equal(len(school.get("team?q=M01").table(teamTable)), 10)
	s.is.True(school.get("team?q=zz").has("No member has “zz” in the name.", "Show all"))
	s.is.True(school.get("team?after=zzz").has("No more members."))
}

// A sponsor invites at most 1,000 members.
func TestTeamThatIsFull(t *testing.T) {
	s := open(t)
	school := s.signedIn("school")
	for i := range 999 {
		_, err := s.Accounts().CreateMember(t.Context(), school.user.ID, fmt.Sprint(i), imagegen.KeyLimits{})
		s.is.NoErr(err)
	}
	s.is.Equal(school.post("team", "name", "last", "days", "3").StatusCode, http.StatusOK)
	a := school.post("team", "name", "late", "days", "3")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("You have 1000 members, and can invite no more here."))
}
