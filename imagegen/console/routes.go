package console

import (
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/imagegen/account"
)

// access says who may open a route.
type access int

const (
	anyone   access = iota
	signedIn        // else: to the sign-in page, and from there back
	typing          // signedIn; else what was typed is shown again, if no script keeps it
	operator        // else: there is no such page
)

// route is one page or action. Its pattern is that of http.ServeMux, with the path below Config.Path.
type route struct {
	pattern string
	access  access
	section string // of the navigation, that the page stands in
	handle  handle
}

// handle answers a request, or returns the error that is the answer.
type handle func(c *Console, p *page) error

// table is every route there is, but for the static files.
var table = []route{
	{"GET {$}", signedIn, "", (*Console).home},
	{"GET /", anyone, "", (*Console).unknown},
	{"POST /", anyone, "", (*Console).unknown},

	{"GET signin", anyone, "", (*Console).signInForm},
	{"POST signin", anyone, "", (*Console).signIn},
	{"POST signout", anyone, "", (*Console).signOut},
	{"POST signin/passkey", anyone, "", (*Console).signInByPasskey},
	{"GET signin/provider", anyone, "", (*Console).goToProvider},
	{"GET signin/provider/callback", anyone, "", (*Console).providerCallback},
	{"GET setup/{token}", anyone, "", (*Console).setupForm},
	{"POST setup/{token}", anyone, "", (*Console).setup},
	{"GET invitation/{token}", anyone, "", (*Console).invitationForm},
	{"POST invitation/{token}", anyone, "", (*Console).acceptInvitation},
	{"GET entry/{token}", anyone, "", (*Console).signInLinkForm},
	{"POST entry/{token}", anyone, "", (*Console).useSignInLink},

	{"GET users", operator, "users", (*Console).users},
	{"POST users", operator, "users", confirmed((*Console).createUser)},
	{"GET users/new", operator, "users", (*Console).newUser},
	{"GET users/{user}", operator, "users", (*Console).user},
	{"POST users/{user}/type", operator, "users", (*Console).setAccountType},
	{"POST users/{user}/invitation", operator, "users", confirmed((*Console).inviteUser)},
	{"POST users/{user}/grants", operator, "users", confirmed((*Console).grant)},
	{"POST users/{user}/revocations", operator, "users", confirmed((*Console).revokeCredits)},
	{"GET users/{user}/ledger", operator, "users", (*Console).userLedger},
	{"GET users/{user}/ledger.csv", operator, "users", (*Console).userLedgerCSV},
	{"POST users/{user}/suspend", operator, "users", confirmed((*Console).suspendUser)},
	{"POST users/{user}/resume", operator, "users", confirmed((*Console).resumeUser)},
	{"POST users/{user}/passkeys/remove", operator, "users", confirmed((*Console).removeUserPasskeys)},
	{"GET users/{user}/disable", operator, "users", (*Console).confirmDisable},
	{"POST users/{user}/disable", operator, "users", confirmed((*Console).disableUser)},
	{"GET users/{user}/keys/{key}/limits", operator, "users", (*Console).userKeyLimits},
	{"POST users/{user}/keys/{key}/limits", operator, "users", (*Console).limitUserKey},
	{"GET users/{user}/keys/{key}/revoke", operator, "users", (*Console).confirmRevokeUserKey},
	{"POST users/{user}/keys/{key}/revoke", operator, "users", confirmed((*Console).revokeUserKey)},
	{"GET users/{user}/generations", operator, "users", (*Console).userGenerations},

	{"GET overview", operator, "overview", (*Console).overview},

	{"GET trail", operator, "trail", (*Console).trail},

	{"GET system", operator, "system", (*Console).system},
	{"GET system/audit", operator, "system", (*Console).auditState},
	{"POST system/audit", operator, "system", (*Console).startAudit},
	{"GET system/clock", operator, "system", (*Console).clock},
	{"POST system/clock", operator, "system", (*Console).confirmClock},

	{"GET playground", signedIn, "playground", (*Console).playground},
	{"POST playground", typing, "playground", (*Console).create},
	{"GET playground/results/{generation}", signedIn, "playground", (*Console).showResult},
	{"GET playground/strip", signedIn, "playground", (*Console).showStrip},
	{"POST playground/preview", signedIn, "playground", (*Console).preview},

	{"GET generations", signedIn, "generations", (*Console).generations},
	{"GET generations/changes", signedIn, "generations", (*Console).changes},
	{"GET generations/{generation}", signedIn, "generations", (*Console).generation},
	{"GET generations/{generation}/images.zip", signedIn, "generations", (*Console).archive},
	{"POST generations/{generation}/favourite", signedIn, "generations", (*Console).favour},
	{"GET compare", signedIn, "generations", (*Console).compare},
	{"GET generations/{generation}/live", signedIn, "generations", (*Console).live},
	{"POST generations/{generation}/cancel", signedIn, "generations", (*Console).cancel},
	{"GET generations/{generation}/erase", signedIn, "generations", (*Console).confirmErase},
	{"POST generations/{generation}/erase", signedIn, "generations", (*Console).erase},
	{"GET images/{image}", signedIn, "", (*Console).image},
	{"GET thumbnails/{image}", signedIn, "", (*Console).thumbnail},

	{"GET credits", signedIn, "credits", (*Console).credits},
	{"GET credits/ledger.csv", signedIn, "credits", (*Console).ledgerCSV},

	{"GET keys", signedIn, "keys", (*Console).keys},
	{"POST keys", signedIn, "keys", confirmed((*Console).createKey)},
	{"GET keys/{key}/created", signedIn, "keys", (*Console).newKey},
	{"GET keys/{key}/limits", signedIn, "keys", (*Console).keyLimits},
	{"POST keys/{key}/limits", signedIn, "keys", (*Console).limitKey},
	{"GET keys/{key}/revoke", signedIn, "keys", (*Console).confirmRevokeKey},
	{"POST keys/{key}/revoke", signedIn, "keys", confirmed((*Console).revokeKey)},

	{"GET account", signedIn, "account", (*Console).account},
	{"POST account/passkeys/new", signedIn, "account", confirmed((*Console).beginPasskey)},
	{"POST account/passkeys", signedIn, "account", (*Console).createPasskey},
	{"POST account/passkeys/remove", signedIn, "account", confirmed((*Console).removePasskey)},
	{"POST account/provider", signedIn, "account", confirmed((*Console).connect)},
	{"POST account/provider/remove", signedIn, "account", confirmed((*Console).disconnect)},
	{"POST account/password", signedIn, "account", (*Console).changePassword},
	{"POST account/signins/end", signedIn, "account", (*Console).endSignIns},
}

func (c *Console) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range table {
		method, path, _ := strings.Cut(r.pattern, " ")
		mux.Handle(method+" "+c.cfg.Path+strings.TrimPrefix(path, "/"), c.handler(r, r.handle))
	}
	mux.HandleFunc("GET "+c.cfg.Path+"static/{version}/{file...}", c.static)
	mux.HandleFunc("GET "+c.cfg.Path+"brand/{version}/{file}", c.serveBrand)
	return mux
}

// allows reports whether a person may open what asks for a.
func (a access) allows(p person) bool {
	switch a {
	case anyone:
		return true
	case signedIn, typing:
		return p.known()
	}
	return p.known() && p.Role == account.RoleOperator
}
