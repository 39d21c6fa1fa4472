package ledger

import (
	"bytes"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// replayBatch is how many entries are replayed in one transaction.
const replayBatch = 1000

// journal checks the chain and replays it. It stops at the first entry that does not fit, and
// reports whether there is none.
func (c *checker) journal() (whole bool) {
	whole = true
	var last head
	var batch []entry
	c.tx.Ascend(journal, nil, func(key, stored []byte) bool {
		c.counts.Entries++
		var e entry
		if e, whole = c.link(last, key, stored); !whole {
			return false
		}
		last = head{seq: e.Seq, hash: e.hash}
		if batch = append(batch, e); len(batch) == replayBatch {
			whole = c.replay(batch)
			batch = batch[:0]
		}
		return whole && !c.stopped()
	})
	return whole && c.replay(batch)
}

// link checks one entry, and that it follows the one before it.
func (c *checker) link(last head, key, stored []byte) (entry, bool) {
	subject := entry{Entry: imagegen.Entry{Seq: last.seq + 1}}.subject()
	e, err := decodeEntry(stored)
	switch {
	case err != nil:
		c.violation("journal entry", subject, "%v", err)
	case e.Seq != last.seq+1 || !bytes.Equal(key, kv.Key(e.Seq)):
		c.violation("journal sequence", subject, "entry %d follows", e.Seq)
	case e.hash != kv.Chained(last.hash, stored[:len(stored)-len(e.hash)]):
		c.violation("journal chain", subject, "its hash does not follow from its content and the entry before it")
	default:
		c.found(e.check())
		return e, true
	}
	return e, false
}

// replay applies entries to the empty books; false if they do not fit.
func (c *checker) replay(batch []entry) bool {
	var wrong error
	var at entry
	err := c.scratch.Update(c.ctx, func(tx kv.Tx) error {
		for _, at = range batch {
			if wrong = apply(tx, at); wrong != nil {
				return nil
			}
		}
		return nil
	})
	if err != nil {
		c.err = err
		return false
	}
	v, broken := errors.AsType[imagegen.Violation](wrong)
	switch {
	case broken:
		c.violation(v.Rule, v.Subject, "%s leads to it: %s", at.subject(), v.Detail)
	case wrong != nil:
		c.violation("journal replay", at.subject(), "%v", wrong)
	}
	return wrong == nil
}
