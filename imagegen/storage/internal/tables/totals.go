package tables

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
)

// totalsIn has a prefix of its own in the bucket's name, since totals follow from generations: a move does not copy
// them.
const totalsIn = GenerationsIn + ".totals"

// totals are the sums over generations, by day, model, payer, user and key.
var totals = table.New(totalsIn, func(r *imagegen.TotalsRow) []byte { return totalsKey(r.TotalsKey) }, codeTotals)

func totalsKey(k imagegen.TotalsKey) []byte {
	return kv.Key(kv.TimeKey(k.Day), k.Model, string(k.Payer), string(k.User), string(k.Key))
}

// count brings the totals up to date with a row that is put in place of another.
func count(tx kv.Tx, from, to *row) {
	change := to.Totals().Minus(from.Totals())
	if change == (imagegen.Totals{}) {
		return
	}
	next := imagegen.TotalsRow{TotalsKey: to.TotalsKey()}
	former, err := totals.Get(tx, totalsKey(next.TotalsKey))
	next.Totals = former.Totals.Plus(change)
	switch {
	case err == nil:
		totals.Put(tx, &former, &next)
	case errors.Is(err, imagegen.ErrNotFound):
		totals.Put(tx, nil, &next)
	} // one that is damaged stays, so that an audit finds it, and holds up no settlement
}

// currencyIn is the bucket with the currency of all costs; it has one value.
const currencyIn kv.Bucket = "currency"

const currencyKey = "code"

// Currency implements [imagegen.TotalsKeeper].
func (t *Tables) Currency(ctx context.Context, code string, replace bool) (noted string, err error) {
	err = t.db.Update(ctx, func(tx kv.Tx) error {
		if noted = string(tx.Get(currencyIn, []byte(currencyKey))); noted == "" || replace {
			noted = code
			tx.Put(currencyIn, []byte(currencyKey), []byte(code))
		}
		return nil
	})
	return noted, err
}

// EachTotals implements [imagegen.TotalsKeeper].
func (t *Tables) EachTotals(ctx context.Context, from, to time.Time, f func(imagegen.TotalsRow)) error {
	return t.db.View(ctx, func(tx kv.Tx) error {
		end := kv.Key(kv.TimeKey(to.AddDate(0, 0, 1)))
		tx.Ascend(totalsIn, kv.Key(kv.TimeKey(from)), func(key, value []byte) bool {
			var r imagegen.TotalsRow
			if bytes.Compare(key, end) >= 0 {
				return false
			}
			if err := kv.Decode(value, &r, codeTotals); err != nil {
				panic(kv.Damage{Err: err})
			}
			f(r)
			return true
		})
		return nil
	})
}
