package ledgerkv

import (
	"bytes"
	"context"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// Check is ledger.Check, and checks as well that rows are as they are written, lie where they belong and
// stand in the indexes, and nothing else does.
func Check(ctx context.Context, tx kv.Tx, report func(imagegen.Violation)) (ledger.Counts, error) {
	c := checker{ctx, tx, report}
	checkTable(c, accounts, func(a ledger.Account) []byte { return kv.Key(string(a.User)) })
	checkTable(c, lots, func(l ledger.Lot) []byte { return kv.Key(string(l.User), l.Number) })
	checkTable(c, charges, nil) // that these lie where they belong shows when they are read
	checkTable(c, refs, nil)
	checkTable(c, days, nil)
	return ledger.Check(ctx, Rows(tx), report)
}

type checker struct {
	ctx    context.Context
	tx     kv.Tx
	report func(imagegen.Violation)
}

func (c checker) violation(rule string, b kv.Bucket, key []byte, format string, args ...any) {
	c.report(imagegen.Violation{Rule: rule, Subject: fmt.Sprintf("%s %q", b, key), Detail: fmt.Sprintf(format, args...)})
}

func checkTable[Row any](c checker, t table[Row], place func(Row) []byte) {
	entries := make([]int, len(t.indexes)) // that each index should have
	c.tx.Ascend(t.bucket, nil, func(key, value []byte) bool {
		err := kv.Spare(func() error {
			row := t.decode(value)
			if place != nil && !bytes.Equal(key, place(row)) || !bytes.Equal(value, t.encode(&row)) {
				c.violation("place", t.bucket, key, "it does not lie where it belongs")
			}
			for n, i := range t.indexes {
				if at := i.key(&row); at != nil {
					entries[n]++
					if c.tx.Get(i.bucket, at) == nil {
						c.violation("index", t.bucket, key, "it is not in %s", i.bucket)
					}
				}
			}
			return nil
		})
		if err != nil {
			c.violation("row", t.bucket, key, "%v", err)
		}
		return c.ctx.Err() == nil
	})
	for n, i := range t.indexes {
		c.index(i.bucket, entries[n])
	}
}

// index checks that an index has as many entries as it should; those that it should have are there.
func (c checker) index(b kv.Bucket, want int) {
	n := 0
	c.tx.Ascend(b, nil, func(key, value []byte) bool {
		if n++; !bytes.Equal(value, only) {
			c.violation("index", b, key, "it has a value that no index has")
		}
		return c.ctx.Err() == nil
	})
	if c.ctx.Err() == nil && n != want {
		c.violation("index", b, nil, "it has %d entries and should have %d", n, want)
	}
}
