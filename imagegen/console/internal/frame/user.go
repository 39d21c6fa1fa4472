package frame

import (
	"context"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
)

// UserName returns a user's name; "" if the user is not known, or cannot be read: a name is not worth an error.
func (p *Page) UserName(u imagegen.UserID) string {
	if u == "" {
		return ""
	}
	found, _ := p.Engine.Accounts().User(p.Context(), u)
	return found.Name
}

// Login returns a user's login. A user who never had one gets a login with RoleUser and without a password, so
// ErrNotFound is not returned.
func (f *Frame) Login(ctx context.Context, u imagegen.UserID) (account.Login, error) {
	l, err := f.Logins.Login(ctx, u)
	if errors.Is(err, imagegen.ErrNotFound) {
		return account.Login{User: u, Role: account.RoleUser}, nil
	}
	return l, err
}

// CreateUser creates the user that a form names. A name that is taken, or cannot be one, becomes a fault.
func (p *Page) CreateUser(f *form.Form) (imagegen.User, error) {
	u, err := p.Engine.Accounts().CreateUser(p.Context(), f.Value("name"), "")
	if errors.Is(err, imagegen.ErrExists) {
		f.AddFault("name", "There is a user of this name already. Choose another.")
		return u, nil
	}
	return u, f.AddError("name", err)
}

// WithUser returns a handler that finds the user whom the path names, for another. ErrNotFound: there is none.
func WithUser(h func(p *Page, u imagegen.User) error) Handler {
	return func(p *Page) error {
		u, err := p.Engine.Accounts().User(p.Context(), imagegen.UserID(p.Request.PathValue("user")))
		if err != nil {
			return err
		}
		return h(p, u)
	}
}

// WithUserAndForm is WithUser with the form that was sent.
func WithUserAndForm(h func(p *Page, u imagegen.User, f *form.Form) error) Handler {
	return WithUser(func(p *Page, u imagegen.User) error {
		return WithForm(func(p *Page, f *form.Form) error { return h(p, u, f) })(p)
	})
}
