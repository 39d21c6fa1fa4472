// Package keys has the pages about API keys: for their users and, below the address of a user, for operators.
package keys

import (
	"embed"
	"slices"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/limits"
)

//go:embed templates
var sources embed.FS

// Templates are those of the pages.
var Templates = frame.Templates{Files: sources}

// maxKeys is how many API keys a user can make here, including revoked ones, since all of them are read for each
// page. Keys made concurrently may exceed it slightly.
const maxKeys = 1000

// keysPerPage is how many API keys a page lists.
const keysPerPage = 50

// unseenFor is how long a new raw key waits to be shown. A browser follows the redirect at once.
const unseenFor = time.Minute

// newKeyKind begins the kind as which a new raw key is sealed, and the name of its cookie.
const newKeyKind = "new-"

// keysView is the data of keys.html.
type keysView struct {
	Form  *form.Form
	Lives []form.Option // the lifetimes that a new key can have
	Lines []Line
	Pager frame.Pager
}

// Values of the field life that are not a number of days.
const (
	forever = "never"
	ownDay  = "own" // the field day has the last day
)

// keyLifetimes are the choices of the field life; a number is one of days.
var keyLifetimes = form.Options(forever, "never", "30", "30 days", "90", "90 days", "365", "365 days",
	ownDay, "until a day of your own")

// Keys lists the person's keys, with a form for a new one.
func Keys(p *frame.Page) error { return showKeys(p, form.Filled("life", forever)) }

// showKeys renders the page with the form for a new key, which may have faults.
func showKeys(p *frame.Page, f *form.Form) error {
	v := keysView{Form: f, Lives: keyLifetimes}
	var err error
	if v.Lines, v.Pager, err = List(p, p.Person.ID); err != nil {
		return err
	}
	return p.RenderForms("keys", v, f)
}

// Line is a key in a list, with its status.
type Line struct {
	imagegen.Key
	Status string
}

// List returns the page of a user's keys that the address asks for, newest first.
func List(p *frame.Page, u imagegen.UserID) (lines []Line, links frame.Pager, err error) {
	all, err := p.Engine.Accounts().Keys(p.Context(), u)
	shown, next := newestKeys(all, imagegen.KeyID(p.Query().Get("after")))
	for _, k := range shown {
		lines = append(lines, Line{k, statusOf(k, p.Now)})
	}
	return lines, p.Pager("after", string(next)), err
}

// statusOf says in a word whether a key works; the word is also a CSS class.
func statusOf(k imagegen.Key, now time.Time) string {
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

// CreateKey makes a key and redirects to the page that shows it. The answer to the form itself does not: loading that
// again would make another key.
func CreateKey(p *frame.Page, f *form.Form) error {
	name, expires := f.Value("name"), readExpiry(f, p.Now)
	bounds := limits.Read(f, imagegen.KeyLimits{})
	if name == "" {
		f.AddFault("name", "Give the key a name, such as that of the program that will use it.")
	}
	if !f.Valid() {
		return showKeys(p, f)
	}
	// The limit is the console's own; keys made otherwise count, but are not refused.
	all, err := p.Engine.Accounts().Keys(p.Context(), p.Person.ID)
	if err != nil {
		return err
	}
	if len(all) >= maxKeys {
		f.AddFault("name", "You have made %d keys, and there can be no more. Ask the operator for another user.",
			len(all))
		return showKeys(p, f)
	}
	raw, k, err := p.Engine.Accounts().MintLimitedKey(p.Context(), p.Person.ID, name, expires, bounds)
	if err = f.AddError("name", err); err != nil {
		return err
	}
	if !f.Valid() {
		return showKeys(p, f)
	}
	// The page that shows the key opens the cookie, at whichever node, and removes it.
	sealed, err := p.Seal(newKeyKind+string(k.ID), p.Person.Owner(), unseenFor, raw.Reveal())
	if err != nil {
		return err
	}
	p.SetCookie(newKeyKind+string(k.ID), sealed, unseenFor)
	return p.Redirect("keys", string(k.ID), "created")
}

// readExpiry reads when a new key expires; zero: never. If the form has a fault there, the value means nothing.
func readExpiry(f *form.Form, now time.Time) time.Time {
	life := f.Value("life")
	switch {
	case life == forever:
		return time.Time{}
	case life == ownDay && f.Value("day") == "":
		f.AddFault("day", "Enter the last day on which the key works.")
	case life == ownDay:
		return f.LastDay("day", now)
	case !slices.ContainsFunc(keyLifetimes, func(o form.Option) bool { return o.Value == life }):
		f.AddFault("life", "Choose how long the key works.")
	}
	days, _ := strconv.Atoi(life) // one of keyLifetimes, or there is a fault
	return now.AddDate(0, 0, days)
}
