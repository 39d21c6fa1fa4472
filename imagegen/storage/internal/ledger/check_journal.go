package ledger

import (
	"bytes"
	"fmt"

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
		last = head{e.Seq, e.hash, e.Time}
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
	subject := fmt.Sprintf("entry %d", last.seq+1)
	e, err := decodeEntry(stored)
	switch {
	case err != nil:
		c.violation("journal entry", subject, "%v", err)
	case e.Seq != last.seq+1 || !bytes.Equal(key, kv.Key(e.Seq)):
		c.violation("journal sequence", subject, "entry %d follows", e.Seq)
	case e.hash != chained(last.hash, stored[:len(stored)-len(e.hash)]):
		c.violation("journal chain", subject, "its hash does not follow from its content and the entry before it")
	case e.Time.Before(last.time):
		c.violation("journal time", subject, "it is older than the entry before it")
	default:
		c.postings(e)
		return e, true
	}
	return e, false
}

// postings checks that an entry moves the credits that it says, and makes none.
func (c *checker) postings(e entry) {
	var p account
	p.post(e)
	var granted, spent imagegen.Credits
	switch e.Kind {
	case imagegen.EntryGrant:
		granted = e.Credits
	case imagegen.EntrySettle:
		spent = e.Used
	}
	if !p.balanced() || p.Available != e.Credits || p.Granted != granted || p.Spent != spent {
		c.violation("postings", fmt.Sprintf("entry %d", e.Seq), "a %s of %d, %d used, posts %+v", e.Kind, e.Credits, e.Used, p)
	}
}

// replay applies entries to the empty books; false if they do not fit.
func (c *checker) replay(batch []entry) bool {
	var wrong error
	var broken []entry
	err := c.scratch.Update(c.ctx, func(tx kv.Tx) error {
		wrong, broken = nil, nil
		for _, e := range batch {
			if wrong = apply(tx, e); wrong != nil {
				wrong = fmt.Errorf("entry %d: %w", e.Seq, wrong)
				return nil
			}
			if a := readAccount(tx, e.User); e.User != "" && (a.Available != e.Balance || a.Available < 0 || a.Held < 0) {
				e.Balance = a.Available
				broken = append(broken, e)
			}
		}
		return nil
	})
	if err != nil {
		c.err = err
		return false
	}
	for _, e := range broken {
		c.violation("balance", fmt.Sprintf("entry %d", e.Seq), "by the entries so far user %q has %d", e.User, e.Balance)
	}
	if wrong != nil {
		c.violation("journal replay", "journal", "%v", wrong)
	}
	return wrong == nil
}
