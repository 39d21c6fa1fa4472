package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

// rows are those of the audit trail that a query selects, oldest first.
func (s *site) rows(q account.TrailQuery) []account.TrailRow {
	s.Helper()
	q.Limit = account.MaxTrailPage
	p, err := s.DB.Trail(s.Context(), q)
	s.is.NoErr(err)
	slices.Reverse(p.Rows)
	return p.Rows
}

// news returns the rows that f adds.
func (s *site) news(f func()) []account.TrailRow {
	s.Helper()
	before := len(s.rows(account.TrailQuery{}))
	f()
	return s.rows(account.TrailQuery{})[before:]
}

// eventually waits for work that continues after an answer.
func (s *site) eventually(ok func() bool) {
	s.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.Fatal("it did not come about")
}

// action is a request and the acts that it leaves in the trail.
type action struct {
	route string
	acts  []account.Act
	do    func() answer
}

// seen are the routes of operators that change nothing and show nothing of another user.
var seen = []string{"GET users", "GET users/new", "GET users/{user}", "GET users/{user}/disable",
	"GET users/{user}/keys/{key}/revoke", "GET users/{user}/keys/{key}/limits", "GET teams", "GET overview",
	"GET system", "GET system/audit", "GET system/clock", "GET trail", "GET webhooks", "POST webhooks/test",
	"POST webhooks/resend"} // of webhooks the calls of package admin leave the rows

// actions run in order; olivia does all of them.
func actions(s *site, v *visitor) []action {
	alice := s.newcomer("alice")
	at := "users/" + string(alice.ID)
	_, key, err := s.Accounts().MintKey(s.Context(), alice.ID, "laptop", time.Time{})
	s.is.NoErr(err)
	_, own, err := s.Accounts().MintKey(s.Context(), v.user.ID, "mine", time.Time{})
	s.is.NoErr(err)
	s.is.NoErr(s.DB.CreatePasskey(s.Context(), account.Passkey{ID: "a", User: alice.ID, Name: "laptop"}))
	post := func(path string, pairs ...string) func() answer {
		return func() answer { return v.post(path, pairs...) }
	}
	s.Running.Grant(s.T, v.user.ID, 5)
	g, err := s.As(v.user.ID).Generate(s.Context(), imagegen.GenerateRequest{Model: "fake-1", Prompt: "a canary"})
	s.is.NoErr(err)
	return []action{
		{"POST users", []account.Act{account.ActUserCreate, account.ActUserInvite}, post("users", "name", "bob", "role",
			"user", "days", "3")},
		{"POST users/{user}/type", []account.Act{account.ActUserSet}, post(at+"/type", "type", "PRO")},
		{"POST users/{user}/invitation", []account.Act{account.ActUserInvite}, post(at+"/invitation", "role",
			"operator", "days", "3")},
		{"POST users/{user}/sponsor", []account.Act{account.ActUserSponsor}, post(at+"/sponsor", "sponsor", "bob")},
		{"POST users/{user}/sponsor/end", []account.Act{account.ActUserSponsor}, post(at + "/sponsor/end")},
		{"POST users/{user}/grants", []account.Act{account.ActCreditGrant}, post(at+"/grants", "credits", "5", "once",
			"x")},
		{"POST users/{user}/revocations", []account.Act{account.ActCreditRevoke},
			post(at+"/revocations", "revoke_credits", "2", "once", "y")},
		{"GET users/{user}/ledger", []account.Act{account.ActUserView}, func() answer { return v.get(at + "/ledger") }},
		{"GET users/{user}/ledger.csv", []account.Act{account.ActUserView}, func() answer {
			return v.get(at + "/ledger.csv")
		}},
		{"POST users/{user}/suspend", []account.Act{account.ActUserSuspend}, post(at + "/suspend")},
		{"POST users/{user}/resume", []account.Act{account.ActUserResume}, post(at + "/resume")},
		{"GET users/{user}/generations", []account.Act{account.ActUserView}, func() answer {
			return v.get(at + "/generations")
		}},
		{"POST users/{user}/keys/{key}/limits", []account.Act{account.ActKeyLimit}, post(at+"/keys/"+string(key.ID)+
			"/limits", "limit_daily", "3")},
		{"POST users/{user}/keys/{key}/revoke", []account.Act{account.ActKeyRevoke},
			post(at + "/keys/" + string(key.ID) + "/revoke")},
		{"POST users/{user}/passkeys/remove", []account.Act{account.ActPasskeyRemove}, post(at + "/passkeys/remove")},
		{"POST users/{user}/disable", []account.Act{account.ActUserDisable}, post(at + "/disable")},
		{"POST system/audit", []account.Act{account.ActDataAudit}, post("system/audit")},
		{"POST system/clock", nil, post("system/clock")}, // nothing is in doubt
		{"POST keys", []account.Act{account.ActKeyCreate}, post("keys", "name", "script", "life", "never")},
		{"POST keys/{key}/limits", []account.Act{account.ActKeyLimit}, post("keys/"+string(own.ID)+"/limits",
			"limit_at_once", "2")},
		{"POST keys/{key}/revoke", []account.Act{account.ActKeyRevoke}, post("keys/" + string(own.ID) + "/revoke")},
		{"POST generations/{generation}/erase", []account.Act{account.ActGenerationDelete},
			post("generations/" + string(g.ID) + "/erase")},
		{"POST account/password", []account.Act{account.ActUserPassword, account.ActSignIn},
			post("account/password", "present", secret, "password", "battery horse correct", "again",
				"battery horse correct")},
		{"POST signout", []account.Act{account.ActSignOut}, post("signout")},
	}
}

// Every act and view of an operator leaves a row in the trail, with actor and address. A new route must be added to one
// of the two lists.
func TestEveryDeedLeavesItsRow(t *testing.T) {
	s := open(t, func(c *console.Config) { c.Operations = console.EngineOperations{Engine: c.Engine} })
	v := s.operator()
	known := slices.Clone(seen)
	for _, d := range actions(s, v) {
		known = append(known, d.route)
		news := s.news(func() {
			before := len(s.rows(account.TrailQuery{}))
			if a := d.do(); a.StatusCode >= 400 {
				t.Fatalf("%s: %s", d.route, a.Status)
			}
			// an audit goes on behind the answer
			s.eventually(func() bool { return len(s.rows(account.TrailQuery{})) >= before+len(d.acts) })
		})
		var acts []account.Act
		for _, r := range news {
			acts = append(acts, r.Act)
			s.is.Equal(cmp.Diff(account.Actor{Via: account.ViaConsole, Name: "olivia", User: v.user.ID,
				Address: "192.0.2.1"}, r.Actor), "")
			s.is.True(!strings.Contains(fmt.Sprint(r), "canary"))
		}
		if d := cmp.Diff(d.acts, acts); d != "" {
			t.Error(d)
		}
	}
	for _, r := range console.Routes() {
		if name := r.Method + " " + r.Path; r.Operator && !slices.Contains(known, name) {
			t.Errorf("%s is neither tested as an act nor known to be none", name)
		}
	}
}

// An entry of the ledger names the operator.
func TestLedgerNamesTheOperator(t *testing.T) {
	s := open(t)
	v, alice := s.operator(), s.newcomer("alice")
	v.post("users/"+string(alice.ID)+"/grants", "credits", "5", "once", "x")
	entries, err := s.DB.History(t.Context(), alice.ID, 0, 1)
	s.is.NoErr(err)
	s.is.Equal(entries[0].Actor, "console:olivia")
}

// Every way to sign in and out leaves a row with its user.
func TestSignInsInTheTrail(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	v := s.visitor()
	acts := func(f func()) (all []string) {
		t.Helper()
		for _, r := range s.news(f) {
			s.is.Equal(r.Actor.Address, "192.0.2.1")
			all = append(all, string(r.Act)+" "+r.Actor.String()+" "+r.Target)
		}
		return all
	}
	row := func(act account.Act) string { return string(act) + " console:alice " + string(alice.ID) }
	s.is.Equal(cmp.Diff([]string{row(account.ActSignIn)}, acts(func() {
		v.post("signin", "name", "alice", "password", secret)
	})), "")
	s.is.Equal(cmp.Diff([]string{row(account.ActSignOut)}, acts(func() { v.post("signout") })), "")
	link := s.invite(alice, account.RoleUser)
	s.is.Equal(cmp.Diff([]string{row(account.ActUserAccept), row(account.ActUserPassword), row(account.ActSignIn)},
		acts(func() { s.visitor().post(link, "password", secret, "again", secret) })), "")
	entry := s.entry(alice)
	s.is.Equal(cmp.Diff([]string{row(account.ActUserAccept), row(account.ActSignIn)}, acts(func() {
		s.visitor().post(entry)
	})), "")
}

// Failed sign-ins are counted for the user whose name was given. A name without a user may be a password, and is
// recorded nowhere.
func TestFailedSignInsInTheTrail(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	v := s.visitor()
	for range 7 { // the last are refused unseen
		v.post("signin", "name", "alice", "password", "a guess")
	}
	v.post("signin", "name", "my secret password", "password", "")
	failed := func() []account.TrailRow { return s.rows(account.TrailQuery{Act: string(account.ActSignInFailed)}) }
	s.eventually(func() bool { return len(failed()) >= 2 }) // three, if a minute has begun meanwhile
	targets := map[string]bool{}
	for _, r := range failed() {
		targets[r.Target] = true
		s.is.Equal(r.Actor.Address, "192.0.2.1/32")
		s.is.True(!strings.Contains(fmt.Sprint(r), "secret"))
	}
	s.is.Equal(cmp.Diff(map[string]bool{"": true, string(alice.ID): true}, targets), "")
}

func TestTrailPage(t *testing.T) {
	s := open(t)
	v := s.operator()
	alice := s.newcomer("alice <b>")
	v.post("users/"+string(alice.ID)+"/type", "type", "PRO")
	s.is.NoErr(s.DB.Note(account.WithActor(t.Context(), account.Actor{Via: account.ViaCommand, Name: "<i>root</i>"}),
		account.TrailRow{Act: "data.backup", Outcome: account.TrailFailed, After: "<script>"}))
	a := v.get("trail")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("user.set", `href="/console/users/`+string(v.user.ID)+`">olivia</a>`, "192.0.2.1",
		`>alice &lt;b&gt;</a>`, "<del>account_type=FREE</del>", "<ins>account_type=PRO</ins>",
		"&lt;i&gt;root&lt;/i&gt;", "&lt;script&gt;", "failed</span>", "user.signin", `aria-current="page">Audit trail`))
	for query, test := range map[string]struct{ has, lacks string }{
		"actor=olivia":                                {"user.set", "data.backup"},
		"act=data":                                    {"data.backup", "user.set"},
		"target=" + url.QueryEscape("alice <b>"):      {"user.set", "data.backup"},
		"target=" + string(alice.ID):                  {"user.set", "data.backup"},
		"since=2999-01-01":                            {"No row matches.", "user.set"},
		"actor=olivia&act=key&since=yesterday&page=0": {"No row matches.", "user.set"},
	} {
		a := v.get("trail?" + query)
		if !a.has(test.has, "Show all") || a.has("<code>"+test.lacks) || strings.Contains(a.body, `<th scope="row">`+
			test.lacks) {
			t.Errorf("%s: %s", query, a.body)
		}
	}
	// A user whose name is another user's identifier, as older users may have, does not hide that user's rows.
	s.is.NoErr(s.DB.CreateUser(t.Context(), imagegen.User{ID: "usr_2", Name: string(alice.ID),
		AccountType: imagegen.DefaultAccountType}))
	s.is.True(v.get("trail?target=" + string(alice.ID)).has("account_type=PRO"))
	for range 60 {
		s.is.NoErr(s.DB.Note(t.Context(), account.TrailRow{Act: "plugin.act"}))
	}
	a = v.get("trail?act=plugin")
	s.is.Equal(strings.Count(a.body, `<th scope="row">plugin.act`), 50)
	a = v.get(a.next())
	s.is.Equal(strings.Count(a.body, `<th scope="row">plugin.act`), 10)
	s.is.True(a.has("Newest"))
	s.is.Equal(v.get("trail?before=x").StatusCode, http.StatusBadRequest)
}
