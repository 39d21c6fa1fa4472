package console

import (
	"github.com/imagegend/imagegend/imagegen/console/internal/credits"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/gallery"
	"github.com/imagegend/imagegend/imagegen/console/internal/keys"
	"github.com/imagegend/imagegend/imagegen/console/internal/operator"
	"github.com/imagegend/imagegend/imagegen/console/internal/playground"
	"github.com/imagegend/imagegend/imagegen/console/internal/team"
)

// routes lists all routes except the static files. Each POST passes http.CrossOriginProtection first. Actions wrapped
// in confirmed ask for the password, a passkey or the provider again, unless that was done shortly before. Handlers
// wrapped in the others are given what the path names, and the form, or need something that is not always configured.
func (c *Console) routes() []frame.Route {
	signIn, system, confirmed := c.signIn, c.system, c.signIn.Confirmed
	withForm, withUser, withUserForm := frame.WithForm, frame.WithUser, frame.AndForm(frame.WithUser)
	withKey, withKeyForm := keys.WithKey, frame.AndForm(keys.WithKey)
	sponsors, withMember, withMemberForm := team.ForSponsors, team.WithMember, frame.AndForm(team.WithMember)
	withRecord, withEnded := gallery.WithRecord, gallery.WithEnded
	suspend := frame.Act(frame.Suspend, "")
	resume := frame.Act(frame.Resume, "is not suspended any more")
	providing, operating := having(signIn.IdentityProvider != nil), having(system.Operations != nil)
	passkeys := having(signIn.Passkeys != nil)
	return []frame.Route{
		route("GET {$}", frame.SignedIn, "", home),
		route("GET /", frame.Anyone, "", frame.NotFound),
		route("POST /", frame.Anyone, "", frame.NotFound),

		// Before anybody is signed in. A token in a path is a secret, so the log has the pattern instead.
		route("GET signin", frame.Anyone, "", signIn.SignInForm),
		route("POST signin", frame.Anyone, "", withForm(signIn.SignIn)),
		route("POST signout", frame.Anyone, "", signIn.SignOut),
		route("POST signin/passkey", frame.Anyone, "", withForm(signIn.SignInByPasskey)),
		route("GET signin/provider", frame.Anyone, "", providing(signIn.RedirectToProvider)),
		route("GET signin/provider/callback", frame.Anyone, "", providing(signIn.ProviderCallback)),
		route("GET setup/{token}", frame.Anyone, "", signIn.SetupForm),
		route("POST setup/{token}", frame.Anyone, "", withForm(signIn.Setup)),
		route("GET invitation/{token}", frame.Anyone, "", signIn.InvitationForm),
		route("POST invitation/{token}", frame.Anyone, "", withForm(signIn.AcceptInvitation)),
		route("GET entry/{token}", frame.Anyone, "", signIn.SignInLinkForm),
		route("POST entry/{token}", frame.Anyone, "", signIn.UseSignInLink),

		// Operators only. Everything that is done or shown there and concerns another user is recorded in the audit
		// trail; a test compares this table with the acts that it knows.
		route("GET users", frame.Operator, "users", operator.Users),
		route("POST users", frame.Operator, "users", confirmed(withForm(operator.CreateUser))),
		route("GET users/new", frame.Operator, "users", operator.NewUser),
		route("GET users/{user}", frame.Operator, "users", withUser(operator.User)),
		route("POST users/{user}/type", frame.Operator, "users", confirmed(withUserForm(operator.SetAccountType))),
		route("POST users/{user}/invitation", frame.Operator, "users", confirmed(withUserForm(operator.InviteUser))),
		route("POST users/{user}/grants", frame.Operator, "users", confirmed(withUserForm(operator.Grant))),
		route("POST users/{user}/revocations", frame.Operator, "users",
			confirmed(withUserForm(operator.RevokeCredits))),
		route("POST users/{user}/sponsor", frame.Operator, "users", confirmed(withUserForm(operator.SetSponsor))),
		route("POST users/{user}/sponsor/end", frame.Operator, "users",
			confirmed(withUser(frame.Act(operator.EndSponsorship, "pays for themselves")))),
		route("GET teams", frame.Operator, "users", operator.Teams),
		route("GET users/{user}/ledger", frame.Operator, "users", withUser(frame.Viewed(credits.UserLedger))),
		route("GET users/{user}/ledger.csv", frame.Operator, "users", withUser(frame.Viewed(credits.UserCSV))),
		route("POST users/{user}/suspend", frame.Operator, "users", confirmed(withUser(suspend))),
		route("POST users/{user}/resume", frame.Operator, "users", confirmed(withUser(resume))),
		route("POST users/{user}/passkeys/remove", frame.Operator, "users",
			confirmed(withUser(frame.Act(operator.RemovePasskeys, "has no passkeys any more")))),
		route("GET users/{user}/disable", frame.Operator, "users", withUser(operator.ConfirmDisable)),
		route("POST users/{user}/disable", frame.Operator, "users",
			confirmed(withUser(frame.Act(operator.DisableUser, "is disabled")))),
		route("GET users/{user}/keys/{key}/limits", frame.Operator, "users", withKey(keys.Limits)),
		route("POST users/{user}/keys/{key}/limits", frame.Operator, "users", confirmed(withKeyForm(keys.SetLimits))),
		route("GET users/{user}/keys/{key}/revoke", frame.Operator, "users", withKey(keys.ConfirmRevoke)),
		route("POST users/{user}/keys/{key}/revoke", frame.Operator, "users", confirmed(withKey(keys.Revoke))),
		route("GET users/{user}/generations", frame.Operator, "users", withUser(frame.Viewed(operator.Generations))),

		route("GET overview", frame.Operator, "overview", system.Overview),

		route("GET trail", frame.Operator, "trail", operator.Trail),

		route("GET webhooks", frame.Operator, "webhooks", operator.Webhooks),
		route("POST webhooks/test", frame.Operator, "webhooks", operator.WithWebhook(operator.TestWebhook)),
		route("POST webhooks/resend", frame.Operator, "webhooks",
			confirmed(operator.WithWebhook(operator.ResendWebhook))),

		route("GET system", frame.Operator, "system", operating(system.System)),
		route("GET system/audit", frame.Operator, "system", operating(system.AuditState)),
		route("POST system/audit", frame.Operator, "system", operating(system.StartAudit)),
		route("GET system/clock", frame.Operator, "system", operating(system.Clock)),
		route("POST system/clock", frame.Operator, "system", confirmed(operating(system.ConfirmClock))),

		// Every user's own images. The routes results, strip, preview, changes and live answer scripts with fragments.
		route("GET playground", frame.SignedIn, "playground", playground.Playground),
		route("POST playground", frame.Typing, "playground", playground.Create),
		route("GET playground/results/{generation}", frame.SignedIn, "playground", playground.Result),
		route("GET playground/strip", frame.SignedIn, "playground", playground.Strip),
		route("POST playground/preview", frame.SignedIn, "playground", playground.Preview),

		route("GET generations", frame.SignedIn, "generations", gallery.Generations),
		route("GET generations/changes", frame.SignedIn, "generations", gallery.Changes),
		route("GET generations/{generation}", frame.SignedIn, "generations", gallery.Generation),
		route("GET generations/{generation}/images.zip", frame.SignedIn, "generations", withRecord(gallery.Archive)),
		route("POST generations/{generation}/favourite", frame.SignedIn, "generations",
			frame.AndForm(withRecord)(gallery.SetFavourite)),
		route("GET compare", frame.SignedIn, "generations", gallery.Compare),
		route("GET generations/{generation}/live", frame.SignedIn, "generations", gallery.Live),
		route("POST generations/{generation}/cancel", frame.SignedIn, "generations", withRecord(playground.Cancel)),
		route("GET generations/{generation}/erase", frame.SignedIn, "generations", withEnded(gallery.ConfirmErase)),
		route("POST generations/{generation}/erase", frame.SignedIn, "generations",
			confirmed(withEnded(gallery.Erase))),
		route("GET images/{image}", frame.SignedIn, "", gallery.Image),
		route("GET thumbnails/{image}", frame.SignedIn, "", gallery.Thumbnail),

		// Every user's own credits, keys and account. Changing the password asks for the present one itself.
		route("GET credits", frame.SignedIn, "credits", credits.Credits),
		route("GET prices", frame.SignedIn, "credits", credits.Prices),
		route("GET credits/ledger.csv", frame.SignedIn, "credits", credits.CSV),

		route("GET keys", frame.SignedIn, "keys", keys.Keys),
		route("POST keys", frame.SignedIn, "keys", confirmed(withForm(keys.CreateKey))),
		route("GET keys/{key}/created", frame.SignedIn, "keys", withKey(keys.Created)),
		route("GET keys/{key}/limits", frame.SignedIn, "keys", withKey(keys.Limits)),
		route("POST keys/{key}/limits", frame.SignedIn, "keys", confirmed(withKeyForm(keys.SetLimits))),
		route("GET keys/{key}/revoke", frame.SignedIn, "keys", withKey(keys.ConfirmRevoke)),
		route("POST keys/{key}/revoke", frame.SignedIn, "keys", confirmed(withKey(keys.Revoke))),

		// A sponsor's own members. Members themselves have no such pages, and nobody has those of others.
		route("GET team", frame.SignedIn, "team", sponsors(team.Team)),
		route("POST team", frame.SignedIn, "team", sponsors(confirmed(withForm(team.CreateMember)))),
		route("GET team/new", frame.SignedIn, "team", sponsors(team.NewMember)),
		route("GET team/{user}", frame.SignedIn, "team", withMember(team.Member)),
		route("POST team/{user}/limits", frame.SignedIn, "team", confirmed(withMemberForm(team.SetLimits))),
		route("POST team/{user}/invitation", frame.SignedIn, "team", confirmed(withMemberForm(team.Invite))),
		route("POST team/{user}/suspend", frame.SignedIn, "team", confirmed(withMember(suspend))),
		route("POST team/{user}/resume", frame.SignedIn, "team", confirmed(withMember(resume))),
		route("GET team/{user}/remove", frame.SignedIn, "team", withMember(team.ConfirmRemove)),
		route("POST team/{user}/remove", frame.SignedIn, "team", confirmed(withMember(team.Remove))),

		route("GET account", frame.SignedIn, "account", signIn.Account),
		route("POST account/passkeys/new", frame.SignedIn, "account",
			confirmed(passkeys(withForm(signIn.NewPasskey)))),
		route("POST account/passkeys", frame.SignedIn, "account", passkeys(withForm(signIn.CreatePasskey))),
		route("POST account/passkeys/remove", frame.SignedIn, "account", confirmed(withForm(signIn.RemovePasskey))),
		route("POST account/provider", frame.SignedIn, "account", confirmed(providing(signIn.ConnectProvider))),
		route("POST account/provider/remove", frame.SignedIn, "account",
			confirmed(providing(signIn.DisconnectProvider))),
		route("POST account/password", frame.SignedIn, "account", withForm(signIn.ChangePassword)),
		route("POST account/signins/end", frame.SignedIn, "account", withForm(signIn.EndSignIns)),
	}
}

// route returns a route; its Section is "" for pages that belong to none.
func route(pattern string, access frame.Access, section string, h frame.Handler) frame.Route {
	return frame.Route{Pattern: pattern, Access: access, Section: section, Handler: h}
}

// having wraps handlers of pages that need it, such as an identity provider. Without it the page is not found.
func having(it bool) func(frame.Handler) frame.Handler {
	return func(h frame.Handler) frame.Handler {
		if !it {
			return frame.NotFound
		}
		return h
	}
}

// home is the first page after a sign-in.
func home(p *frame.Page) error { return p.Redirect("playground") }
