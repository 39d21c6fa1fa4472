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

// hasTeam reports whether the person pays for others, or looks at the pages for those who want to. If that cannot be
// read, it says no: an entry of the navigation is not worth an error.
func (p *Page) hasTeam() bool {
	if !p.Person.Known() || p.Person.Sponsor != "" {
		return false
	}
	found, _ := p.Engine.Accounts().UserPage(p.Context(), imagegen.UserQuery{Sponsor: p.Person.ID, Limit: 1})
	return len(found.Users) > 0 || p.Route.Section == "team"
}

// FindUsers returns a page that has users, unless there are no more. A store may answer with an empty page after it
// has looked at many names that do not match; then FindUsers goes on.
func (p *Page) FindUsers(q imagegen.UserQuery) (imagegen.UserPage, error) {
	for {
		found, err := p.Engine.Accounts().UserPage(p.Context(), q)
		if err != nil || len(found.Users) > 0 || found.Next == "" {
			return found, err
		}
		q.After = found.Next
	}
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

// Act returns a handler that does something to a user, and leads back to its page in the section of the route, which
// says that the user is what was done; "": the page shows it anyway.
func Act(do func(p *Page, u imagegen.UserID) error, done string) func(p *Page, u imagegen.User) error {
	return func(p *Page, u imagegen.User) error {
		if err := do(p, u.ID); err != nil {
			return err
		}
		if done == "" {
			return p.Redirect(p.Route.Section, string(u.ID))
		}
		return p.RedirectWith(u.Name+" "+done+".", p.Route.Section, string(u.ID))
	}
}

// Suspend refuses new charges to a user until they are resumed. They can still sign in and read.
func Suspend(p *Page, u imagegen.UserID) error {
	return p.Engine.Accounts().SuspendUser(p.Context(), u)
}

// Resume ends a suspension.
func Resume(p *Page, u imagegen.UserID) error { return p.Engine.Accounts().ResumeUser(p.Context(), u) }
