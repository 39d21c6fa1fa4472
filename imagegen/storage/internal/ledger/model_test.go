package ledger_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// model is the plainest ledger: lists that it sorts and goes over. It is not made for speed, and
// shares no code with the ledger.
type model struct {
	lots    []*imagegen.Lot
	refunds []*imagegen.Lot // those of them that came of credits whose lot had expired
	charges map[imagegen.ChargeID]*modelCharge
}

type modelCharge struct {
	imagegen.Charge
	settled bool
	used    imagegen.Credits
	parts   []modelPart
}

type modelPart struct {
	lot  *imagegen.Lot
	took imagegen.Credits
}

// of returns the user's lots in the order in which they are consumed, with what has expired by now written off.
func (m *model) of(u imagegen.UserID) (lots []*imagegen.Lot) {
	for _, l := range m.lots {
		if l.User == u {
			lots = append(lots, l)
		}
		if m.expired(l) {
			l.Expired, l.Remaining = l.Expired+l.Remaining, 0
		}
	}
	slices.SortStableFunc(lots, func(a, b *imagegen.Lot) int {
		return cmp.Or(a.Priority-b.Priority, compareExpiry(a, b), compareGift(a, b), a.Effective.Compare(b.Effective))
	})
	return lots
}

func (m *model) expired(l *imagegen.Lot) bool {
	return !l.Expires.IsZero() && !time.Now().Before(l.Expires)
}

// present is the time as it comes back from the ledger.
func present() time.Time { return time.Now().UTC().Round(0) }

func compareExpiry(a, b *imagegen.Lot) int {
	if a.Expires.IsZero() || b.Expires.IsZero() {
		return b.Expires.Compare(a.Expires) // the zero time is never, and last
	}
	return a.Expires.Compare(b.Expires)
}

func compareGift(a, b *imagegen.Lot) int {
	switch {
	case a.Promo == b.Promo:
		return 0
	case a.Promo:
		return -1
	}
	return 1
}

func (m *model) balance(u imagegen.UserID) (b imagegen.Balance) {
	for _, l := range m.of(u) {
		b.Credits += l.Remaining
		next := b.NextExpiration
		switch {
		case l.Expires.IsZero() || l.Remaining == 0 || next != nil && next.At.Before(l.Expires):
		case next != nil && next.At.Equal(l.Expires):
			next.Credits += l.Remaining
		default:
			b.NextExpiration = &imagegen.Expiration{Credits: l.Remaining, At: l.Expires}
		}
	}
	return b
}

func (m *model) list(u imagegen.UserID) (lots []imagegen.Lot) {
	for _, l := range m.of(u) {
		if l.Remaining+l.Held > 0 {
			lots = append(lots, *l)
		}
	}
	return lots
}

func (m *model) take(u imagegen.UserID, c imagegen.Credits) (parts []modelPart, err error) {
	if m.balance(u).Credits < c {
		return nil, imagegen.ErrInsufficientCredits
	}
	for _, l := range m.of(u) {
		if took := min(c, l.Remaining); took > 0 {
			l.Remaining -= took
			c -= took
			parts = append(parts, modelPart{l, took})
		}
	}
	return parts, nil
}

func (m *model) charge(c imagegen.Charge) error {
	switch former := m.charges[c.ID]; {
	case former != nil && former.settled:
		return imagegen.ErrChargeClosed
	case former != nil && !former.Charge.Same(c):
		return imagegen.ErrChargeConflict
	case former != nil:
		return nil
	}
	parts, err := m.take(c.User, c.Credits)
	if err != nil {
		return err
	}
	for _, p := range parts {
		p.lot.Held += p.took
	}
	m.charges[c.ID] = &modelCharge{Charge: c, parts: parts}
	return nil
}

func (m *model) settle(id imagegen.ChargeID, used imagegen.Credits) error {
	c := m.charges[id]
	switch {
	case c == nil && used == 0:
		m.charges[id] = &modelCharge{settled: true}
		return nil
	case c == nil:
		return imagegen.ErrNotFound
	case c.settled && c.used == used:
		return nil
	case c.settled || used < 0 || used > c.Credits:
		return imagegen.ErrChargeConflict
	}
	c.settled, c.used = true, used
	var refunds []*imagegen.Lot
	for back := c.Credits - used; len(c.parts) > 0; c.parts = c.parts[:len(c.parts)-1] { // the last taken comes back first
		p := c.parts[len(c.parts)-1]
		returned := min(back, p.took)
		back -= returned
		p.lot.Held -= p.took
		p.lot.Spent += p.took - returned
		until := p.lot.Expires.Add(24 * time.Hour)
		if slices.Contains(m.refunds, p.lot) {
			until = p.lot.Expires
		}
		if returned > 0 && m.expired(p.lot) && time.Now().Before(until) {
			p.lot.Moved += returned
			refunds = append(refunds, &imagegen.Lot{User: c.User, Granted: returned, Remaining: returned, Promo: p.lot.Promo, Priority: p.lot.Priority,
				Effective: present(), Expires: until})
		} else {
			p.lot.Remaining += returned
		}
	}
	slices.Reverse(refunds)
	m.lots = append(m.lots, refunds...)
	m.refunds = append(m.refunds, refunds...)
	return nil
}

func (m *model) grant(g imagegen.Grant) {
	m.lots = append(m.lots, &imagegen.Lot{User: g.User, Granted: g.Credits, Remaining: g.Credits, Promo: g.Promo, Priority: g.Priority,
		Effective: present(), Expires: g.Expires})
}

func (m *model) revoke(u imagegen.UserID, c imagegen.Credits) error {
	parts, err := m.take(u, c)
	for _, p := range parts {
		p.lot.Revoked += p.took
	}
	return err
}

// Random operations at random times give what the model gives, lot by lot, also after reopening.
func TestAgainstModel(t *testing.T) {
	for n := range uint64(60) {
		name, seed := []string{"key-value", "memory"}[n%2], n/2
		t.Run(fmt.Sprint(name, " seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &walk{openAt(t, stores[name]()), &model{charges: make(map[imagegen.ChargeID]*modelCharge)}, rand.New(rand.NewPCG(seed, 1))}
				for range 250 {
					u := []imagegen.UserID{"alice", "bob", "bobby"}[w.r.IntN(3)]
					what := w.step(t.Context(), u)
					w.compare(what, u)
				}
				w.sound()
			})
		})
	}
}

type walk struct {
	*fixture
	m *model
	r *rand.Rand
}

func (w *walk) amount(most int) imagegen.Credits { return imagegen.Credits(1 + w.r.IntN(most)) }

func (w *walk) step(ctx context.Context, u imagegen.UserID) string {
	id := imagegen.ChargeID(fmt.Sprint("c", w.r.IntN(80)))
	switch w.r.IntN(12) {
	case 0, 1:
		g := imagegen.Grant{User: u, Credits: w.amount(40), Promo: w.r.IntN(2) == 0, Priority: 1 + w.r.IntN(2)}
		if w.r.IntN(3) > 0 {
			g.Expires = present().Add(time.Hour * time.Duration(1+w.r.IntN(6)))
		}
		w.grant(g)
		w.m.grant(g)
		return fmt.Sprintf("grant %+v", g)
	case 2, 3, 4, 5:
		c := imagegen.Charge{ID: id, User: u, Credits: w.amount(50)}
		return w.same(fmt.Sprintf("charge %+v", c), w.Charge(ctx, c), w.m.charge(c))
	case 6, 7, 8:
		used := imagegen.Credits(w.r.IntN(40) - 1)
		return w.same(fmt.Sprintf("settle %s %d", id, used), w.Settle(ctx, id, used), w.m.settle(id, used))
	case 9:
		r := imagegen.Revocation{User: u, Credits: w.amount(20)}
		_, err := w.Revoke(ctx, r)
		return w.same(fmt.Sprintf("revoke %+v", r), err, w.m.revoke(r.User, r.Credits))
	case 10:
		time.Sleep(time.Duration(w.r.Int64N(int64(time.Hour))))
		return "sleep"
	default:
		if _, err := w.Expire(ctx); err != nil {
			w.Fatal(err)
		}
		w.reopen(time.Now)
		return "reopen"
	}
}

func (w *walk) same(what string, got, want error) string {
	w.Helper()
	if !errors.Is(got, want) {
		w.Fatalf("%s: got %v, want %v", what, got, want)
	}
	return what
}

func (w *walk) compare(what string, u imagegen.UserID) {
	w.Helper()
	balance, err := w.Balance(w.Context(), u)
	w.is.NoErr(err)
	if b := w.m.balance(u); !reflect.DeepEqual(b, balance) {
		w.Fatalf("%s: balance of %s: %s", what, u, diff.Diff(b, balance))
	}
	got, want := w.lots(u), w.m.list(u)
	for i := range got {
		got[i].ID = "" // the model has none
	}
	if !slices.Equal(want, got) {
		w.Fatalf("%s: lots of %s: %s", what, u, diff.Diff(want, got))
	}
}
