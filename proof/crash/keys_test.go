package crash_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// keyring is what an operator learned of a user and a key, and has done with them.
type keyring struct {
	user    imagegen.User
	raw     imagegen.Secret
	key     imagegen.Key
	promote operatorAct
	suspend operatorAct
	resume  operatorAct
	disable operatorAct
	revoke  operatorAct
}

// operatorAct is something that an operator repeats until an answer says that it is done.
type operatorAct struct{ begun, done bool }

// playKeys has an operator make a user and a key, a client use it, and the operator revoke it. What
// is not certain, the operator does again.
func playKeys(w *world) {
	k := &w.keys
	w.makeUser()
	if k.user.ID != "" {
		w.see(&k.promote, func() error { return w.engine.Accounts().SetAccountType(w.Context(), k.user.ID, "TEAM") })
		w.see(&k.suspend, func() error { return w.engine.Accounts().SuspendUser(w.Context(), k.user.ID) })
		w.see(&k.resume, func() error { return w.engine.Accounts().ResumeUser(w.Context(), k.user.ID) })
		w.see(&k.disable, func() error { return w.engine.Accounts().DisableUser(w.Context(), k.user.ID) })
	}
	w.makeKey()
	if len(w.clientOrders) == 0 && w.authenticated() {
		w.generate(w.Context(), alice, keyed(fox("a", 1, false)))
	}
	w.repeatDoubtful()
	w.settle()
	time.Sleep(2 * time.Minute) // it is written down when the key was used
	if k.raw != "" && w.listed() {
		w.see(&k.revoke, func() error {
			_, err := w.engine.Accounts().RevokeKey(w.Context(), k.key.ID)
			return err
		})
	}
}

// tries is how often an operator tries something before giving up.
const tries = 3

func (w *world) makeUser() {
	for range tries {
		if w.keys.user.ID != "" || w.steps.gone() {
			return
		}
		_, err := w.engine.Accounts().CreateUser(w.Context(), "ann", "PRO")
		if err != nil && !errors.Is(err, imagegen.ErrExists) {
			continue
		}
		u, err := w.engine.Accounts().UserByName(w.Context(), "ann")
		if err == nil && !w.steps.gone() {
			w.keys.user = u
		}
	}
}

func (w *world) makeKey() {
	for range tries {
		if w.keys.raw != "" || w.steps.gone() {
			return
		}
		raw, k, err := w.engine.Accounts().MintKey(w.Context(), alice, "laptop", time.Time{})
		if err == nil && !w.steps.gone() {
			w.keys.raw, w.keys.key = raw, k
		}
	}
}

// authenticated reports whether the key is known for what it is.
func (w *world) authenticated() bool {
	for range tries {
		s, err := w.engine.Authenticate(w.Context(), w.keys.raw.Reveal())
		if err == nil {
			return s.User() == alice
		}
		if errors.Is(err, imagegen.ErrInvalidKey) && w.keys.raw != "" {
			w.Errorf("the key was made, and is refused: %v", err)
		}
	}
	return false
}

// listed reports whether the key is among the owner's, whom the operator looks it up for.
func (w *world) listed() bool {
	for range tries {
		ks, err := w.engine.Accounts().Keys(w.Context(), alice)
		if err == nil && !slices.ContainsFunc(ks, func(k imagegen.Key) bool { return k.ID == w.keys.key.ID }) {
			w.Errorf("key %s was made, and is not among %d", w.keys.key.ID, len(ks))
		}
		if err == nil {
			return true
		}
	}
	return false
}

func (w *world) see(d *operatorAct, do func() error) {
	for range tries {
		if d.done || w.steps.gone() {
			return
		}
		d.begun = true
		err := do()
		d.done = err == nil && !w.steps.gone()
	}
}

// judgeKeys: who was made is there, a key works once it was made, and never again once it was revoked.
func (w *world) judgeKeys() {
	k := w.keys
	if k.user.ID != "" {
		u, err := w.db.User(context.Background(), k.user.ID)
		if err != nil || u.Name != k.user.Name {
			w.Errorf("user %v was made, and is %v: %v", k.user, u, err)
		}
		k.promote.judge(w, "the change of the account type", u.AccountType == "TEAM")
		switch suspended := !u.SuspendedAt.IsZero(); {
		case suspended:
			k.suspend.judge(w, "the suspension", true)
			k.resume.judge(w, "the resumption", false)
		case !k.resume.begun:
			k.suspend.judge(w, "the suspension", false)
		}
		k.disable.judge(w, "the disabling", !u.DisabledAt.IsZero())
	}
	if k.raw == "" {
		return
	}
	there, err := w.db.KeyByHash(context.Background(), k.key.Hash)
	if err != nil || there.ID != k.key.ID || there.User != alice {
		w.Errorf("key %s was made, and is %s: %v", k.key.ID, there.ID, err)
	}
	k.revoke.judge(w, "the revocation", !there.RevokedAt.IsZero())
}

// judge holds what the operator knows of a operatorAct against the result.
func (d operatorAct) judge(w *world, what string, done bool) {
	if d.done && !done || !d.begun && done {
		w.Errorf("%s was begun: %t, answered as done: %t; it is done: %t", what, d.begun, d.done, done)
	}
}
