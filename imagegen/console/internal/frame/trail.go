package frame

import (
	"context"
	"net/netip"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/internal/clientaddr"
)

// SetActor sets the actor for the audit trail: whatever is done with the request's context from now on is recorded
// under this user. The zero User is somebody who is not signed in.
func (p *Page) SetActor(u imagegen.User) {
	a := account.Actor{Via: account.ViaConsole, Name: u.Name, User: u.ID}
	if at := p.ClientAddress(); at.IsValid() {
		a.Address = at.String()
	}
	p.Request = p.Request.WithContext(account.WithActor(p.Context(), a))
}

// Viewed returns a handler that records that an operator looks at the data of another user, and then has another show
// them. If that cannot be recorded, nothing is shown.
func Viewed(h func(p *Page, u imagegen.User) error) func(p *Page, u imagegen.User) error {
	return func(p *Page, u imagegen.User) error {
		if t := p.Engine.Trail(); t != nil && u.ID != p.Person.ID {
			row := account.TrailRow{Act: account.ActUserView, Target: string(u.ID), User: u.ID,
				Outcome: account.TrailDone}
			if err := t.Note(p.Context(), row); err != nil {
				return err
			}
		}
		return h(p, u)
	}
}

// countTime bounds how long counting a failed sign-in may take, and so how long its goroutine lives.
const countTime = 10 * time.Second

// CountFailedSignIn counts a failed sign-in in the audit trail. A name that no user has is not recorded, since some
// people type their password there; "" counts for no user. It does not wait for the count, which outlives the request:
// the time the count takes would tell whether there is such a user. A failure to count is logged and changes nothing
// else.
func (p *Page) CountFailedSignIn(name string) {
	t := p.Engine.Trail()
	if t == nil {
		return
	}
	from := prefix(p.ClientAddress())
	// What the goroutine needs of the request is read here: the request is over when it runs.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.Context()), countTime)
	go func() {
		defer cancel()
		u, _ := p.Engine.Accounts().UserByName(ctx, name)
		if err := t.SignInFailed(ctx, u.ID, from); err != nil {
			p.Log.WarnContext(ctx, "a failed sign-in was not counted in the audit trail", "error", err)
		}
	}()
}

// prefix is the network by which failed sign-ins are counted: an IPv4 address or a /64. It is invalid if the address is
// unknown.
func prefix(a netip.Addr) netip.Prefix {
	n, bits := clientaddr.Network(a), 32
	if n.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(n, bits)
}
