// Package invite is what the forms that make a link for a user have in common, and the page that shows the link.
package invite

import (
	"embed"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/link"
)

//go:embed templates
var sources embed.FS

// Templates are those of the page.
var Templates = frame.Templates{Files: sources}

// Days are the choices of the field days: how long a link works. Whatever is sent is checked by Expiry, not compared
// with these.
var Days = form.Options("1", "1 day", "3", "3 days", "7", "7 days", "30", "30 days")

// DefaultDays is how many days a link works unless something else is chosen.
const DefaultDays = "3"

// Expiry reads how long a link works. If the form has a fault there, the time means nothing.
func Expiry(f *form.Form, now time.Time) time.Time {
	// Any number up to the longest choice will do: the choices are only for convenience.
	n, err := strconv.Atoi(f.Value("days"))
	if err != nil || n < 1 || n > 30 {
		f.AddFault("days", "Choose how long the link works.")
	}
	return now.AddDate(0, 0, n)
}

// linkView is the data of user-link.html.
type linkView struct {
	User    imagegen.User
	Role    account.Role
	Link    string
	Expires time.Time
	Back    string // the address of the user's page
}

// Show makes an invitation and shows its link. That is the only time, since only its hash is stored. back are the
// segments of the user's page.
func Show(p *frame.Page, u imagegen.User, role account.Role, expires time.Time, back ...string) error {
	path, err := link.Invitation(p.Context(), p.Logins, u.ID, role, expires)
	if err != nil {
		return err
	}
	return p.Render("user-link", linkView{u, role, p.Origin() + p.Root + path, expires, p.Address(back...)})
}
