package ledger

import (
	"bytes"
	"cmp"

	"github.com/imagegend/imagegend/imagegen"
)

func (b Books) revoke(r imagegen.Revocation, by imagegen.Actor) (revoked imagegen.Revoked, err error) {
	if err := cmp.Or(r.User.Check(), checkAmount(r.Credits), checkRef(r.Ref)); err != nil {
		return revoked, err
	}
	former, known, err := b.byRef(r.Ref)
	if err != nil {
		return revoked, err
	}
	if known {
		return b.repeated(r, former)
	}
	lines, err := b.revocable(r)
	if err != nil {
		return revoked, err
	}
	e, err := b.enter(entry{Entry: imagegen.Entry{Kind: imagegen.EntryRevoke, User: r.User, Ref: r.Ref, Actor: by.String(), Credits: -r.Credits}, lines: lines})
	return imagegen.Revoked{Entry: e.Entry}, err
}

// repeated returns the entry that stands under the reference of a revocation, if that is what it made.
func (b Books) repeated(r imagegen.Revocation, former entry) (revoked imagegen.Revoked, err error) {
	same := former.User == r.User && former.Credits == -r.Credits // those of a grant are positive
	if same && r.Lot != "" {
		l, known, err := lotNamed(b.tx, r.User, r.Lot)
		if err != nil {
			return revoked, err
		}
		same = known && len(former.lines) == 1 && bytes.Equal(former.lines[0].lot, l.key())
	}
	if !same {
		return revoked, imagegen.ErrGrantConflict
	}
	return imagegen.Revoked{Entry: former.Entry, Repeated: true}, nil
}

// revocable finds what a revocation takes: from one lot if it names one, else from those that
// would burn first.
func (b Books) revocable(r imagegen.Revocation) ([]line, error) {
	if r.Lot == "" {
		return b.burn(r.User, r.Credits)
	}
	l, known, err := lotNamed(b.tx, r.User, r.Lot)
	switch {
	case err != nil:
		return nil, err
	case !known || l.lapsed(b.now) || l.Remaining < r.Credits:
		return nil, imagegen.ErrInsufficientCredits
	}
	return []line{{lot: l.key(), took: r.Credits}}, nil
}
