package frame

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/internal/hostcall"
)

// Host is console.Host.
type Host struct {
	Authenticate    func(*http.Request) (account.Caller, error)
	Operator        func(account.Caller) bool
	SignIn, SignOut string
}

// identifyByHost sets p.Person to the person whom the embedding program has signed in, and p.session to their service.
// It is not an error if nobody is. The program has just said who asks, so that counts as a confirmation too.
func (p *Page) identifyByHost() error {
	c, err := hostcall.Do(p.Context(), "Host.Authenticate", func(ctx context.Context) (account.Caller, error) {
		r := p.Request.Clone(ctx) // it may be read when the request is over
		r.Body = http.NoBody
		return p.Host.Authenticate(r)
	})
	ctx := account.WithCaller(p.Context(), c)
	if err == nil {
		p.session, err = p.Engine.Authenticate(ctx, "")
	}
	if err != nil {
		if signedOut(err) {
			return nil
		}
		return err
	}
	u, err := p.Engine.Accounts().User(ctx, c.User)
	if err != nil && !errors.Is(err, imagegen.ErrNotFound) {
		return err
	}
	u.ID, u.Name, u.AccountType = c.User, cmp.Or(u.Name, string(c.User)), cmp.Or(c.AccountType, u.AccountType)
	p.Request = p.Request.WithContext(ctx)
	p.Person = Person{User: u, SponsorName: p.UserName(u.Sponsor), SignIn: account.SignIn{
		Hash: sha256.Sum256([]byte("host\x00" + string(c.User) + "\x00" + c.Name)), User: c.User, ConfirmedAt: p.Now}}
	return p.setRoleByHost(c)
}

// identifyAgainByHost does as account.Caller.Still says.
func (p *Page) identifyAgainByHost() error {
	c, _ := account.CallerOf(p.Context())
	_, err := p.Engine.Authenticate(p.Context(), "")
	switch {
	case signedOut(err):
		p.Person = Person{}
		return nil
	case err != nil:
		return err
	}
	return p.setRoleByHost(c)
}

func (p *Page) setRoleByHost(c account.Caller) error {
	p.Person.Role = account.RoleUser
	if p.Host.Operator == nil {
		return nil
	}
	operator, err := hostcall.Do(p.Context(), "Host.Operator", func(context.Context) (bool, error) {
		return p.Host.Operator(c), nil
	})
	if operator {
		p.Person.Role = account.RoleOperator
	}
	return err
}

// signedOut reports whether an error says that nobody is signed in, or not any more.
func signedOut(err error) bool {
	return errors.Is(err, imagegen.ErrMissingKey) || errors.Is(err, imagegen.ErrInvalidKey) ||
		errors.Is(err, imagegen.ErrExpiredKey)
}

// signInAddress is where people sign in; next is where that leads back to, if it is not "".
func (f *Frame) signInAddress(next string) string {
	address := f.Address("signin")
	if f.Host != nil {
		address = f.Host.SignIn
	}
	if next == "" {
		return address
	}
	mark := "?"
	if strings.Contains(address, "?") {
		mark = "&"
	}
	return address + mark + url.Values{"next": {next}}.Encode()
}

// signOutAddress takes the form of the button.
func (f *Frame) signOutAddress() string {
	if f.Host != nil {
		return f.Host.SignOut
	}
	return f.Address("signout")
}
