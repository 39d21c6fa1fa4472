package console

import (
	"net/http"
	"strings"
)

// access says who may open a route. The values are ordered: each asks for no less than the one before.
type access int

const (
	anyone access = iota
	// signedIn sends everybody else to the sign-in page, which leads back.
	signedIn
	// typing is signedIn for a form with much to type. Where no script keeps a draft, whoever is no longer signed in
	// gets a page that holds what they typed: see keepTyped.
	typing
	// operator answers everybody else that there is no such page.
	operator
)

// route is one page or action.
type route struct {
	pattern string // of http.ServeMux, with the path below Config.Path
	access  access
	section string // the section of the navigation that the page belongs to; "": none
	handle  handle
}

// handle answers a request, or returns an error, which page.fail turns into the answer. It must not do both: an
// error after the answer has begun cuts the connection.
type handle func(c *Console, p *page) error

// table lists all routes except the static files. Each POST passes http.CrossOriginProtection first. Actions wrapped
// in confirmed ask for the password, a passkey or the provider again, unless that was done within confirmedFor.
var table = []route{
	{"GET {$}", signedIn, "", (*Console).home},
	{"GET /", anyone, "", (*Console).unknown},
	{"POST /", anyone, "", (*Console).unknown},

	// Before anybody is signed in. A token in a path is a secret, so the log has the pattern instead.
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

	// Operators only. Whatever is done or shown there that concerns another user is recorded in the audit trail; a test
	// compares this table with the acts that it knows.
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

	// Every user's own images. The routes results, strip, preview, changes and live answer scripts with fragments.
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

	// Every user's own credits, keys and account. Changing the password asks for the present one itself.
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

// routes mounts the table and the static files. The static files do not go through handler: they are the same for
// everybody, and browsers may cache them.
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

// allows reports whether a person may open a route with this access.
func (a access) allows(p person) bool {
	switch a {
	case anyone:
		return true
	case signedIn, typing:
		return p.known()
	}
	return p.Operator()
}
