package operator

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/invite"
	"github.com/imagegend/imagegend/imagegen/console/internal/keys"
	"github.com/imagegend/imagegend/imagegen/console/internal/limits"
)

// userView is the data of user.html.
type userView struct {
	User     imagegen.User
	Login    account.Login
	Self     bool // the operator looks at their own user
	Balance  imagegen.Balance
	Holdings imagegen.Holdings
	Passkeys int // how many they have
	Keys     []keys.Line
	Pager    frame.Pager // of the keys
	Roles    []form.Option
	Days     []form.Option

	SponsorName   string // who pays for the user; "": the user does
	PaysForOthers bool
	userForms
}

// userForms are the forms on a user's page. One that was sent and has faults is shown again; nil: show it as new.
type userForms struct{ Grant, Revoke, Type, Invite, Sponsor *form.Form }

// User shows a user's page.
func User(p *frame.Page, u imagegen.User) error { return showUser(p, u, userForms{}) }

// showUser renders a user's page, with the form that has faults, if any.
func showUser(p *frame.Page, u imagegen.User, sent userForms) error {
	ctx := p.Context()
	v := userView{User: u, Self: u.ID == p.Person.ID, Roles: roles, Days: invite.Days}
	var err error
	if v.Login, err = p.Login(ctx, u.ID); err != nil {
		return err
	}
	if v.Balance, err = p.Engine.As(u.ID).Balance(ctx); err != nil {
		return err
	}
	if v.Holdings, err = p.Ledger.Holdings(ctx, u.ID, frame.LotsShown); err != nil {
		return err
	}
	have, err := p.Logins.Passkeys(ctx, u.ID)
	if err != nil {
		return err
	}
	v.Passkeys = len(have)
	if v.Keys, v.Pager, err = keys.List(p, u.ID); err != nil {
		return err
	}
	if p.Request.Method == http.MethodPost { // the address of a form does not lead to other pages of the list
		v.Pager = frame.Pager{}
	}
	v.SponsorName = cmp.Or(p.UserName(u.Sponsor), string(u.Sponsor))
	members, err := p.FindUsers(imagegen.UserQuery{Sponsor: u.ID, Limit: 1})
	if err != nil {
		return err
	}
	v.PaysForOthers = len(members.Users) > 0
	sponsor := limits.Filled(u.Limits)
	sponsor.Values.Set("sponsor", v.SponsorName)
	v.userForms = userForms{
		Grant:   cmp.Or(sent.Grant, form.Filled("once", form.NewToken())),
		Revoke:  cmp.Or(sent.Revoke, form.Filled("once", form.NewToken())),
		Type:    cmp.Or(sent.Type, form.Filled("type", u.AccountType)),
		Invite:  cmp.Or(sent.Invite, form.Filled("role", string(v.Login.Role), "days", invite.DefaultDays)),
		Sponsor: cmp.Or(sent.Sponsor, sponsor),
	}
	return p.RenderForms("user", v, v.Grant, v.Revoke, v.Type, v.Invite, v.Sponsor)
}

// SetAccountType changes the account type, a name in capitals by which prices can go.
func SetAccountType(p *frame.Page, u imagegen.User, f *form.Form) error {
	err := p.Engine.Accounts().SetAccountType(p.Context(), u.ID, f.Value("type"))
	if err = f.AddError("type", err); err != nil {
		return err
	}
	if !f.Valid() {
		return showUser(p, u, userForms{Type: f})
	}
	done := "The account type of " + u.Name + " is " +
		cmp.Or(strings.ToUpper(f.Value("type")), "that of the sponsor") + "."
	return p.RedirectWith(done, "users", string(u.ID))
}

// ConfirmDisable asks first, since a user who is disabled cannot be enabled again.
func ConfirmDisable(p *frame.Page, u imagegen.User) error {
	if err := refuseSelf(p, u.ID); err != nil {
		return err
	}
	return p.Render("user-disable", u)
}

// refuseSelf keeps an operator from locking themselves out, maybe as the last one.
func refuseSelf(p *frame.Page, u imagegen.UserID) error {
	if u == p.Person.ID {
		return imagegen.Invalid("you cannot disable yourself; another operator can")
	}
	return nil
}

// DisableUser disables a user for good: their keys and sign-ins end. The keys come first, in the store's own
// transaction; sign-ins that could not be ended would be refused anyway, since the frame checks the user of each.
func DisableUser(p *frame.Page, u imagegen.UserID) error {
	if err := refuseSelf(p, u); err != nil {
		return err
	}
	if err := p.Engine.Accounts().DisableUser(p.Context(), u); err != nil {
		return err
	}
	return p.Logins.EndSignIns(p.Context(), u)
}

// RemovePasskeys removes all passkeys of a user who has lost them. Until they create another, their password alone
// signs them in.
func RemovePasskeys(p *frame.Page, u imagegen.UserID) error {
	_, err := p.Logins.RemovePasskeys(p.Context(), u)
	return err
}
