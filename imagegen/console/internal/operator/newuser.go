package operator

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/invite"
)

// newUserView is the data of user-new.html.
type newUserView struct {
	Form  *form.Form
	Roles []form.Option
	Days  []form.Option
}

// roles are the choices of the field role. Whatever is sent is checked by readInvitation, not compared with these.
var roles = form.Options(string(account.RoleUser), "User", string(account.RoleOperator), "Operator")

// NewUser shows the form for a new user.
func NewUser(p *frame.Page) error {
	return showNew(p, form.Filled("days", invite.DefaultDays))
}

// showNew renders the form for a new user, which may have faults.
func showNew(p *frame.Page, f *form.Form) error {
	return p.RenderForms("user-new", newUserView{f, roles, invite.Days}, f)
}

// CreateUser creates a user and shows the link with which they choose a password. If the link cannot be made, the
// user stays, and an operator can make a link on their page.
func CreateUser(p *frame.Page, f *form.Form) error {
	if f.Value("name") == "" {
		f.AddFault("name", "Give the user a name.")
	}
	role, expires := readInvitation(f, p.Now)
	var u imagegen.User
	if f.Valid() {
		var err error
		if u, err = p.CreateUser(f); err != nil {
			return err
		}
	}
	if !f.Valid() {
		return showNew(p, f)
	}
	return invite.Show(p, u, role, expires, "users", string(u.ID))
}

// InviteUser makes a new link for an existing user, which replaces an earlier one.
func InviteUser(p *frame.Page, u imagegen.User, f *form.Form) error {
	if !u.DisabledAt.IsZero() {
		f.AddFault("role", "%s is disabled: nobody can sign in by this name.", u.Name)
	}
	role, expires := readInvitation(f, p.Now)
	if !f.Valid() {
		return showUser(p, u, userForms{Invite: f})
	}
	return invite.Show(p, u, role, expires, "users", string(u.ID))
}

// readInvitation reads the role and the expiry of an invitation. If the form has a fault there, the values mean
// nothing.
func readInvitation(f *form.Form, now time.Time) (account.Role, time.Time) {
	role := account.Role(f.Value("role"))
	if role != account.RoleUser && role != account.RoleOperator {
		f.AddFault("role", "Choose a role.")
	}
	return role, invite.Expiry(f, now)
}
