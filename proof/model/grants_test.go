package model_test

import (
	"github.com/imagegend/imagegend/imagegen"
)

func (b *books) grant(g imagegen.Grant) (*imagegen.Lot, error) {
	former, known := b.refs[g.Ref]
	switch {
	case !g.User.Valid() || g.Credits < 1 || g.Credits > imagegen.MaxCredits:
		return nil, imagegen.ErrInvalidRequest
	case known && (former.lot == nil || former.lot.User != g.User || former.lot.Granted != g.Credits):
		return nil, imagegen.ErrGrantConflict
	case known:
		return former.lot, nil
	case g.Priority < 0 || g.Priority > 100 || !g.Expires.IsZero() && !g.Expires.After(b.now):
		return nil, imagegen.ErrInvalidRequest
	case b.owned(g.User)+g.Credits > imagegen.MaxCredits:
		return nil, imagegen.ErrInvalidRequest
	case g.Priority == 0:
		g.Priority = imagegen.DefaultPriority
	}
	b.writeOff(g.User)
	l := &imagegen.Lot{User: g.User, Granted: g.Credits, Remaining: g.Credits, Promo: g.Promo, Priority: g.Priority,
		Effective: b.date(g.User), Expires: g.Expires, Ref: g.Ref}
	b.lots = append(b.lots, l)
	e := b.enter(imagegen.Entry{Kind: imagegen.EntryGrant, User: g.User, Ref: g.Ref, Credits: g.Credits})
	b.remember(g.Ref, reference{entry: e, lot: l})
	return l, nil
}

// owned is what a user can spend and what open charges hold.
func (b *books) owned(u imagegen.UserID) imagegen.Credits {
	sum := b.balance(u).Credits
	for _, l := range b.of(u) {
		sum += l.Held
	}
	return sum
}

func (b *books) revoke(r imagegen.Revocation) (imagegen.Entry, error) {
	former, known := b.refs[r.Ref]
	switch {
	case !r.User.Valid() || r.Credits < 1 || r.Credits > imagegen.MaxCredits:
		return imagegen.Entry{}, imagegen.ErrInvalidRequest
	case known && (former.lot != nil || former.entry.User != r.User || former.entry.Credits != -r.Credits):
		return imagegen.Entry{}, imagegen.ErrGrantConflict
	case known && r.Lot != "" && (len(former.parts) > 1 || former.parts[0].lot.ID != r.Lot):
		return imagegen.Entry{}, imagegen.ErrGrantConflict
	case known:
		return former.entry, nil
	}
	parts, err := b.takeFrom(r)
	if err != nil {
		return imagegen.Entry{}, err
	}
	b.writeOff(r.User)
	for _, p := range parts {
		p.lot.Remaining -= p.took
		p.lot.Revoked += p.took
	}
	e := b.enter(imagegen.Entry{Kind: imagegen.EntryRevoke, User: r.User, Ref: r.Ref, Credits: -r.Credits})
	b.remember(r.Ref, reference{entry: e, parts: parts})
	return e, nil
}

func (b *books) takeFrom(r imagegen.Revocation) ([]part, error) {
	if r.Lot == "" {
		return b.take(r.User, r.Credits)
	}
	for _, l := range b.of(r.User) {
		if l.ID == r.Lot && !b.expired(l) && l.Remaining >= r.Credits {
			return []part{{l, r.Credits}}, nil
		}
	}
	return nil, imagegen.ErrInsufficientCredits
}

func (b *books) remember(ref string, r reference) {
	if ref != "" {
		b.refs[ref] = r
	}
}
