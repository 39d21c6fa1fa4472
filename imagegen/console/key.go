package console

import (
	"net/http"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// newKeyView is what key-new.html is given.
type newKeyView struct {
	imagegen.Key
	Raw  string
	Curl string // a command that shows that the key works, and costs nothing
}

// keyAt is the key that the address names, if it is the user's.
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

// newKey shows a raw key, once: whoever loads the page again, or goes back to it, sees it no more.
func (c *Console) newKey(p *page) error {
	k, err := c.keyAt(p, p.person.ID)
	if err != nil {
		return err
	}
	if p.r.Method == http.MethodHead {
		return nil // shows nothing, and uses nothing up
	}
	raw, ok := c.unseen.take(p.person.signIn.Hash, k.ID, p.now)
	if !ok {
		return p.done("A key is shown once only. If you did not keep it, revoke it and create another.", "keys")
	}
	return p.render("key-new", newKeyView{k, raw.Reveal(), curlBalance(p.origin(), raw)})
}

func curlBalance(origin string, key imagegen.Secret) string {
	return "curl -H " + shellQuote("Authorization: Bearer "+key.Reveal()) + " " + shellQuote(origin+"/api/v1/credits")
}

// confirmRevokeKey asks first: programs that use the key stop working.
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

// keyTitle names a key; one that was made elsewhere may have no name.
func keyTitle(k imagegen.Key) string {
	if k.Name == "" {
		return "The key " + k.Prefix + "…"
	}
	return "The key “" + k.Name + "”"
}
