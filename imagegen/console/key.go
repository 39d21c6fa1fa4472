package console

import (
	"net/http"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// newKeyView is the data of key-new.html.
type newKeyView struct {
	imagegen.Key
	Raw  string // the key itself
	Curl string // a command that tries the key at no cost
}

// keyAt returns the key that the address names. ErrNotFound: there is none, or it is another user's.
func (c *Console) keyAt(p *page, u imagegen.UserID) (imagegen.Key, error) {
	all, err := c.cfg.Engine.Accounts().Keys(p.context(), u)
	if err != nil {
		return imagegen.Key{}, err
	}
	i := slices.IndexFunc(all, func(k imagegen.Key) bool { return string(k.ID) == p.r.PathValue("key") })
	if i < 0 {
		return imagegen.Key{}, imagegen.ErrNotFound
	}
	return all[i], nil
}

// newKey shows a raw key, once: only its hash is stored. Whoever loads the page again, or goes back to it, is told so.
func (c *Console) newKey(p *page) error {
	k, err := c.keyAt(p, p.person.ID)
	if err != nil {
		return err
	}
	if p.r.Method == http.MethodHead {
		return nil // a HEAD shows nothing, so it must not use up the key
	}
	raw, ok := c.unseen.take(p.person.signIn.Hash, k.ID, p.now)
	if !ok {
		return p.done("A key is shown once only. If you did not keep it, revoke it and create another.", "keys")
	}
	return p.render("key-new", newKeyView{k, raw.Reveal(), curlBalance(p.origin(), raw)})
}

// curlBalance returns a command for a POSIX shell that asks for the balance with a key.
func curlBalance(origin string, key imagegen.Secret) string {
	return "curl -H " + shellQuote("Authorization: Bearer "+key.Reveal()) + " " + shellQuote(origin+"/api/v1/credits")
}

// confirmRevokeKey asks first: programs that use the key stop working, and a revocation cannot be undone.
func (c *Console) confirmRevokeKey(p *page) error {
	k, err := c.keyAt(p, p.person.ID)
	if err != nil {
		return err
	}
	if !k.RevokedAt.IsZero() {
		return p.done(keyTitle(k)+" is revoked already.", "keys")
	}
	return p.render("key-revoke", k)
}

// revokeKey revokes one of the person's keys. Whose key it is was checked by keyAt. Doing it again changes nothing.
func (c *Console) revokeKey(p *page) error {
	k, err := c.keyAt(p, p.person.ID)
	if err != nil {
		return err
	}
	if _, err := c.cfg.Engine.Accounts().RevokeKey(p.context(), k.ID); err != nil {
		return err
	}
	return p.done(keyTitle(k)+" is revoked.", "keys")
}

// keyTitle names a key at the beginning of a sentence. A key that was not made in the console may have no name; then
// its first characters identify it.
func keyTitle(k imagegen.Key) string {
	if k.Name == "" {
		return "The key " + k.Prefix + "…"
	}
	return "The key “" + k.Name + "”"
}
