package ledger

import (
	"cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// revoke takes unspent credits, or returns the entry that exists under the same Ref. What open charges hold is not
// touched.
func (b Books) revoke(r imagegen.Revocation, by account.Actor) (revoked imagegen.Revoked, err error) {
	if err := cmp.Or(r.User.Check(), checkAmount(r.Credits), checkRef(r.Ref)); err != nil {
		return revoked, err
	}
	former, known, err := b.byRef(r.Ref)
	if err != nil {
		return revoked, err
	}
	a := b.accountOf(r.User)
	if known {
		return a.repeatedRevocation(r, former)
	}
	postings, err := a.revocable(r)
	if err != nil {
		return revoked, err
	}
	e, err := a.post(Entry{Entry: imagegen.Entry{Kind: imagegen.EntryRevoke, Ref: r.Ref, Actor: by.String(),
		Credits: -r.Credits}, Postings: postings})
	return imagegen.Revoked{Entry: e.Entry}, err
}

// repeatedRevocation returns the earlier entry with the same reference. imagegen.ErrGrantConflict: it is another
// revocation, or a grant.
func (a *openAccount) repeatedRevocation(r imagegen.Revocation, former Entry) (revoked imagegen.Revoked, err error) {
	same := former.User == r.User && former.Credits == -r.Credits // those of a grant are positive
	if same && r.Lot != "" {
		same = len(former.Postings) == 1 && lotID(r.User, former.Postings[0].Lot) == r.Lot
	}
	if !same {
		return revoked, imagegen.ErrGrantConflict
	}
	return imagegen.Revoked{Entry: former.Entry, Repeated: true}, nil
}

// revocable finds what a revocation takes: from one lot if it names one, else from the lots that would be consumed
// first. imagegen.ErrInsufficientCredits: there are not enough.
func (a *openAccount) revocable(r imagegen.Revocation) ([]Posting, error) {
	if r.Lot == "" {
		return a.consume(r.Credits)
	}
	l, known := a.lotNamed(r.Lot)
	if !known || l.expired(a.at.Now) || l.Remaining < r.Credits {
		return nil, imagegen.ErrInsufficientCredits
	}
	return []Posting{{Lot: l.Number, Took: r.Credits}}, nil
}
