package console

import (
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// userView is the data of user.html.
type userView struct {
	User     imagegen.User
	Login    account.Login
	Self     bool // the operator looks at their own user
	Balance  imagegen.Balance
	Holdings imagegen.Holdings
	Passkeys int // how many they have
	Keys     []keyOfUser
	Pager    pager // of the keys
	Roles    []option
	Days     []option
	userForms
}

// userForms are the forms on a user's page. One that was sent and has faults is shown again; nil: show it as new.
type userForms struct{ Grant, Revoke, Type, Invite *form }

// userAt returns the user that the address names. ErrNotFound.
func (c *Console) userAt(p *page) (imagegen.User, error) {
	return c.cfg.Engine.Accounts().User(p.context(), imagegen.UserID(p.r.PathValue("user")))
}

func (c *Console) user(p *page) error {
	u, err := c.userAt(p)
	if err != nil {
		return err
	}
	return c.showUser(p, http.StatusOK, u, userForms{})
}

// showUser renders a user's page, with the form that has faults, if any.
func (c *Console) showUser(p *page, status int, u imagegen.User, forms userForms) error {
	ctx := p.context()
	v := userView{User: u, Self: u.ID == p.person.ID, Roles: roles, Days: days, userForms: forms}
	var err error
	if v.Login, err = c.login(ctx, u.ID); err != nil {
		return err
	}
	if v.Balance, err = c.cfg.Engine.As(u.ID).Balance(ctx); err != nil {
		return err
	}
	if v.Holdings, err = c.cfg.Ledger.Holdings(ctx, u.ID, lotsShown); err != nil {
		return err
	}
	have, err := c.cfg.Logins.Passkeys(ctx, u.ID)
	if err != nil {
		return err
	}
	v.Passkeys = len(have)
	if v.Keys, v.Pager, err = c.keysOf(p, u.ID); err != nil {
		return err
	}
	if p.r.Method == http.MethodPost { // the address of a form does not lead to other pages of the list
		v.Pager = pager{}
	}
	v.complete()
	return p.renderStatus(status, "user", v)
}

// complete fills in the forms that were not sent, with the present values.
func (v *userView) complete() {
	if v.Grant == nil {
		v.Grant = filled("once", formToken())
	}
	if v.Revoke == nil {
		v.Revoke = filled("once", formToken())
	}
	if v.Type == nil {
		v.Type = filled("type", v.User.AccountType)
	}
	if v.Invite == nil {
		v.Invite = filled("role", string(v.Login.Role), "days", defaultDays)
	}
}

// setAccountType changes the account type, of which the service only keeps and shows the name, in capitals.
func (c *Console) setAccountType(p *page) error {
	u, err := c.userAt(p)
	if err != nil {
		return err
	}
	f, err := p.form()
	if err != nil {
		return err
	}
	err = c.cfg.Engine.Accounts().SetAccountType(p.context(), u.ID, f.Value("type"))
	if err = f.refuse("type", err); err != nil {
		return err
	}
	if !f.valid() {
		return c.showUser(p, http.StatusUnprocessableEntity, u, userForms{Type: f})
	}
	return p.done("The account type of "+u.Name+" is "+strings.ToUpper(f.Value("type"))+".", "users", string(u.ID))
}

// confirmDisable asks first, since a user who is disabled cannot be enabled again.
func (c *Console) confirmDisable(p *page) error {
	u, err := c.otherAt(p)
	if err != nil {
		return err
	}
	return p.render("user-disable", u)
}

// otherAt is userAt, and keeps an operator from locking themselves out, maybe as the last one.
func (c *Console) otherAt(p *page) (imagegen.User, error) {
	u, err := c.userAt(p)
	if err == nil && u.ID == p.person.ID {
		err = imagegen.Invalid("you cannot disable yourself; another operator can")
	}
	return u, err
}

// disableUser disables a user for good: their keys and sign-ins end. The keys come first, in the store's own
// transaction; sign-ins that could not be ended would be refused anyway, since identify checks the user.
func (c *Console) disableUser(p *page) error {
	u, err := c.otherAt(p)
	if err != nil {
		return err
	}
	if err := c.cfg.Engine.Accounts().DisableUser(p.context(), u.ID); err != nil {
		return err
	}
	if err := c.cfg.Logins.EndSignIns(p.context(), u.ID); err != nil {
		return err
	}
	return p.done(u.Name+" is disabled.", "users", string(u.ID))
}
