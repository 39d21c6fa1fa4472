package ledger

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Lots implements imagegen.CreditAdmin.
func (l *Ledger) Lots(ctx context.Context, u imagegen.UserID) (lots []imagegen.Lot, err error) {
	err = l.view(ctx, func(b Books) error {
		var found []lot
		add := func(l lot) bool {
			if l = l.at(b.now); l.Remaining > 0 || l.Held > 0 {
				found = append(found, l)
			}
			return true
		}
		if err := cmp.Or(eachLot(b.tx, live, u, add), eachLot(b.tx, spent, u, add)); err != nil {
			return err
		}
		slices.SortFunc(found, func(a, b lot) int { return bytes.Compare(a.key(), b.key()) })
		lots = make([]imagegen.Lot, len(found))
		for i, l := range found {
			lots[i] = l.Lot
		}
		return nil
	})
	return lots, err
}

// Holdings implements imagegen.CreditAdmin. It passes over what has lapsed since Lapse last ran.
func (l *Ledger) Holdings(ctx context.Context, u imagegen.UserID, n int) (h imagegen.Holdings, err error) {
	if !u.Valid() {
		return h, nil
	}
	err = l.view(ctx, func(b Books) error {
		h = imagegen.Holdings{Held: readAccount(b.tx, u).Held}
		return eachLot(b.tx, live, u, func(l lot) bool {
			if l.lapsed(b.now) {
				return true
			}
			if h.More = len(h.Lots) == n; h.More {
				return false
			}
			h.Lots = append(h.Lots, l.Lot)
			return true
		})
	})
	return h, err
}

// History implements imagegen.CreditAdmin.
func (l *Ledger) History(ctx context.Context, u imagegen.UserID, before uint64, limit int) (entries []imagegen.Entry, err error) {
	if !u.Valid() {
		return nil, nil // its key could begin as another's
	}
	prefix := userKey(u)
	from := kv.Key(string(u), cmp.Or(before, ^uint64(0)))
	err = l.view(ctx, func(b Books) (err error) {
		entries = nil
		b.tx.Descend(history, from, func(key, _ []byte) bool {
			seq, mine := bytes.CutPrefix(key, prefix)
			if !mine || len(entries) >= limit {
				return false
			}
			var e entry
			if e, err = readEntry(b.tx, seq); err == nil {
				entries = append(entries, e.Entry)
			}
			return err == nil
		})
		return err
	})
	return entries, err
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
	if e, err = readEntry(b.tx, seq); err != nil {
		return e, true, err
	}
	if e.Kind == imagegen.EntryGrant && len(e.lots) != 1 {
		return e, true, fmt.Errorf("ledger: grant %d made %d lots; run an audit", e.Seq, len(e.lots))
	}
	return e, true, nil
}

// readEntry returns the entry of a key of the journal.
func readEntry(tx kv.Tx, key []byte) (entry, error) {
	b := tx.Get(journal, key)
	if b == nil {
		return entry{}, fmt.Errorf("ledger: journal entry %x is missing; run an audit", key)
	}
	return decodeEntry(b)
}
