package ledger

import (
	"cmp"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// grant adds a lot, or returns the one that exists under the same Ref. by is the actor that the entry names.
func (b Books) grant(g imagegen.Grant, by account.Actor) (granted imagegen.Granted, err error) {
	if err := cmp.Or(g.User.Check(), checkAmount(g.Credits), checkRef(g.Ref)); err != nil {
		return granted, err
	}
	former, known, err := b.byRef(g.Ref)
	if err != nil {
		return granted, err
	}
	a := b.accountOf(g.User)
	if known {
		return a.repeatedGrant(g, former)
	}
	if b.granted != nil {
		err = b.granted(b.tx, g.User)
	}
	if err = cmp.Or(err, a.checkGrant(g)); err != nil {
		return granted, err
	}
	// The checks above are all that can refuse: from here on rows are written.
	e, err := a.post(Entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, Ref: g.Ref, Actor: by.String(),
		Credits: g.Credits},
		Lots: []NewLot{{Credits: g.Credits, Promo: g.Promo, Priority: cmp.Or(g.Priority, imagegen.DefaultPriority),
			Expires: g.Expires.UTC().Round(0)}}})
	if err != nil {
		return granted, err
	}
	return imagegen.Granted{Lot: e.makes(e.Lots[0]).public(a.at.Now)}, nil
}

// repeatedGrant returns the lot that an earlier entry with the same reference made. imagegen.ErrGrantConflict: that
// entry is another grant, or a revocation.
func (a *openAccount) repeatedGrant(g imagegen.Grant, former Entry) (granted imagegen.Granted, err error) {
	if former.User != g.User || former.Credits != g.Credits { // those of a revocation are negative
		return granted, imagegen.ErrGrantConflict
	}
	if len(former.Lots) == 1 {
		if l, known := a.lot(former.Lots[0].Number); known {
			return imagegen.Granted{Lot: l.public(a.at.Now), Repeated: true}, nil
		}
	}
	return granted, fmt.Errorf("ledger: the lot of grant %q is missing; run an audit", g.Ref)
}

// checkGrant refuses a grant for its terms. A repetition is not checked: it may come after the expiry it names.
func (a *openAccount) checkGrant(g imagegen.Grant) error {
	expires := g.Expires.UTC().Format(time.RFC3339)
	switch {
	case g.Priority < 0 || g.Priority > 100:
		return imagegen.Invalid("the priority of a grant is from 1 to 100; got %d", g.Priority)
	case !g.Expires.IsZero() && !g.Expires.After(a.at.Now):
		return imagegen.Invalid("credits that expire at %s would have expired already; name a later time", expires)
	case !g.Expires.IsZero() && !g.Expires.Equal(time.Unix(0, g.Expires.UnixNano())):
		return imagegen.Invalid("an expiry of %s is too late to be kept; name none, and the credits never expire",
			expires)
	case a.balance().Credits+a.Held > imagegen.MaxCredits-g.Credits:
		return imagegen.Invalid("with %d more credits the account would hold more than %d", g.Credits,
			imagegen.MaxCredits)
	}
	return nil
}

// byRef returns the entry of the grant or revocation that has a reference; known is false for the empty one. An
// error: the journal has no such entry, though it should.
func (b Books) byRef(ref string) (e Entry, known bool, err error) {
	if ref == "" {
		return e, false, nil
	}
	p, known := b.tx.Ref(ref)
	if !known {
		return e, false, nil
	}
	if e, known = b.tx.Entry(p); !known || e.Ref != ref {
		return e, true, fmt.Errorf("ledger: the entry of reference %q is missing; run an audit", ref)
	}
	return e, true, nil
}
