package keys

import (
	"net/http"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/samples"
)

// newKeyView is the data of key-new.html.
type newKeyView struct {
	imagegen.Key
	Raw  string // the key itself
	Curl string // a command that tries the key at no cost
}

// namedKey is the key that the path names.
type namedKey struct {
	imagegen.Key
	User *imagegen.User // whose key an operator looks at; nil: the key is the person's own
}

// WithKey returns a handler that finds the key that the path names, for another: one of the person or, if the path
// names a user too, one of that user. ErrNotFound: there is none.
func WithKey(h func(p *frame.Page, k namedKey) error) frame.Handler {
	find := func(p *frame.Page, of imagegen.UserID, u *imagegen.User) error {
		all, err := p.Engine.Accounts().Keys(p.Context(), of)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(k imagegen.Key) bool { return string(k.ID) == p.Request.PathValue("key") })
		if i < 0 {
			return imagegen.ErrNotFound
		}
		return h(p, namedKey{all[i], u})
	}
	return func(p *frame.Page) error {
		if p.Request.PathValue("user") == "" {
			return find(p, p.Person.ID, nil)
		}
		return frame.WithUser(func(p *frame.Page, u imagegen.User) error { return find(p, u.ID, &u) })(p)
	}
}

// title names the key, and the user if it is another's, at the beginning of a sentence. A key that was not made in the
// console may have no name; then its first characters identify it.
func (k namedKey) title() string {
	title := "The key “" + k.Name + "”"
	if k.Name == "" {
		title = "The key " + k.Prefix + "…"
	}
	if k.User != nil {
		title += " of " + k.User.Name
	}
	return title
}

// listed are the segments of the page that lists the key.
func (k namedKey) listed() []string {
	if k.User != nil {
		return []string{"users", string(k.User.ID)}
	}
	return []string{"keys"}
}

// Created shows a raw key, once: only its hash is stored. If the page is loaded again, it says so.
func Created(p *frame.Page, k namedKey) error {
	if p.Request.Method == http.MethodHead {
		return nil // a HEAD shows nothing, so it must not use up the key
	}
	var raw string
	kind := newKeyKind + string(k.ID)
	cookie, ok := p.Cookie(kind)
	if ok {
		p.RemoveCookie(kind)
		var err error
		if ok, err = p.Unseal(kind, p.Person.Owner(), cookie, &raw); err != nil {
			return err
		}
	}
	if !ok {
		return p.RedirectWith("A key is shown once only. If you did not keep it, revoke it and create another.", "keys")
	}
	return p.Render("key-new", newKeyView{k.Key, raw, samples.CurlBalance(p.Origin(), raw)})
}

// ConfirmRevoke asks first: programs that use the key stop working, and a revocation cannot be undone.
func ConfirmRevoke(p *frame.Page, k namedKey) error {
	switch {
	case !k.RevokedAt.IsZero():
		return p.RedirectWith(k.title()+" is revoked already.", k.listed()...)
	case k.User != nil:
		return p.Render("user-key", k)
	}
	return p.Render("key-revoke", k)
}

// Revoke revokes a key. Operators can do so too, but cannot make keys for others. Doing it again changes nothing.
func Revoke(p *frame.Page, k namedKey) error {
	if _, err := p.Engine.Accounts().RevokeKey(p.Context(), k.ID); err != nil {
		return err
	}
	return p.RedirectWith(k.title()+" is revoked.", k.listed()...)
}
