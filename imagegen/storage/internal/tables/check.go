package tables

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
)

// Audit goes over the tables and reports every broken invariant. A generation has ended if and only if its charge is
// closed; it cost its price times the images published; its record is sound. The totals are those of the generations.
// The indexes name what exists and nothing else. Nothing was lost of users, keys and sign-ins. Audit returns how many
// generations there are. Its error means that the check could not be carried out.
//
// If there are generations at all, a charge that has a generation's identifier, and is open or was spent, must
// have that generation. Without any the books serve another store. Other charges are the embedder's own.
func Audit(ctx context.Context, tx kv.Tx, report func(imagegen.Violation)) (n int, err error) {
	goOn := func() bool { return ctx.Err() == nil }
	sums := make(rules.Totals)
	n = generations.Audit(tx, report, goOn, func(r row) {
		sums.Add(r.TotalsKey(), r.Totals())
		rules.Found(report, r.ID, r.Check())
		rules.Found(report, r.ID, rules.Charged(ledgerkv.Rows(tx), r.Record, r.Joint))
	})
	totals.Audit(tx, report, goOn, func(r imagegen.TotalsRow) {
		sums.Add(r.TotalsKey, imagegen.Totals{}.Minus(r.Totals))
	})
	sums.Check(report)
	checkAll(tx, report, goOn, users)
	checkAll(tx, report, goOn, keys)
	checkAll(tx, report, goOn, operatorKeys)
	checkAll(tx, report, goOn, logins)
	checkAll(tx, report, goOn, signIns)
	checkAll(tx, report, goOn, invitations)
	checkAll(tx, report, goOn, passkeys)
	checkAll(tx, report, goOn, identities)
	checkAll(tx, report, goOn, marks)
	if n > 0 {
		exists := func(g imagegen.GenerationID) bool { return generations.Has(tx, []byte(g)) }
		rules.Uncreated(ctx, ledgerkv.Rows(tx), exists, report)
	}
	return n, ctx.Err()
}

// checkAll checks a table whose values have no invariants of their own.
func checkAll[V any](tx kv.Tx, report func(imagegen.Violation), goOn func() bool, t *table.Table[V]) {
	t.Audit(tx, report, goOn, func(V) {})
}
