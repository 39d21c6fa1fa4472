package ledger

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

func (b Books) grant(g imagegen.Grant) (imagegen.Lot, error) {
	priority := cmp.Or(g.Priority, imagegen.DefaultPriority)
	if err := checkAmount(g.User, g.Credits, g.Ref); err != nil {
		return imagegen.Lot{}, err
	}
	former, known, err := b.byRef(g.Ref)
	switch {
	case err != nil:
		return imagegen.Lot{}, err
	case known && (former.Kind != imagegen.EntryGrant || former.User != g.User || former.Credits != g.Credits):
		return imagegen.Lot{}, imagegen.ErrGrantConflict
	case known:
		l, err := getLot(b.tx, former.lots[0].key())
		return l.Lot, err
	}
	a := readAccount(b.tx, g.User)
	switch {
	case priority < 0 || priority > 100:
		return imagegen.Lot{}, imagegen.Invalid("the priority of a grant is from 0 to 100; got %d", g.Priority)
	case !g.Expires.IsZero() && !g.Expires.After(b.now):
		return imagegen.Lot{}, imagegen.Invalid("the credits would have lapsed at %s already", g.Expires.UTC().Format("2006-01-02T15:04:05Z"))
	case a.Available+a.Held > imagegen.MaxCredits-g.Credits:
		return imagegen.Lot{}, imagegen.Invalid("with %d more credits the account would hold more than %d", g.Credits, imagegen.MaxCredits)
	}
	e, err := b.record(entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: g.User, Ref: g.Ref, Credits: g.Credits},
		lots: []lot{{Lot: imagegen.Lot{User: g.User, Granted: g.Credits, Remaining: g.Credits, Promo: g.Promo, Priority: priority,
			Effective: b.now, Expires: g.Expires.UTC(), Ref: g.Ref}}}})
	if err != nil {
		return imagegen.Lot{}, err
	}
	return e.lots[0].Lot, nil
}

func (b Books) revoke(r imagegen.Revocation) (imagegen.Entry, error) {
	if err := checkAmount(r.User, r.Credits, r.Ref); err != nil {
		return imagegen.Entry{}, err
	}
	former, known, err := b.byRef(r.Ref)
	switch {
	case err != nil:
		return imagegen.Entry{}, err
	case known && (former.Kind != imagegen.EntryRevoke || former.User != r.User || former.Credits != -r.Credits):
		return imagegen.Entry{}, imagegen.ErrGrantConflict
	case known:
		return former.Entry, nil
	}
	if there, err := b.revocable(r); err != nil || there < r.Credits {
		return imagegen.Entry{}, cmp.Or(err, error(imagegen.ErrInsufficientCredits))
	}
	if err := b.lapse(r.User); err != nil {
		return imagegen.Entry{}, err
	}
	lines, err := b.burn(r.User, r.Credits, r.Lot)
	if err != nil {
		return imagegen.Entry{}, err
	}
	e, err := b.record(entry{Entry: imagegen.Entry{Kind: imagegen.EntryRevoke, User: r.User, Ref: r.Ref, Credits: -r.Credits}, lines: lines})
	return e.Entry, err
}

// revocable is how much can be taken back: of the account, or of one lot that has not lapsed.
func (b Books) revocable(r imagegen.Revocation) (there imagegen.Credits, err error) {
	if r.Lot == "" {
		return b.spendable(r.User, readAccount(b.tx, r.User)), nil
	}
	err = eachLot(b.tx, live, r.User, func(l lot) bool {
		if l.ID == r.Lot && !l.lapsed(b.now) {
			there = l.Remaining
		}
		return l.ID != r.Lot
	})
	return there, err
}

func checkAmount(u imagegen.UserID, c imagegen.Credits, ref string) error {
	switch {
	case !u.Valid():
		return imagegen.Invalid("a user's identifier is 1 to 255 bytes without NUL; got %q", u)
	case !c.Valid():
		return imagegen.Invalid("an amount of credits is from 1 to %d; got %d", imagegen.MaxCredits, c)
	case ref != "" && !validID(ref):
		return imagegen.Invalid("a reference is at most 255 bytes without NUL")
	}
	return nil
}

// byRef returns the grant or revocation that has a reference.
func (b Books) byRef(ref string) (e entry, known bool, err error) {
	if ref == "" {
		return e, false, nil
	}
	seq := b.tx.Get(refs, kv.Key(ref))
	if seq == nil {
		return e, false, nil
	}
	if e, err = readEntry(b.tx, binary.BigEndian.Uint64(seq)); err != nil {
		return e, true, err
	}
	if e.Kind == imagegen.EntryGrant && len(e.lots) != 1 {
		return e, true, fmt.Errorf("ledger: grant %d made %d lots; run an audit", e.Seq, len(e.lots))
	}
	return e, true, nil
}

func readEntry(tx kv.Tx, seq uint64) (entry, error) {
	b := tx.Get(journal, kv.Key(seq))
	if b == nil {
		return entry{}, fmt.Errorf("ledger: journal entry %d is missing; run an audit", seq)
	}
	return decodeEntry(b)
}

// eachLot goes over a user's lots in one bucket, in the order in which they burn.
func eachLot(tx kv.Tx, in kv.Bucket, u imagegen.UserID, f func(lot) bool) (err error) {
	prefix := userKey(u)
	tx.Ascend(in, prefix, func(key, value []byte) bool {
		if !bytes.HasPrefix(key, prefix) {
			return false
		}
		l, bad := decodeLot(value)
		if bad != nil {
			err = bad
			return false
		}
		return f(l)
	})
	return err
}
