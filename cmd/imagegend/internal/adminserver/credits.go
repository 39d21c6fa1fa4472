package adminserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// grantCredits compares all terms of a repetition; a ledger compares only user and amount. Another priority, expiry or
// kind is an error here, since an operator who mistypes a reference would believe that the credits were granted.
func (l *Local) grantCredits(ctx context.Context, g admin.Grant) (admin.Granted, error) {
	if !g.Credits.Valid() {
		return admin.Granted{}, errAmount(g.Credits)
	}
	u, err := l.user(ctx, g.User)
	if err != nil {
		return admin.Granted{}, err
	}
	// The time is taken before the ledger is asked, so that the expiry of a repetition is compared with the one that
	// the command meant.
	now := time.Now()
	granted, err := l.DB.Grant(ctx, imagegen.Grant{User: u.ID, Credits: g.Credits, Promo: g.Promo, Priority: g.Priority,
		Expires: g.Expires.Time, Ref: g.Ref})
	if err != nil {
		return admin.Granted{}, refWords(g.Ref, err)
	}
	if granted.Repeated {
		if err := sameTerms(g, granted.Lot, now); err != nil {
			return admin.Granted{}, err
		}
	}
	// The balance is read after the grant and not with it: charges in between are included.
	b, err := l.DB.Balance(ctx, u.ID)
	return admin.Granted{Lot: viewLot(granted.Lot), Balance: b.Credits, Repeated: granted.Repeated}, words(err)
}

func (l *Local) revokeCredits(ctx context.Context, r admin.Revocation) (admin.Revoked, error) {
	if !r.Credits.Valid() {
		return admin.Revoked{}, errAmount(r.Credits)
	}
	u, err := l.user(ctx, r.User)
	if err != nil {
		return admin.Revoked{}, err
	}
	revoked, err := l.DB.Revoke(ctx, imagegen.Revocation{User: u.ID, Credits: r.Credits, Lot: r.Lot, Ref: r.Ref})
	if errors.Is(err, imagegen.ErrInsufficientCredits) {
		return admin.Revoked{}, l.tooFew(ctx, u.ID, r)
	}
	if err != nil {
		return admin.Revoked{}, refWords(r.Ref, err)
	}
	b, err := l.DB.Balance(ctx, u.ID)
	v := viewEntry(revoked.Entry)
	// The entry has the balance after it was written, which for a repetition may be long ago.
	v.Balance = b.Credits
	return admin.Revoked{Entry: v, Repeated: revoked.Repeated}, words(err)
}

// tooFew explains which credits a revocation did not find. It reads the lots after the revocation was refused, so the
// numbers can be newer than the refusal.
func (l *Local) tooFew(ctx context.Context, u imagegen.UserID, r admin.Revocation) error {
	if r.Lot == "" {
		return refusal("there are fewer than %d unspent credits; nothing was changed; imagegend credit lots --user %q shows them", r.Credits, r.User)
	}
	lots, err := l.DB.Lots(ctx, u)
	if err != nil {
		return words(err)
	}
	for _, lot := range lots {
		if lot.ID == r.Lot {
			return refusal("lot %s has %d unspent credits, not %d; nothing was changed", r.Lot, lot.Remaining,
				r.Credits)
		}
	}
	return refusal("%q has no lot %q with credits in it; nothing was changed; imagegend credit lots --user %[1]q shows those there are", r.User, r.Lot)
}

func (l *Local) listLots(ctx context.Context, user string) ([]admin.Lot, error) {
	u, err := l.user(ctx, user)
	if err != nil {
		return nil, err
	}
	lots, err := l.DB.Lots(ctx, u.ID)
	return lists.Each(lots, viewLot), words(err)
}

func viewLot(l imagegen.Lot) admin.Lot {
	return admin.Lot{ID: l.ID, Granted: l.Granted, Remaining: l.Remaining, Held: l.Held, Promo: l.Promo,
		Priority: l.Priority, CreatedAt: at(l.Effective), ExpiresAt: at(l.Expires), Ref: l.Ref}
}

func (l *Local) listEntries(ctx context.Context, p admin.HistoryPage) ([]admin.Entry, error) {
	u, err := l.user(ctx, p.User)
	if err != nil {
		return nil, err
	}
	if err := checkLimit(p.Limit); err != nil {
		return nil, err
	}
	entries, err := l.DB.History(ctx, u.ID, p.Before, p.Limit)
	shown := lists.Each(entries, viewEntry)
	name := l.Engine.Accounts().Names(ctx)
	for i := range shown {
		if err == nil {
			shown[i].Member, err = name(entries[i].Member)
		}
	}
	return shown, words(err)
}

// viewEntry leaves out the member, whose name is looked up.
func viewEntry(e imagegen.Entry) admin.Entry {
	return admin.Entry{Seq: e.Seq, Time: at(e.Time), Kind: e.Kind, Credits: e.Credits, Used: e.Used, Balance: e.Balance,
		Generation: e.Charge, Ref: e.Ref, Actor: e.Actor}
}

// errAmount refuses an amount that no grant or revocation can have.
func errAmount(c imagegen.Credits) error {
	return refusal("an amount is a whole number of credits from 1 to %d; got %d", imagegen.MaxCredits, c)
}

// refWords explains a reference that was used for something else, and puts other errors into words. A nil err gives
// nil.
func refWords(ref string, err error) error {
	if errors.Is(err, imagegen.ErrGrantConflict) {
		return &worded{fmt.Sprintf("the reference %q was used before, for another user, amount or lot; nothing was changed", ref), err}
	}
	return words(err)
}

func (l *Local) sumUsage(ctx context.Context, q admin.UsageQuery) (admin.UsageReport, error) {
	u, err := l.user(ctx, q.User)
	if err != nil {
		return admin.UsageReport{}, err
	}
	query := imagegen.UsageQuery{From: q.From.Time, To: q.To.Time, By: q.By}
	if q.Member != "" {
		m, err := l.user(ctx, q.Member)
		if err != nil {
			return admin.UsageReport{}, err
		}
		query.Member = m.ID
	}
	r, err := l.Engine.As(u.ID).Usage(ctx, query)
	// The lists are never nil, so that they are [] in JSON.
	return admin.UsageReport{From: admin.Day{Time: r.From}, To: admin.Day{Time: r.To}, By: listed(r.By),
		Rows: lists.Each(r.Rows, viewUsageRow)}, words(err)
}

// viewUsageRow shows a row. What the query does not group by is "" in r, and null in JSON.
func viewUsageRow(r imagegen.Usage) admin.UsageRow {
	return admin.UsageRow{Day: admin.Day{Time: r.Day}, Model: orNull(r.Model), Key: orNull(r.Key),
		Member: orNull(r.MemberName), Charged: r.Charged, Refunded: r.Refunded, Spent: r.Spent, Images: r.Images,
		Generations: r.Generations, Failed: r.Failed, Cancelled: r.Cancelled}
}

// sameTerms compares a repeated grant with the lot that its reference made. If promo, priority or expiry differ, it
// returns an ErrGrantConflict. now is when the repetition came.
func sameTerms(g admin.Grant, lot imagegen.Lot, now time.Time) error {
	if g.Promo == lot.Promo && cmp.Or(g.Priority, imagegen.DefaultPriority) == lot.Priority && sameExpiry(g, lot, now) {
		return nil
	}
	kind, expiry := "paid", "no expiry"
	if lot.Promo {
		kind = "promotional"
	}
	if !lot.Expires.IsZero() {
		expiry = "expiry " + lot.Expires.UTC().Format(time.RFC3339)
	}
	return &worded{fmt.Sprintf("the reference %q was used before, at %s, for a grant on other terms: %s, priority %d, %s; nothing was changed",
		g.Ref, lot.Effective.UTC().Format(time.RFC3339), kind, lot.Priority, expiry), imagegen.ErrGrantConflict}
}

// sameExpiry reports whether a repetition names the same expiry, or the same distance from now as the first grant
// from its time: a script that says --expires-in names another instant each time it runs.
func sameExpiry(g admin.Grant, lot imagegen.Lot, now time.Time) bool {
	const commandTakes = time.Minute // at most, from reading the clock to the call of Grant
	if g.Expires.IsZero() || lot.Expires.IsZero() {
		return g.Expires.IsZero() && lot.Expires.IsZero()
	}
	// A time that came as JSON has whole milliseconds.
	if d := g.Expires.Sub(lot.Expires).Abs(); d < time.Millisecond {
		return true
	}
	return (g.Expires.Sub(now) - lot.Expires.Sub(lot.Effective)).Abs() < commandTakes
}
