package console

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// maxKeys is how many API keys a user can make here, including revoked ones, since all of them are read for each
// page. Keys made concurrently may exceed it slightly.
const maxKeys = 1000

// keysPerPage is how many API keys a page lists.
const keysPerPage = 50

// keysView is the data of keys.html.
type keysView struct {
	Form  *form
	Lives []option // the lifetimes that a new key can have
	Lines []keyOfUser
	Pager pager
}

// Values of the field life that are no number of days.
const (
	forever = "never"
	ownDay  = "own" // the field day has the last day
)

// keyLifetimes are the choices of the field life; a number is one of days.
var keyLifetimes = []option{{forever, "never expires"}, {"30", "30 days"}, {"90", "90 days"}, {"365", "365 days"}, {ownDay, "until a day of your own"}}

func (c *Console) keys(p *page) error { return c.showKeys(p, http.StatusOK, filled("life", forever)) }

// showKeys renders the page with the form for a new key, which may have faults.
func (c *Console) showKeys(p *page, status int, f *form) error {
	v := keysView{Form: f, Lives: keyLifetimes}
	var err error
	if v.Lines, v.Pager, err = c.keysOf(p, p.person.ID); err != nil {
		return err
	}
	return p.renderStatus(status, "keys", v)
}

// keyOfUser is a key in a list, with its status.
type keyOfUser struct {
	imagegen.Key
	Status string
}

// keysOf returns the page of a user's keys that the address asks for, newest first.
func (c *Console) keysOf(p *page, u imagegen.UserID) (lines []keyOfUser, links pager, err error) {
	all, err := c.cfg.Engine.Accounts().Keys(p.context(), u)
	shown, next := newestKeys(all, imagegen.KeyID(p.r.URL.Query().Get("after")))
	for _, k := range shown {
		lines = append(lines, keyOfUser{k, stateOfKey(k, p.now)})
	}
	return lines, p.pager("after", string(next)), err
}

// stateOfKey says in a word whether a key works; the word is also a CSS class.
func stateOfKey(k imagegen.Key, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return "expired"
	}
	return "active"
}

// newestKeys returns a page of keys, newest first, that begins behind the given key. If there is no such key, it is
// the first page. next is what to give for the next page; "": there is none.
func newestKeys(all []imagegen.Key, after imagegen.KeyID) (shown []imagegen.Key, next imagegen.KeyID) {
	shown = slices.Clone(all)
	slices.Reverse(shown)
	if i := slices.IndexFunc(shown, func(k imagegen.Key) bool { return k.ID == after }); i >= 0 {
		shown = shown[i+1:]
	}
	if len(shown) > keysPerPage {
		shown = shown[:keysPerPage]
		next = shown[keysPerPage-1].ID
	}
	return shown, next
}

// createKey makes a key and redirects to the page that shows it. The answer to the form itself does not: loading that
// again would make another key.
func (c *Console) createKey(p *page) error {
	f, err := p.form()
	if err != nil {
		return err
	}
	name, expires, limits := f.Value("name"), f.expiry(p.now), f.limits()
	if name == "" {
		f.addFault("name", "Give the key a name, such as that of the program that will use it.")
	}
	if !f.valid() {
		return c.showKeys(p, http.StatusUnprocessableEntity, f)
	}
	// The limit is the console's own; keys made otherwise count, but are not refused.
	all, err := c.cfg.Engine.Accounts().Keys(p.context(), p.person.ID)
	if err != nil {
		return err
	}
	if len(all) >= maxKeys {
		f.addFault("name", "You have made %d keys, and there can be no more. Ask the operator for another user.", len(all))
		return c.showKeys(p, http.StatusUnprocessableEntity, f)
	}
	raw, k, err := c.cfg.Engine.Accounts().MintLimitedKey(p.context(), p.person.ID, name, expires, limits)
	if err = f.refuse("name", err); err != nil {
		return err
	}
	if !f.valid() {
		return c.showKeys(p, http.StatusUnprocessableEntity, f)
	}
	c.unseen.put(p.person.signIn.Hash, unseenKey{k.ID, raw, p.now})
	return p.redirect("keys", string(k.ID), "created")
}

// expiry reads when a new key expires; zero: never. If the form has a fault there, the value means nothing.
func (f *form) expiry(now time.Time) time.Time {
	life := f.Value("life")
	switch {
	case life == forever:
		return time.Time{}
	case life == ownDay && f.Value("day") == "":
		f.addFault("day", "Enter the last day on which the key works.")
	case life == ownDay:
		return f.lastDay("day", now)
	case !slices.ContainsFunc(keyLifetimes, func(o option) bool { return o.Value == life }):
		f.addFault("life", "Choose how long the key works.")
	}
	days, _ := strconv.Atoi(life) // one of keyLifetimes, or there is a fault
	return now.AddDate(0, 0, days)
}
