package model_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
)

// books is the plainest ledger: lists that it sorts and goes over. It is not made for speed, and
// shares no code with the ledger.
type books struct {
	clock   clock
	outside bool            // another's ledger: the clock knows nothing of its journal
	now     time.Time       // of the operation under way: by it lots expire
	wall    time.Time       // the wall clock then
	doubt   bool            // whether it was believed
	lots    []*imagegen.Lot // as they were granted
	refunds map[*imagegen.Lot]bool
	charges map[imagegen.ChargeID]*charged
	refs    map[string]reference
	journal []imagegen.Entry
	upkeep  upkeep

	dates     map[imagegen.UserID]time.Time // of each user's last entry, since the clock was corrected
	corrected int                           // how many entries were there before that
}

type charged struct {
	imagegen.Charge
	settled bool
	used    imagegen.Credits
	parts   []part
}

// part is what an open charge, or a revocation, took from one lot.
type part struct {
	lot  *imagegen.Lot
	took imagegen.Credits
}

// reference is what a Ref stands for: a lot if it was a grant, else what was taken from which.
type reference struct {
	entry imagegen.Entry
	lot   *imagegen.Lot
	parts []part
}

func newBooks() *books {
	return &books{charges: map[imagegen.ChargeID]*charged{}, refs: map[string]reference{},
		refunds: map[*imagegen.Lot]bool{}, dates: map[imagegen.UserID]time.Time{}}
}

// look reads the clock for an operation at a moment, once the upkeep until then is done.
func (b *books) look(at time.Time) {
	b.catchUp(at)
	b.read(at)
}

func (b *books) read(at time.Time) {
	b.doubt = b.clock.doubtful(at)
	b.now, b.wall = b.clock.now(at), b.clock.wall(at)
}

func (b *books) expired(l *imagegen.Lot) bool { return !l.Expires.IsZero() && !b.now.Before(l.Expires) }

// of lists a user's lots in the order in which they are consumed.
func (b *books) of(u imagegen.UserID) (lots []*imagegen.Lot) {
	for _, l := range b.lots {
		if l.User == u {
			lots = append(lots, l)
		}
	}
	slices.SortStableFunc(lots, func(x, y *imagegen.Lot) int {
		switch {
		case consumedBefore(x, y):
			return -1
		case consumedBefore(y, x):
			return 1
		}
		return 0
	})
	return lots
}

// consumedBefore is the order that is promised; between equals, what was granted first comes first.
func consumedBefore(x, y *imagegen.Lot) bool {
	switch {
	case x.Priority != y.Priority:
		return x.Priority < y.Priority
	case !x.Expires.Equal(y.Expires):
		return y.Expires.IsZero() || !x.Expires.IsZero() && x.Expires.Before(y.Expires)
	case x.Promo != y.Promo:
		return x.Promo
	}
	return x.Effective.Before(y.Effective)
}

func (b *books) balance(u imagegen.UserID) (sum imagegen.Balance) {
	for _, l := range b.of(u) {
		if b.expired(l) || l.Remaining == 0 {
			continue
		}
		sum.Credits += l.Remaining
		next := sum.NextExpiration
		switch {
		case l.Expires.IsZero():
		case next == nil || l.Expires.Before(next.At):
			sum.NextExpiration = &imagegen.Expiration{Credits: l.Remaining, At: l.Expires}
		case l.Expires.Equal(next.At):
			next.Credits += l.Remaining
		}
	}
	return sum
}

// list is what a user sees of the lots.
func (b *books) list(u imagegen.UserID) (lots []imagegen.Lot) {
	for _, l := range b.of(u) {
		if shown := b.shown(l); shown.Remaining+shown.Held > 0 {
			lots = append(lots, shown)
		}
	}
	return lots
}

// shown is a lot as it stands now, written off or not.
func (b *books) shown(l *imagegen.Lot) imagegen.Lot {
	shown := *l
	if b.expired(l) {
		shown.Expired, shown.Remaining = l.Expired+l.Remaining, 0
	}
	return shown
}

// take finds the lots that credits come from.
func (b *books) take(u imagegen.UserID, c imagegen.Credits) (parts []part, err error) {
	if b.balance(u).Credits < c {
		return nil, imagegen.ErrInsufficientCredits
	}
	for _, l := range b.of(u) {
		if took := min(c, l.Remaining); took > 0 && !b.expired(l) {
			c -= took
			parts = append(parts, part{l, took})
		}
	}
	return parts, nil
}

func (b *books) charge(c imagegen.Charge) error {
	former := b.charges[c.ID]
	switch {
	case c.ID == "" || !c.User.Valid() || c.Credits < 1 || c.Credits > imagegen.MaxCredits:
		return imagegen.ErrInvalidRequest
	case former != nil && former.settled:
		return imagegen.ErrChargeClosed
	case former != nil && !former.Charge.Same(c):
		return imagegen.ErrChargeConflict
	case former != nil:
		return nil
	}
	parts, err := b.take(c.User, c.Credits)
	if err != nil {
		return err
	}
	b.writeOff(c.User)
	for _, p := range parts {
		p.lot.Remaining -= p.took
		p.lot.Held += p.took
	}
	b.charges[c.ID] = &charged{Charge: c, parts: parts}
	b.enter(imagegen.Entry{Kind: imagegen.EntryCharge, User: c.User, Member: c.Member, Charge: c.ID,
		Credits: -c.Credits})
	return nil
}

func (b *books) settle(id imagegen.ChargeID, used imagegen.Credits) error {
	c := b.charges[id]
	switch {
	case id == "":
		return imagegen.ErrInvalidRequest
	case c == nil && used == 0:
		b.charges[id] = &charged{settled: true}
		b.enter(imagegen.Entry{Kind: imagegen.EntrySettle, Charge: id})
		return nil
	case c == nil:
		return imagegen.ErrNotFound
	case c.settled && c.used == used:
		return nil
	case c.settled || used < 0 || used > c.Credits:
		return imagegen.ErrChargeConflict
	}
	b.writeOff(c.User)
	c.settled, c.used = true, used
	for _, p := range c.parts { // what was taken first is spent first
		spent := min(used, p.took)
		used -= spent
		p.lot.Held -= p.took
		p.lot.Spent += spent
		b.giveBack(p.lot, p.took-spent)
	}
	b.enter(imagegen.Entry{Kind: imagegen.EntrySettle, User: c.User, Member: c.Member, Charge: id,
		Credits: c.Credits - c.used, Used: c.used})
	return nil
}

// giveBack returns credits to their lot or, within a day of its end, in a new one that lives until then.
// Credits that came back this way once do not do so again.
func (b *books) giveBack(l *imagegen.Lot, c imagegen.Credits) {
	end := l.Expires.Add(24 * time.Hour)
	switch {
	case c == 0:
	case b.expired(l) && !b.refunds[l] && b.now.Before(end):
		l.Moved += c
		refund := &imagegen.Lot{User: l.User, Granted: c, Remaining: c, Promo: l.Promo, Priority: l.Priority,
			Effective: b.date(l.User), Expires: end}
		b.lots, b.refunds[refund] = append(b.lots, refund), true
	default:
		l.Remaining += c
	}
}

// memberUse is what a user paid for a member, without what came back, and how many charges are open.
func (b *books) memberUse(u, member imagegen.UserID) (use imagegen.KeyUse) {
	for _, c := range b.charges {
		switch {
		case c.User != u || c.Member != member:
		case c.settled:
			use.Credits += c.used
		default:
			use.Credits += c.Credits
			use.Concurrent++
		}
	}
	return use
}

// open lists the charges that are not settled, by name.
func (b *books) open() (ids []imagegen.ChargeID) {
	for id, c := range b.charges {
		if !c.settled {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// adopt gives refund lots, which no answer has shown, the identifiers that the ledger made for them.
func (b *books) adopt(t *rapid.T, u imagegen.UserID, listed []imagegen.Lot) {
	t.Helper()
	shown := slices.DeleteFunc(b.of(u), func(l *imagegen.Lot) bool { return b.shown(l).Remaining+l.Held == 0 })
	for i, l := range shown[:min(len(shown), len(listed))] {
		if l.ID != "" {
			continue
		}
		if slices.ContainsFunc(b.lots, func(o *imagegen.Lot) bool { return o.ID == listed[i].ID }) {
			t.Fatalf("lot %q is not the only one of that name", listed[i].ID)
		}
		l.ID = listed[i].ID
	}
}

// untie puts refund lots that came at one moment, and that nothing but their sequence orders, as the
// ledger has them. Who watches an engine cannot tell which of two settlements at one moment was first.
func (b *books) untie(u imagegen.UserID, listed []imagegen.Lot) {
	shown := slices.DeleteFunc(b.of(u), func(l *imagegen.Lot) bool { return b.shown(l).Remaining+l.Held == 0 })
	for i, l := range shown[:min(len(shown), len(listed))] {
		if l.ID != "" || l.Granted == listed[i].Granted {
			continue
		}
		for j, other := range shown[i+1:] {
			if other.ID == "" && other.Granted == listed[i].Granted && !consumedBefore(l, other) {
				at, from := slices.Index(b.lots, l), slices.Index(b.lots, other)
				b.lots[at], b.lots[from] = other, l
				shown[i], shown[i+1+j] = other, l
				break
			}
		}
	}
}
