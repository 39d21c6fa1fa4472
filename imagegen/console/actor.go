package console

import (
	"context"
	"net/netip"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/internal/clientaddr"
)

// act says who does what is done with the request from now on: the zero User is somebody who is not
// signed in.
func (p *page) act(u imagegen.User) {
	a := account.Actor{Via: account.ViaConsole, Name: u.Name, User: u.ID}
	if at := p.c.address(p.r); at.IsValid() {
		a.Address = at.String()
	}
	p.r = p.r.WithContext(account.WithActor(p.context(), a))
}

// viewed notes that an operator looks at what is another's: without that it is not shown.
func (p *page) viewed(u imagegen.User) error {
	t := p.c.cfg.Engine.Trail()
	if t == nil || u.ID == p.person.ID {
		return nil
	}
	return t.Note(p.context(), account.TrailRow{Act: account.ActUserView, Target: string(u.ID), User: u.ID, Outcome: account.TrailDone})
}

// countTime is how long it may take to count a failed sign-in.
const countTime = 10 * time.Second

// signInFailed counts a sign-in that failed. A name that is nobody's is not told: some type their password
// in its place. Nobody waits for it: how long it takes would tell whether the name is somebody's.
func (p *page) signInFailed(name string) {
	c, t := p.c, p.c.cfg.Engine.Trail()
	if t == nil {
		return
	}
	from := prefix(c.address(p.r))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.context()), countTime)
	go func() {
		defer cancel()
		u, _ := c.cfg.Engine.Accounts().UserByName(ctx, name)
		if err := t.SignInFailed(ctx, u.ID, from); err != nil {
			c.cfg.Log.WarnContext(ctx, "a failed sign-in was not counted in the audit trail", "error", err)
		}
	}()
}

// prefix is the network of an address; the zero one, if nobody knows the address.
func prefix(a netip.Addr) netip.Prefix {
	n, bits := clientaddr.Network(a), 32
	if n.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(n, bits)
}
