package ledgerkv

import (
	"context"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// Audit is ledger.Audit. It also checks that every row is encoded as it would be written, is in its place and in the
// indexes, and that the indexes have nothing else.
func Audit(ctx context.Context, tx kv.Tx, report func(imagegen.Violation)) (ledger.Counts, error) {
	goOn := func() bool { return ctx.Err() == nil }
	accounts.Audit(tx, report, goOn, func(ledger.Account) {})
	lots.Audit(tx, report, goOn, func(ledger.Lot) {})
	usage.Audit(tx, report, goOn, func(ledger.Usage) {})
	totals.Audit(tx, report, goOn, func(ledger.KeyTotal) {})
	c := checker{tx, report, goOn}
	written(c, chargesIn, chargeForm)
	written(c, refsIn, placeForm)
	return ledger.Audit(ctx, Rows(tx), report)
}

type checker struct {
	tx     kv.Tx
	report func(imagegen.Violation)
	goOn   func() bool
}

// written checks that the rows of a plain bucket are encoded as they would be written. Whether they are in their
// place is checked by ledger.Audit, which reads them by their keys.
func written[Row any](c checker, b kv.Bucket, form func(*kv.Coder, *Row)) {
	c.tx.Ascend(b, nil, func(key, stored []byte) bool {
		var row Row
		if err := kv.Decode(stored, &row, form); err != nil || !kv.AsWritten(stored, &row, form) {
			c.report(imagegen.Violation{Rule: "record", Subject: fmt.Sprintf("%q", key),
				Detail: fmt.Sprintf("it is in %s, and not as it is written: %v", b, err)})
		}
		return c.goOn()
	})
}
