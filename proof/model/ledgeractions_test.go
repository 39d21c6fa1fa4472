package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
)

// grant adds a lot, or repeats one, or cannot.
func (w *ledgerRun) grant(t *rapid.T) {
	g := imagegen.Grant{
		User:     someUser(t),
		Credits:  pick[imagegen.Credits](t, "credits", 20, 50, 35, 7, 80, 100, 0, imagegen.MaxCredits),
		Promo:    pick(t, "promo", false, true),
		Priority: pick(t, "priority", 0, 1, 50, 51, 101),
		Ref:      pick(t, "ref", "", "", "", "", "", "", "", "", "a", "b", "c"),
	}
	if lives := pick(t, "lives", 0, 5*time.Hour, 30*time.Hour, time.Hour, 2*time.Hour, 100*time.Hour, 0, 0,
		-time.Hour); lives != 0 {
		w.books.look(time.Now())
		g.Expires = w.books.now.Truncate(time.Hour).Add(lives) // so that some expire together
	}
	var lot imagegen.Lot
	w.do(fmt.Sprintf("%+v", g), func() (any, error) {
		granted, err := w.Grant(w.Context(), g)
		lot = granted.Lot
		return lot, err
	}, func() (any, error) {
		l, err := w.books.grant(g)
		if err != nil {
			return nil, err
		}
		if l.ID == "" {
			l.ID = lot.ID
		}
		return w.books.shown(l), nil
	})
}

func (w *ledgerRun) charge(t *rapid.T) {
	c := imagegen.Charge{
		ID:      w.someCharge(t),
		User:    someUser(t),
		Credits: pick[imagegen.Credits](t, "credits", 4, 2, 12, 3, 25, 9, 6, 2, 16, 60, 5, 0),
		Member:  pick(t, "member", "", "", members[0], members[1]),
	}
	w.do(fmt.Sprintf("%+v", c), func() (any, error) { return nil, w.Charge(w.Context(), c) },
		func() (any, error) { return nil, w.books.charge(c) })
}

// someUser is hardly ever nobody.
func someUser(t *rapid.T) imagegen.UserID {
	of := slices.Repeat(users, 4)
	return pick(t, "user", slices.Insert(of, len(of)/2, "")...)
}

// someCharge is a new charge more often than not.
func (w *ledgerRun) someCharge(t *rapid.T) imagegen.ChargeID {
	n := pick(t, "charge", len(w.books.charges), len(w.books.charges), rapid.IntRange(0, 40).Draw(t, "any charge"))
	if n == 40 {
		return ""
	}
	return imagegen.ChargeID(fmt.Sprint("c", n))
}

// settle prefers charges that are open, and closes them whole, in part or not at all.
func (w *ledgerRun) settle(t *rapid.T) {
	id := w.someCharge(t)
	if open := w.books.open(); len(open) > 0 && pick(t, "open", true, true, true, false) {
		id = pick(t, "which", open...)
	}
	used := pick[imagegen.Credits](t, "used", 1, 2, 5, -1)
	c := w.books.charges[id]
	if c != nil {
		used = pick(t, "part", c.Credits, 0, c.Credits/2, used, c.used, c.Credits+1)
	}
	changed := w.do(fmt.Sprintf("settle %s to %d", id, used), func() (any, error) {
		return nil, w.Settle(w.Context(), id, used)
	},
		func() (any, error) { return nil, w.books.settle(id, used) })
	switch {
	case !changed || c == nil:
	case used == c.Credits:
		w.met.Add("succeeded", 1)
	case used > 0:
		w.met.Add("partial", 1)
	default:
		w.met.Add("failed", 1)
	}
}

func (w *ledgerRun) revoke(t *rapid.T) {
	r := imagegen.Revocation{
		User:    someUser(t),
		Credits: pick[imagegen.Credits](t, "credits", 1, 3, 8, 20, 0),
		Ref:     pick(t, "ref", "", "", "", "", "", "", "", "a", "b", "c"),
	}
	if len(w.books.lots) > 0 && pick(t, "one lot", false, true) {
		r.Lot = pick(t, "lot", w.books.lots...).ID // of any user, and not every one can be revoked
	} else if pick(t, "no lot", false, false, true) {
		r.Lot = "lot_7_9"
	}
	w.do(fmt.Sprintf("%+v", r), func() (any, error) { got, err := w.Revoke(w.Context(), r); return got.Entry, err },
		func() (any, error) { return w.books.revoke(r) })
}

// hurry has an operation whose context has ended, so that it is not done.
func (w *ledgerRun) hurry(t *rapid.T) {
	ctx, cancel := context.WithCancel(w.Context())
	cancel()
	id := w.someCharge(t)
	operation := pick(t, "operation",
		func() error { return w.Charge(ctx, imagegen.Charge{ID: id, User: users[0], Credits: 1}) },
		func() error { return w.Settle(ctx, id, 0) },
		func() error { _, err := w.Grant(ctx, imagegen.Grant{User: users[0], Credits: 1}); return err },
		func() error { _, err := w.Revoke(ctx, imagegen.Revocation{User: users[0], Credits: 1}); return err })
	if err := operation(); !errors.Is(err, imagegen.ErrNotApplied) {
		w.Fatalf("in a hurry: got %v, want %v", err, imagegen.ErrNotApplied)
	}
	w.met.Add("unavailable", 1)
}
