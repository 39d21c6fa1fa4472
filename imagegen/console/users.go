package console

import (
	"context"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// usersPerPage is how many users a page lists.
const usersPerPage = 50

// usersView is the data of users.html.
type usersView struct {
	Form  *form // the search
	Lines []userLine
	Pager pager
}

// userLine is a user in the list.
type userLine struct {
	imagegen.User
	Login   account.Login
	Credits imagegen.Credits
}

// users lists the users by name, or those whose name contains what is searched for.
func (c *Console) users(p *page) error {
	q := p.r.URL.Query()
	v := usersView{Form: filled("q", q.Get("q"))}
	found, err := c.findUsers(p.context(), imagegen.UserQuery{Limit: usersPerPage, After: q.Get("after"), Contains: v.Form.Value("q")})
	if err != nil {
		return err
	}
	for _, u := range found.Users {
		l, err := c.userLine(p.context(), u)
		if err != nil {
			return err
		}
		v.Lines = append(v.Lines, l)
	}
	v.Pager = p.pager("after", found.Next)
	return p.render("users", v)
}

// findUsers returns a page that has users, unless there are no more. A store may answer with an empty page after it
// has looked at many names that do not match; then findUsers goes on.
func (c *Console) findUsers(ctx context.Context, q imagegen.UserQuery) (imagegen.UserPage, error) {
	for {
		found, err := c.cfg.Engine.Accounts().UserPage(ctx, q)
		if err != nil || len(found.Users) > 0 || found.Next == "" {
			return found, err
		}
		q.After = found.Next
	}
}

// userLine reads a user's balance and login, so a page of users costs two reads for each.
func (c *Console) userLine(ctx context.Context, u imagegen.User) (userLine, error) {
	l := userLine{User: u}
	b, err := c.cfg.Ledger.Balance(ctx, u.ID)
	if err != nil {
		return l, err
	}
	l.Credits = b.Credits
	l.Login, err = c.login(ctx, u.ID)
	return l, err
}

// login returns a user's login. A user who never had one gets a login with RoleUser and without a password, so
// ErrNotFound is not returned.
func (c *Console) login(ctx context.Context, u imagegen.UserID) (account.Login, error) {
	l, err := c.cfg.Logins.Login(ctx, u)
	if errors.Is(err, imagegen.ErrNotFound) {
		return account.Login{User: u, Role: account.RoleUser}, nil
	}
	return l, err
}
