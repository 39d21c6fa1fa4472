package operator

import (
	"net/http"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/link"
)

// newUserView is the data of user-new.html.
type newUserView struct {
	Form  *form.Form
	Roles []form.Option
	Days  []form.Option
}

// The choices of the forms for a link. Whatever is sent is checked by readInvitation, not compared with these.
var (
	roles = form.Options(string(account.RoleUser), "User", string(account.RoleOperator), "Operator")
	days  = form.Options("1", "1 day", "3", "3 days", "7", "7 days", "30", "30 days")
)

// defaultDays is how many days a link works unless the operator chooses otherwise.
const defaultDays = "3"

// NewUser shows the form for a new user.
func NewUser(p *frame.Page) error {
	return p.Render("user-new", newUserView{form.Filled("days", defaultDays), roles, days})
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
		return p.RenderStatus(http.StatusUnprocessableEntity, "user-new", newUserView{f, roles, days})
	}
	return showLink(p, u, role, expires)
}

// InviteUser makes a new link for an existing user, which replaces an earlier one.
func InviteUser(p *frame.Page, u imagegen.User, f *form.Form) error {
	if !u.DisabledAt.IsZero() {
		f.AddFault("role", "%s is disabled: nobody can sign in by this name.", u.Name)
	}
	role, expires := readInvitation(f, p.Now)
	if !f.Valid() {
		return showUser(p, http.StatusUnprocessableEntity, u, userForms{Invite: f})
	}
	return showLink(p, u, role, expires)
}

// readInvitation reads the role and the expiry of an invitation. If the form has a fault there, the values mean
// nothing.
func readInvitation(f *form.Form, now time.Time) (account.Role, time.Time) {
	role := account.Role(f.Value("role"))
	if role != account.RoleUser && role != account.RoleOperator {
		f.AddFault("role", "Choose a role.")
	}
	// Any number up to the longest choice will do: the choices are only for convenience.
	n, err := strconv.Atoi(f.Value("days"))
	if err != nil || n < 1 || n > 30 {
		f.AddFault("days", "Choose how long the link works.")
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
func showLink(p *frame.Page, u imagegen.User, role account.Role, expires time.Time) error {
	path, err := link.Invitation(p.Context(), p.Logins, u.ID, role, expires)
	if err != nil {
		return err
	}
	return p.Render("user-link", linkView{u, role, p.Origin() + p.Root + path, expires})
}
