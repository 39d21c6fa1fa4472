package ledger

import "github.com/imagegend/imagegend/imagegen/storage/internal/kv"

// Replay puts a stored entry of another ledger at the end of its user's journal, with the rows that it leads to. So a
// journal that is copied entry by entry brings its account along. The clock's mark is not touched. An
// imagegen.Violation: the entry does not follow those that exist, or would break an invariant.
func Replay(tx Tx, stored []byte) error {
	e, err := DecodeEntry(stored)
	if err != nil {
		return broken("journal entry", e.subject(), "%v", err)
	}
	a := Books{tx: tx}.accountOf(e.User)
	if err := e.follows(a.Account); err != nil {
		return err
	}
	c, err := apply(a, e)
	if err == nil {
		err = c.book(tx)
	}
	if err == nil {
		tx.Write(c)
	}
	return err
}

// follows returns an imagegen.Violation unless the entry is sound, and the next of an account.
func (e Entry) follows(a Account) error {
	switch {
	case e.User != a.User || e.Seq != a.Seq+1:
		return broken("journal sequence", Place{a.User, a.Seq + 1}.subject(), "%s follows", e.subject())
	case e.Hash != kv.Chained(a.Hash, e.Encoded):
		return broken("journal chain", e.subject(), "its hash does not follow from its content and the entry before it")
	}
	return e.checkPostings()
}
