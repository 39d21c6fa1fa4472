package console

import "github.com/imagegend/imagegend/imagegen"

// userKeyView is the data of user-key.html.
type userKeyView struct {
	User imagegen.User
	Key  imagegen.Key
}

// title names the key and its user, at the beginning of a sentence.
func (v userKeyView) title() string { return keyTitle(v.Key) + " of " + v.User.Name }

// userKey returns the user and the key that the address names. ErrNotFound: the key is not that user's, too.
func (c *Console) userKey(p *page) (v userKeyView, err error) {
	if v.User, err = c.userAt(p); err != nil {
		return v, err
	}
	v.Key, err = c.keyAt(p, v.User.ID)
	return v, err
}

func (c *Console) confirmRevokeUserKey(p *page) error {
	v, err := c.userKey(p)
	if err != nil {
		return err
	}
	if !v.Key.RevokedAt.IsZero() {
		return p.done(v.title()+" is revoked already.", "users", string(v.User.ID))
	}
	return p.render("user-key", v)
}

// revokeUserKey revokes a user's key, for an operator. It only ever takes away: operators cannot make keys for others.
func (c *Console) revokeUserKey(p *page) error {
	v, err := c.userKey(p)
	if err != nil {
		return err
	}
	if _, err := c.cfg.Engine.Accounts().RevokeKey(p.context(), v.Key.ID); err != nil {
		return err
	}
	return p.done(v.title()+" is revoked.", "users", string(v.User.ID))
}
