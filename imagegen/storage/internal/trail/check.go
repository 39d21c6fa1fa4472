package trail

import (
	"bytes"
	"context"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Audit goes over the whole trail and reports a row that was changed, inserted, or removed from between others or from
// the newest end. It stops at the first such row, since the hashes of all later ones depend on it. It returns how
// many rows it read. Its error means that the check could not be carried out.
func Audit(ctx context.Context, tx kv.Tx, report func(imagegen.Violation)) (n int, err error) {
	broken := func(seq uint64, format string, args ...any) {
		report(imagegen.Violation{Rule: "trail chain", Subject: fmt.Sprintf("row %d", seq), Detail: fmt.Sprintf(format,
			args...)})
	}
	last, err := readEnd(tx, removed)
	if err != nil {
		broken(last.Seq, "%v", err)
		return 0, nil
	}
	whole := true
	tx.Ascend(Rows, nil, func(key, stored []byte) bool {
		n++
		r, err := Decode(stored)
		switch {
		case err != nil:
			broken(last.Seq+1, "%v", err)
		case r.Seq != last.Seq+1 || !bytes.Equal(key, kv.Key(r.Seq)):
			broken(last.Seq+1, "row %d follows", r.Seq)
		case r.Hash != kv.Chained(last.Hash, stored[:len(stored)-len(r.Hash)]):
			broken(r.Seq, "its hash does not follow from its content and the row before it")
		default:
			last = End{r.Seq, r.Hash}
			return ctx.Err() == nil
		}
		whole = false
		return false
	})
	if whole && ctx.Err() == nil {
		if head, err := readEnd(tx, newest); err != nil || head != last {
			broken(last.Seq, "the trail should end with row %d (%v)", head.Seq, err)
		}
	}
	return n, ctx.Err()
}
