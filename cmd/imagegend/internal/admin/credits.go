package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Grant implements Service.
func (l *Local) Grant(ctx context.Context, g Grant) (Granted, error) {
	if !g.Credits.Valid() {
		return Granted{}, errAmount(g.Credits)
	}
	u, err := l.user(ctx, g.User)
	if err != nil {
		return Granted{}, err
	}
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
	v.Balance = b.Credits // of a repetition the journal has what it was then
	return Revoked{v, revoked.Repeated}, words(err)
}

// tooFew says what a revocation did not find.
func (l *Local) tooFew(ctx context.Context, u imagegen.UserID, r Revocation) error {
	if r.Lot == "" {
		return fmt.Errorf("%d unspent credits are not there; nothing was changed; imagegend credit lots --user %q shows what is", r.Credits, r.User)
	}
	lots, err := l.DB.Lots(ctx, u)
	if err != nil {
		return words(err)
	}
	for _, lot := range lots {
		if lot.ID == r.Lot {
			return fmt.Errorf("lot %s has %d unspent credits, not %d; nothing was changed", r.Lot, lot.Remaining, r.Credits)
		}
	}
	return fmt.Errorf("%q has no lot %q with credits in it; nothing was changed; imagegend credit lots --user %[1]q shows those there are", r.User, r.Lot)
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
	entries, err := l.DB.History(ctx, u.ID, p.Before, p.Limit)
	return each(entries, viewEntry), words(err)
}

func errAmount(c imagegen.Credits) error {
	return fmt.Errorf("an amount is a whole number of credits from 1 to %d; got %d", imagegen.MaxCredits, c)
}

func refWords(ref string, err error) error {
	if errors.Is(err, imagegen.ErrGrantConflict) {
		return &worded{fmt.Sprintf("the reference %q was used before, for another user, amount or lot; nothing was changed", ref), err}
	}
	return words(err)
}

// each shows every element; an empty list stays a list in JSON.
func each[T, V any](all []T, view func(T) V) []V {
	views := make([]V, len(all))
	for i, t := range all {
		views[i] = view(t)
	}
	return views
}
