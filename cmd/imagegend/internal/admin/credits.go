package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Grant implements Service. For a repeated reference a ledger compares only user and amount. Here a repetition with
// another priority, expiry or kind is an error too, since an operator who mistypes a reference would believe that the
// credits were granted.
func (l *Local) Grant(ctx context.Context, g Grant) (Granted, error) {
	if !g.Credits.Valid() {
		return Granted{}, errAmount(g.Credits)
	}
	u, err := l.user(ctx, g.User)
	if err != nil {
		return Granted{}, err
	}
	// The time is taken before the ledger is asked, so that the expiry of a repetition is compared with the one that
	// the command meant.
	now := time.Now()
	granted, err := l.DB.Grant(ctx, imagegen.Grant{User: u.ID, Credits: g.Credits, Promo: g.Promo, Priority: g.Priority,
		Expires: g.Expires.Time, Ref: g.Ref})
	if err != nil {
		return Granted{}, refWords(g.Ref, err)
	}
	if granted.Repeated {
		if err := sameTerms(g, granted.Lot, now); err != nil {
			return Granted{}, err
		}
	}
	// The balance is read after the grant and not with it: charges in between are included.
	b, err := l.DB.Balance(ctx, u.ID)
	return Granted{viewLot(granted.Lot), b.Credits, granted.Repeated}, words(err)
}

// Revoke implements Service.
func (l *Local) Revoke(ctx context.Context, r Revocation) (Revoked, error) {
	if !r.Credits.Valid() {
		return Revoked{}, errAmount(r.Credits)
	}
	u, err := l.user(ctx, r.User)
	if err != nil {
		return Revoked{}, err
	}
	revoked, err := l.DB.Revoke(ctx, imagegen.Revocation{User: u.ID, Credits: r.Credits, Lot: r.Lot, Ref: r.Ref})
	if errors.Is(err, imagegen.ErrInsufficientCredits) {
		return Revoked{}, l.tooFew(ctx, u.ID, r)
	}
	if err != nil {
		return Revoked{}, refWords(r.Ref, err)
	}
	b, err := l.DB.Balance(ctx, u.ID)
	v := viewEntry(revoked.Entry)
	// The entry has the balance after it was written, which for a repetition may be long ago.
	v.Balance = b.Credits
	return Revoked{v, revoked.Repeated}, words(err)
}

// tooFew explains which credits a revocation did not find. It reads the lots after the revocation was refused, so the
// numbers can be newer than the refusal.
func (l *Local) tooFew(ctx context.Context, u imagegen.UserID, r Revocation) error {
	if r.Lot == "" {
		return refusal("there are fewer than %d unspent credits; nothing was changed; imagegend credit lots --user %q shows them", r.Credits, r.User)
	}
	lots, err := l.DB.Lots(ctx, u)
	if err != nil {
		return words(err)
	}
	for _, lot := range lots {
		if lot.ID == r.Lot {
			return refusal("lot %s has %d unspent credits, not %d; nothing was changed", r.Lot, lot.Remaining, r.Credits)
		}
	}
	return refusal("%q has no lot %q with credits in it; nothing was changed; imagegend credit lots --user %[1]q shows those there are", r.User, r.Lot)
}

// Lots implements Service.
func (l *Local) Lots(ctx context.Context, user string) ([]Lot, error) {
	u, err := l.user(ctx, user)
	if err != nil {
		return nil, err
	}
	lots, err := l.DB.Lots(ctx, u.ID)
	return each(lots, viewLot), words(err)
}

// History implements Service.
func (l *Local) History(ctx context.Context, p HistoryPage) ([]Entry, error) {
	u, err := l.user(ctx, p.User)
	if err != nil {
		return nil, err
	}
	if err := checkLimit(p.Limit); err != nil {
		return nil, err
	}
	entries, err := l.DB.History(ctx, u.ID, p.Before, p.Limit)
	return each(entries, viewEntry), words(err)
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
