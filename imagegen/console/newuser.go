package console

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// newUserView is the data of user-new.html.
type newUserView struct {
	Form  *form
	Roles []option
	Days  []option
}

// The choices of the forms for a link. Whatever is sent is checked by invited, not compared with these.
var (
	roles = []option{{string(account.RoleUser), "User"}, {string(account.RoleOperator), "Operator"}}
	days  = []option{{"1", "1 day"}, {"3", "3 days"}, {"7", "7 days"}, {"30", "30 days"}}
)

// defaultDays is how many days a link works unless the operator chooses otherwise.
const defaultDays = "3"

func (c *Console) newUser(p *page) error {
	return p.render("user-new", newUserView{filled("days", defaultDays), roles, days})
}

// createUser creates a user and shows the link with which they choose a password. If the link cannot be made, the
// user stays, and an operator can make a link on their page.
func (c *Console) createUser(p *page) error {
	f, err := p.form()
	if err != nil {
		return err
	}
	if f.Value("name") == "" {
		f.addFault("name", "Give the user a name.")
	}
	role, expires := f.invited(p.now)
	var u imagegen.User
	if f.valid() {
		if u, err = c.addUser(p, f); err != nil {
			return err
		}
	}
	if !f.valid() {
		return p.renderStatus(http.StatusUnprocessableEntity, "user-new", newUserView{f, roles, days})
	}
	return c.showLink(p, u, role, expires)
}

// addUser creates the user that a form names. A name that is taken, or cannot be one, becomes a fault.
func (c *Console) addUser(p *page, f *form) (imagegen.User, error) {
	u, err := c.cfg.Engine.Accounts().CreateUser(p.context(), f.Value("name"), "")
	if errors.Is(err, imagegen.ErrExists) {
		f.addFault("name", "There is a user of this name already. Choose another.")
		return u, nil
	}
	return u, f.refuse("name", err)
}

// inviteUser makes a new link for an existing user, which replaces an earlier one.
func (c *Console) inviteUser(p *page) error {
	u, err := c.userAt(p)
	if err != nil {
		return err
	}
	f, err := p.form()
	if err != nil {
		return err
	}
	if !u.DisabledAt.IsZero() {
		f.addFault("role", "%s is disabled: nobody can sign in by this name.", u.Name)
	}
	role, expires := f.invited(p.now)
	if !f.valid() {
		return c.showUser(p, http.StatusUnprocessableEntity, u, userForms{Invite: f})
	}
	return c.showLink(p, u, role, expires)
}

// invited reads the role and the expiry of an invitation. If the form has a fault there, the values mean nothing.
func (f *form) invited(now time.Time) (account.Role, time.Time) {
	role := account.Role(f.Value("role"))
	if role != account.RoleUser && role != account.RoleOperator {
		f.addFault("role", "Choose a role.")
	}
	// Any number up to the longest choice will do: the choices are only for convenience.
	n, err := strconv.Atoi(f.Value("days"))
	if err != nil || n < 1 || n > 30 {
		f.addFault("days", "Choose how long the link works.")
	}
	return role, now.AddDate(0, 0, n)
}

// linkView is the data of user-link.html.
type linkView struct {
	User    imagegen.User
	Role    account.Role
	Link    string
	Expires time.Time
}

// showLink makes an invitation and shows its link. That is the only time, since only its hash is stored.
func (c *Console) showLink(p *page, u imagegen.User, role account.Role, expires time.Time) error {
	path, err := InvitationLink(p.context(), c.cfg.Logins, u.ID, role, expires)
	if err != nil {
		return err
	}
	return p.render("user-link", linkView{u, role, p.origin() + c.cfg.Path + path, expires})
}
