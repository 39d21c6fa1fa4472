package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Counts is what Check went over.
type Counts struct{ Entries, Accounts, Lots, Charges int }

// Check goes over the whole ledger and reports every broken invariant: the journal's chain, the
// postings of each entry, each lot's and each account's sum, what open charges hold, the sum over
// all accounts, and that replaying the journal into scratch, which is empty, gives the state byte
// for byte. An error means that the check could not be carried out.
//
// It keeps a few numbers in memory for each account, each open charge and each expiry that is ahead.
func Check(ctx context.Context, tx kv.Tx, scratch kv.DB, report func(imagegen.Violation)) (Counts, error) {
	c := &checker{ctx: ctx, tx: tx, scratch: scratch, report: report,
		held: make(map[string]imagegen.Credits), lapse: make(map[string]imagegen.Credits), sums: make(map[imagegen.UserID]*account)}
	whole := c.journal()
	c.charges()
	c.lots(live)
	c.lots(spent)
	c.lapsing()
	c.accounts()
	c.unfounded()
	if whole {
		c.compare()
	}
	return c.counts, c.err
}

type checker struct {
	ctx     context.Context
	tx      kv.Tx
	scratch kv.DB
	report  func(imagegen.Violation)
	counts  Counts
	held    map[string]imagegen.Credits  // lot key → what open charges hold of it
	lapse   map[string]imagegen.Credits  // user and expiry → what lapses then
	sums    map[imagegen.UserID]*account // over the user's lots
	err     error                        // why the check cannot be carried out
}

func (c *checker) violation(rule, subject, format string, args ...any) {
	c.report(broken(rule, subject, format, args...))
}

// broken is the error of what would break an invariant.
func broken[Subject ~string](rule string, subject Subject, format string, args ...any) imagegen.Violation {
	return imagegen.Violation{Rule: rule, Subject: string(subject), Detail: fmt.Sprintf(format, args...)}
}

// found reports what a check returns.
func (c *checker) found(err error) {
	if v, ok := errors.AsType[imagegen.Violation](err); ok {
		c.report(v)
	}
}

// stopped reports whether the check has to end, and notes why.
func (c *checker) stopped() bool {
	if c.err == nil {
		c.err = c.ctx.Err()
	}
	return c.err != nil
}

// each goes over a bucket until the check has to end.
func (c *checker) each(tx kv.Tx, b kv.Bucket, f func(key, value []byte)) {
	if c.stopped() {
		return
	}
	tx.Ascend(b, nil, func(key, value []byte) bool {
		f(key, value)
		return !c.stopped()
	})
}

// compare holds the state against the replayed one, byte for byte.
func (c *checker) compare() {
	if c.stopped() {
		return
	}
	err := c.scratch.View(c.ctx, func(replayed kv.Tx) error {
		for _, b := range derived {
			c.each(replayed, b, func(key, value []byte) {
				if !bytes.Equal(c.tx.Get(b, key), value) {
					c.violation("journal replay", fmt.Sprintf("%s %q", b, key), "the journal leads to another value")
				}
			})
			c.each(c.tx, b, func(key, _ []byte) {
				if replayed.Get(b, key) == nil {
					c.violation("journal replay", fmt.Sprintf("%s %q", b, key), "no journal entry leads to it")
				}
			})
		}
		return nil
	})
	if c.err == nil {
		c.err = err
	}
}
