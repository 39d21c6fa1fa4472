package console

import (
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// userKeyView is what user-key.html is given.
type userKeyView struct {
	User imagegen.User
	Key  imagegen.Key
}

// keyOfUser is a key in a list.
type keyOfUser struct {
	imagegen.Key
	Status string
}

// keysOf is the page of a user's keys that the address asks for, newest first.
func (c *Console) keysOf(p *page, u imagegen.UserID) (lines []keyOfUser, links pager, err error) {
	all, err := c.cfg.Engine.Accounts().Keys(p.context(), u)
	shown, next := newestKeys(all, imagegen.KeyID(p.r.URL.Query().Get("after")))
	for _, k := range shown {
		lines = append(lines, keyOfUser{k, stateOfKey(k, p.now)})
	}
	return lines, p.pager("after", string(next)), err
}

// stateOfKey says in a word whether a key works.
func stateOfKey(k imagegen.Key, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return "expired"
	}
	return "active"
}

// userKey is the key that the address names, if it is the user's.
func (c *Console) userKey(p *page) (v userKeyView, err error) {
	if v.User, err = c.userAt(p); err != nil {
		return v, err
	}
	keys, err := c.cfg.Engine.Accounts().Keys(p.context(), v.User.ID)
	i := slices.IndexFunc(keys, func(k imagegen.Key) bool { return string(k.ID) == p.r.PathValue("key") })
	if err == nil && i < 0 {
		err = imagegen.ErrNotFound
	}
	if err == nil {
		v.Key = keys[i]
	}
	return v, err
}

func (c *Console) confirmRevokeUserKey(p *page) error {
	v, err := c.userKey(p)
	if err != nil {
		return err
	}
	return p.render("user-key", v)
}

func (c *Console) revokeUserKey(p *page) error {
	v, err := c.userKey(p)
	if err != nil {
		return err
	}
	if _, err := c.cfg.Engine.Accounts().RevokeKey(p.context(), v.Key.ID); err != nil {
		return err
	}
	return p.done("The key “"+v.Key.Name+"” of "+v.User.Name+" is revoked.", "users", string(v.User.ID))
}
