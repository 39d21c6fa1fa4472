package console

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// The names of the fields for a key's limits, in the form of a new key and in one of their own.
const (
	limitTotal   = "limit_total"
	limitDaily   = "limit_daily"
	limitMonthly = "limit_monthly"
	limitAtOnce  = "limit_at_once"
)

// limits reads the limits of a key. An empty field is no limit; one that cannot be read has a fault.
func (f *form) limits() (l imagegen.KeyLimits) {
	for _, c := range []struct {
		name  string
		limit *imagegen.Credits
	}{{limitTotal, &l.Credits}, {limitDaily, &l.Daily}, {limitMonthly, &l.Monthly}} {
		if f.Value(c.name) != "" {
			*c.limit = f.amount(c.name)
		}
	}
	if written := f.Value(limitAtOnce); written != "" {
		n, err := strconv.Atoi(written)
		if err != nil || n < 1 || n > imagegen.MaxAtOnce {
			f.addFault(limitAtOnce, "Enter a whole number of requests, from 1 to %s.", credits(imagegen.MaxAtOnce))
		}
		l.AtOnce = n
	}
	return l
}

// filledLimits returns a form that shows limits; no limit is an empty field.
func filledLimits(l imagegen.KeyLimits) *form {
	shown := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	return filled(limitTotal, shown(int64(l.Credits)), limitDaily, shown(int64(l.Daily)), limitMonthly, shown(int64(l.Monthly)), limitAtOnce, shown(int64(l.AtOnce)))
}

// Limited describes the key's limits in words; "" if it has none.
func (k keyOfUser) Limited() string {
	var said []string
	for _, c := range []struct {
		limit imagegen.Credits
		when  string
	}{{k.Limits.Credits, "in all"}, {k.Limits.Daily, "a day"}, {k.Limits.Monthly, "a month"}} {
		if c.limit > 0 {
			said = append(said, inCredits(c.limit)+" "+c.when)
		}
	}
	if k.Limits.AtOnce > 0 {
		said = append(said, count(k.Limits.AtOnce, "request", "requests")+" at once")
	}
	return strings.Join(said, ", ")
}

// limitsView is the data of key-limits.html.
type limitsView struct {
	Key  imagegen.Key
	User *imagegen.User  // the key's user, if an operator looks; nil: the key is the person's own
	Used imagegen.KeyUse // what counts against the limits now
	Form *form
	Here string // the address that the form is sent to
	Back string // the page that Cancel leads to
}

// showLimits renders the page with the limits of a key. u is the key's user if an operator looks, otherwise nil.
func (c *Console) showLimits(p *page, k imagegen.Key, u *imagegen.User, status int, f *form) error {
	v := limitsView{Key: k, User: u, Form: f, Here: c.path("keys", string(k.ID), "limits"), Back: c.path("keys")}
	if u != nil {
		v.Here, v.Back = c.path("users", string(u.ID), "keys", string(k.ID), "limits"), c.path("users", string(u.ID))
	}
	use, err := c.cfg.Ledger.KeyUse(p.context(), k.User, k.ID)
	if err != nil {
		return err
	}
	v.Used = use
	return p.renderStatus(status, "key-limits", v)
}

// keyLimits shows the limits of one of the person's own keys.
func (c *Console) keyLimits(p *page) error {
	k, err := c.keyAt(p, p.person.ID)
	if err != nil {
		return err
	}
	return c.showLimits(p, k, nil, http.StatusOK, filledLimits(k.Limits))
}

// limitKey sets the limits of one of the person's own keys: they bound a program, not the person, who may change them.
func (c *Console) limitKey(p *page) error {
	k, err := c.keyAt(p, p.person.ID)
	if err != nil {
		return err
	}
	return c.setLimits(p, k, nil, keyTitle(k), "keys")
}

// userKeyLimits shows the limits of a user's key to an operator.
func (c *Console) userKeyLimits(p *page) error {
	v, err := c.userKey(p)
	if err != nil {
		return err
	}
	return c.showLimits(p, v.Key, &v.User, http.StatusOK, filledLimits(v.Key.Limits))
}

// limitUserKey sets the limits of a user's key, for an operator. The user may change them again.
func (c *Console) limitUserKey(p *page) error {
	v, err := c.userKey(p)
	if err != nil {
		return err
	}
	return c.setLimits(p, v.Key, &v.User, v.title(), "users", string(v.User.ID))
}

// setLimits replaces the limits of a key with those of the form. named is the key's name in the message, back the
// page to go to. Programs that use the key meet the new limits at once, and what the key has used so far counts.
func (c *Console) setLimits(p *page, k imagegen.Key, u *imagegen.User, named string, back ...string) error {
	f, err := p.form()
	if err != nil {
		return err
	}
	l := f.limits()
	if f.valid() {
		_, err := c.cfg.Engine.Accounts().LimitKey(p.context(), k.ID, l)
		if err = f.refuse("", err); err != nil {
			return err
		}
	}
	if !f.valid() {
		return c.showLimits(p, k, u, http.StatusUnprocessableEntity, f)
	}
	now := keyOfUser{Key: imagegen.Key{Limits: l}}.Limited()
	if now == "" {
		return p.done(named+" has no limits.", back...)
	}
	return p.done(named+" is limited to "+now+".", back...)
}
