package ledger

import (
	"cmp"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

func (b Books) grant(g imagegen.Grant, by imagegen.Actor) (granted imagegen.Granted, err error) {
	if err := cmp.Or(g.User.Check(), checkAmount(g.Credits), checkRef(g.Ref)); err != nil {
		return granted, err
	}
	former, known, err := b.byRef(g.Ref)
	switch {
	case err != nil:
		return granted, err
	case known && (former.User != g.User || former.Credits != g.Credits): // those of a revocation are negative
		return granted, imagegen.ErrGrantConflict
	case known:
		l, err := getLot(b.tx, former.lots[0].key())
		return imagegen.Granted{Lot: l.at(b.now).Lot, Repeated: true}, err
	}
	if err := b.checkGrant(g); err != nil {
		return granted, err
	}
	e, err := b.enter(entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: g.User, Ref: g.Ref, Actor: by.String(), Credits: g.Credits},
		lots: []lot{{Lot: imagegen.Lot{User: g.User, Granted: g.Credits, Remaining: g.Credits, Promo: g.Promo,
			Priority: cmp.Or(g.Priority, imagegen.DefaultPriority), Expires: g.Expires.UTC(), Ref: g.Ref}}}})
	if err != nil {
		return granted, err
	}
	return imagegen.Granted{Lot: e.lots[0].Lot}, nil
}

// checkGrant refuses a grant that is not a repetition.
func (b Books) checkGrant(g imagegen.Grant) error {
	expires := g.Expires.UTC().Format(time.RFC3339)
	switch {
	case g.Priority < 0 || g.Priority > 100:
		return imagegen.Invalid("the priority of a grant is from 1 to 100; got %d", g.Priority)
	case !g.Expires.IsZero() && !g.Expires.After(b.now):
		return imagegen.Invalid("credits that expire at %s would have lapsed already; name a later time", expires)
	case !g.Expires.IsZero() && !g.Expires.Equal(time.Unix(0, g.Expires.UnixNano())):
		return imagegen.Invalid("an expiry of %s is too late to be kept; name none, and the credits never expire", expires)
	case b.Balance(g.User).Credits+readAccount(b.tx, g.User).Held > imagegen.MaxCredits-g.Credits:
		return imagegen.Invalid("with %d more credits the account would hold more than %d", g.Credits, imagegen.MaxCredits)
	}
	return nil
}
