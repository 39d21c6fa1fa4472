package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// memberMark begins the key under which the charges for a member are summed up a second time, beside those of the API
// key: so the limits of members rest on the same rows as those of keys. No API key begins with it, see checkBill.
const memberMark = "\x01"

// MemberKey is the key under which the charges for a member are summed up.
func MemberKey(m imagegen.UserID) imagegen.KeyID { return memberMark + imagegen.KeyID(m) }

// UsageKey names a row of usage. A store keeps the rows so that those of one user's key can be read by day, and those
// of one day, of all users, without the other days.
type UsageKey struct {
	User  imagegen.UserID
	Key   imagegen.KeyID
	Day   time.Time // midnight, in UTC
	Model string
}

// Usage is a row of usage: the sums over the charges of a user's key for a model on a day.
type Usage struct {
	UsageKey
	imagegen.UsageSums
}

// KeyTotal is what an API key has used in all. Limits need it, and to sum up all days of a key would cost ever more.
type KeyTotal struct {
	User    imagegen.UserID
	Key     imagegen.KeyID
	Credits imagegen.Credits // charged minus refunded
	Open    int              // charges that are not settled
}

// Public is the row as callers see it, who know whose it is.
func (u Usage) Public() imagegen.Usage {
	p := imagegen.Usage{Day: u.Day, Model: u.Model, Key: u.Key, UsageSums: u.UsageSums}
	if m, ok := strings.CutPrefix(string(u.Key), memberMark); ok {
		p.Key, p.Member = "", imagegen.UserID(m)
	}
	return p
}

// Bills returns the rows of usage in which an entry counts: that of its API key, and that of its member. A charge
// counts on its day, and its settlement on the same day, whenever it comes. There are none for all other entries, and
// for settlements of unknown charges.
func (e Entry) Bills() (rows []UsageKey) {
	day := e.Charged
	switch {
	case e.User == "":
		return nil
	case e.Kind == imagegen.EntryCharge:
		day = e.Time
	case e.Kind != imagegen.EntrySettle:
		return nil
	}
	rows = append(rows, UsageKey{e.User, e.Key, imagegen.UsageDay(day), e.Model})
	if e.Member != "" {
		rows = append(rows, UsageKey{e.User, MemberKey(e.Member), rows[0].Day, e.Model})
	}
	return rows
}

// sums is what an entry adds to its row.
func (e Entry) sums() (s imagegen.UsageSums) {
	if e.Kind == imagegen.EntryCharge {
		return imagegen.UsageSums{Charged: -e.Credits, Generations: 1}
	}
	s = imagegen.UsageSums{Refunded: e.Credits, Spent: e.Used, Images: e.Images}
	switch {
	case e.Cancelled:
		s.Cancelled = 1
	case e.Used == 0:
		s.Failed = 1
	}
	return s
}

// book computes the rows of usage that the entry leads to, from those before it. As apply, it reads nothing else and
// writes nothing.
func (c *Change) book(tx Tx) error {
	for _, key := range c.Entry.Bills() {
		row := tx.UsageRow(key)
		u := UsageChange{From: row, To: Usage{row.UsageKey, row.Plus(c.Entry.sums())}}
		c.Usage = append(c.Usage, u)
		if err := u.To.checkSums(); err != nil {
			return err
		}
		if key.Key == "" {
			continue
		}
		k := KeyChange{From: tx.KeyTotal(key.User, key.Key)}
		k.To = k.From
		k.To.Credits -= c.Entry.Credits
		if k.To.Open++; c.Entry.Kind == imagegen.EntrySettle {
			k.To.Open -= 2 // one less than before
		}
		c.Keys = append(c.Keys, k)
		if err := k.To.checkSums(); err != nil {
			return err
		}
	}
	return nil
}

// checkSums returns a Violation if the sums cannot be those of charges.
func (u Usage) checkSums() error {
	held := u.Charged - u.Refunded - u.Spent
	if held < 0 || u.Refunded < 0 || u.Spent < 0 || u.Images < 0 || u.Failed < 0 || u.Cancelled < 0 ||
		u.Failed+u.Cancelled > u.Generations {
		return broken("usage", u.User, "key %q, %s, model %q: %+v", u.Key, u.Day.Format(time.DateOnly), u.Model,
			u.UsageSums)
	}
	return nil
}

// checkSums returns a Violation if the total cannot be that of charges.
func (t KeyTotal) checkSums() error {
	if t.Credits < 0 || t.Open < 0 {
		return broken("usage", t.User, "key %q has used %d credits, and has %d charges open", t.Key, t.Credits, t.Open)
	}
	return nil
}

// paidImages is how many of a charge's images the used credits pay for. It assumes that all images cost the same;
// used credits that are not a multiple of a price are rounded down.
func paidImages(charge Entry, used imagegen.Credits) int {
	if used == -charge.Credits {
		return charge.Images
	}
	price := max(1, -charge.Credits/max(1, imagegen.Credits(charge.Images)))
	return int(used / price)
}

// uses is what counts against the limits of a key now: charges minus refunds. Day and month are in UTC, and those in
// which the next entry would be dated.
func (a *openAccount) uses(k imagegen.KeyID) imagegen.KeyUse {
	total := a.tx.KeyTotal(a.User, k)
	use := imagegen.KeyUse{Credits: total.Credits, Concurrent: total.Open}
	today := a.today()
	month := today.AddDate(0, 0, 1-today.Day())
	for row := range a.tx.KeyUsage(a.User, k, month, month.AddDate(0, 1, 0)) {
		counts := row.Charged - row.Refunded
		use.Monthly += counts
		if row.Day.Equal(today) {
			use.Daily += counts
		}
	}
	return use
}

// today is the day in which the next entry of the account would be dated.
func (a *openAccount) today() time.Time {
	return imagegen.UsageDay(a.dated(a.at.Wall, a.tx.Clock().Epoch))
}

// allows returns why the limits of who asks do not permit a charge; nil if they do. Without limits it reads nothing.
func (a *openAccount) allows(by Asker, cost imagegen.Credits) error {
	if by.Key.Members == 0 && by.Key.Limits.Count() {
		if err := by.Key.CheckLimits(a.uses(by.Key.ID), cost); err != nil {
			return err
		}
	}
	if by.Member.Limits.Count() {
		return by.Member.CheckLimits(a.uses(MemberKey(by.Member.ID)), cost)
	}
	return nil
}

// Usage implements imagegen.CreditAdmin. With nothing to sum up it returns an empty slice, not nil. Both ends of q are
// days, and both are included.
func (l *Ledger) Usage(ctx context.Context, u imagegen.UserID, q imagegen.UsageQuery) (all []imagegen.Usage,
	err error) {
	all = []imagegen.Usage{}
	err = l.view(ctx, u, func(a *openAccount) (err error) {
		all, err = q.Sum(func(yield func(imagegen.Usage) bool) {
			for row := range a.tx.Usage(u, imagegen.UsageDay(q.From), imagegen.UsageDay(q.To).AddDate(0, 0, 1)) {
				if !yield(row.Public()) {
					return
				}
			}
		})
		return err
	})
	return all, err
}

// Today implements imagegen.CreditAdmin.
func (l *Ledger) Today(ctx context.Context, u imagegen.UserID) (today time.Time, err error) {
	at := l.Read()
	err = l.store.View(ctx, func(tx Tx) error { today = l.At(tx, at).accountOf(u).today(); return nil })
	return today, err
}

// EachUsage implements imagegen.CreditAdmin. Each day has a transaction of its own, since one that reads for long may
// hold up writers.
func (l *Ledger) EachUsage(ctx context.Context, from, to time.Time, f func(imagegen.UserID, imagegen.Usage)) error {
	for day := imagegen.UsageDay(from); !day.After(imagegen.UsageDay(to)); day = day.AddDate(0, 0, 1) {
		err := l.store.View(ctx, func(tx Tx) error {
			for row := range tx.DayUsage(day) {
				if err := ctx.Err(); err != nil {
					return err
				}
				if u := row.Public(); u.Member == "" {
					f(row.User, u)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// KeyUse implements imagegen.CreditAdmin. It reads the key's rows of the current month.
func (l *Ledger) KeyUse(ctx context.Context, u imagegen.UserID, k imagegen.KeyID) (use imagegen.KeyUse, err error) {
	err = l.view(ctx, u, func(a *openAccount) error { use = a.uses(k); return nil })
	return use, err
}

// MemberUse implements imagegen.CreditAdmin, as KeyUse does.
func (l *Ledger) MemberUse(ctx context.Context, payer, member imagegen.UserID) (imagegen.KeyUse, error) {
	return l.KeyUse(ctx, payer, MemberKey(member))
}

// MemberUse is that of the Ledger, in a transaction.
func (b Books) MemberUse(payer, member imagegen.UserID) imagegen.KeyUse {
	return b.accountOf(payer).uses(MemberKey(member))
}

// origin returns the entry that made an open charge; its settlement is booked under the same words.
func (a *openAccount) origin(c Charge) (Entry, error) {
	e, known := a.tx.Entry(c.Place)
	if !known {
		return e, fmt.Errorf("ledger: %s, of a charge that is open, is missing; run an audit", c.subject())
	}
	return e, nil
}
