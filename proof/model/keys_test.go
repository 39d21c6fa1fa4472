package model_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// limitedKey is an API key that may spend so much in all.
type limitedKey struct {
	raw   string
	limit imagegen.Credits
}

// mint gives everybody who asks without another's key one with a limit. Beside a ledger outside there can be none.
func (w *service) mint(t *rapid.T) {
	w.keys = map[imagegen.UserID]limitedKey{}
	if w.outsideLedger != nil {
		return
	}
	for _, u := range []imagegen.UserID{alice, "bob", carol} {
		limit := pick[imagegen.Credits](t, "limit", 12, 40, 3)
		raw, _, err := w.Accounts().MintLimitedKey(w.Context(), u, "limited", time.Time{},
			imagegen.KeyLimits{Credits: limit})
		if err != nil {
			w.Fatal(err)
		}
		w.keys[u] = limitedKey{raw.Reveal(), limit}
	}
}

// client is by which an order is asked.
func (w *service) client(o *order) (imagegen.Service, error) {
	switch {
	case o.user == dora.ID:
		return w.Authenticate(account.WithPerson(w.Context(), person), w.class.key.Reveal())
	case o.limited:
		return w.Authenticate(w.Context(), w.keys[o.user].raw)
	}
	return w.As(o.user), nil
}

// over reports whether an order that is not accepted asks for more than its key, or its user as a member, may spend:
// what others have back counts not.
func (w *service) over(o *order) bool {
	return o.limited && w.spent(o.user)+o.charge().Credits > w.keys[o.user].limit || w.overMember(o)
}

// spent is what the key of a user was charged, without what came back.
func (w *service) spent(u imagegen.UserID) (sum imagegen.Credits) {
	for _, o := range w.orders {
		switch {
		case o.user != u || !o.limited || !o.accepted():
		case o.completed.IsZero():
			sum += o.charge().Credits
		default:
			sum += o.used()
		}
	}
	return sum
}
