package console

import (
	"context"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// usersPerPage is how many users a page lists.
const usersPerPage = 50

// usersView is what users.html is given.
type usersView struct {
	Form  *form // the search
	Lines []userLine
	Pager pager
}

// userLine is one user in the list.
type userLine struct {
	imagegen.User
	Login   account.Login
	Credits imagegen.Credits
}

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

// findUsers is a page of users that has some, unless there are no more: a store may look through many
// names that do not match, and then answer with none.
func (c *Console) findUsers(ctx context.Context, q imagegen.UserQuery) (imagegen.UserPage, error) {
	for {
		found, err := c.cfg.Engine.Accounts().UserPage(ctx, q)
		if err != nil || len(found.Users) > 0 || found.Next == "" {
			return found, err
		}
		q.After = found.Next
	}
}

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

// login is how a user signs in; who never had a password is a user without one.
func (c *Console) login(ctx context.Context, u imagegen.UserID) (account.Login, error) {
	l, err := c.cfg.Logins.Login(ctx, u)
	if errors.Is(err, imagegen.ErrNotFound) {
		return account.Login{User: u, Role: account.RoleUser}, nil
	}
	return l, err
}
