// Package operator has the pages on which operators look after users and read the audit trail.
package operator

import (
	"embed"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

//go:embed templates
var sources embed.FS

// Templates are those of the pages.
var Templates = frame.Templates{Files: sources}

// usersPerPage is how many users a page lists.
const usersPerPage = 50

// usersView is the data of users.html.
type usersView struct {
	Form    *form.Form    // the search
	Sponsor imagegen.User // whose members are listed; without ID: all users are
	Lines   []userLine
	Pager   frame.Pager
}

// userLine is a user in the list.
type userLine struct {
	imagegen.User
	Login   account.Login
	Credits imagegen.Credits
}

// Users lists the users by name, or the members of a sponsor, or those whose name contains what is searched for.
func Users(p *frame.Page) error {
	q := p.Query()
	v := usersView{Form: form.Filled("q", q.Get("q"))}
	query := imagegen.UserQuery{Limit: usersPerPage, After: q.Get("after"), Contains: v.Form.Value("q"),
		Sponsor: imagegen.UserID(q.Get("sponsor"))}
	if query.Sponsor != "" {
		var err error
		if v.Sponsor, err = p.Engine.Accounts().User(p.Context(), query.Sponsor); err != nil {
			return err
		}
	}
	found, err := p.FindUsers(query)
	if err != nil {
		return err
	}
	for _, u := range found.Users {
		l, err := newUserLine(p, u)
		if err != nil {
			return err
		}
		v.Lines = append(v.Lines, l)
	}
	v.Pager = p.Pager("after", found.Next)
	return p.Render("users", v)
}

// newUserLine reads a user's balance and login, so a page of users costs two reads for each.
func newUserLine(p *frame.Page, u imagegen.User) (userLine, error) {
	l := userLine{User: u}
	b, err := p.Ledger.Balance(p.Context(), u.ID)
	if err != nil {
		return l, err
	}
	l.Credits = b.Credits
	l.Login, err = p.Login(p.Context(), u.ID)
	return l, err
}
