package ledger

import (
	"bytes"
	"context"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Counts is what Check went over.
type Counts struct{ Entries, Accounts, Lots, Charges int }

// Check goes over the whole ledger and reports every broken invariant: the journal's chain, each
// lot's and each account's sum, what open charges hold, the sum over all accounts, and that
// replaying the journal into scratch, which is empty, gives the state byte for byte. An error means
// that the check could not be carried out.
func Check(ctx context.Context, tx kv.Tx, scratch kv.DB, report func(imagegen.Violation)) (Counts, error) {
	c := &checker{ctx: ctx, tx: tx, scratch: scratch, report: report, sums: map[imagegen.UserID]*userSums{}}
	c.journal()
	c.lots(live)
	c.lots(spent)
	c.charges()
	c.accounts()
	if c.err == nil && !c.broken {
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
	sums    map[imagegen.UserID]*userSums
	broken  bool // the journal cannot be replayed
	err     error
}

// userSums is what a user's account must equal, added up from its lots and charges.
type userSums struct {
	account
	heldByCharges imagegen.Credits
}

func (c *checker) violation(rule, subject, format string, args ...any) {
	c.report(imagegen.Violation{Rule: rule, Subject: subject, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) of(u imagegen.UserID) *userSums {
	if c.sums[u] == nil {
		c.sums[u] = &userSums{}
	}
	return c.sums[u]
}

// replayBatch is how many entries are replayed in one transaction.
const replayBatch = 1000

// journal checks the chain and replays it.
func (c *checker) journal() {
	var last head
	var batch []entry
	c.tx.Ascend(journal, nil, func(key, value []byte) bool {
		if c.err = c.ctx.Err(); c.err != nil {
			return false
		}
		c.counts.Entries++
		e, ok := c.link(last, value)
		if !ok {
			c.broken = true
			return false
		}
		last = head{e.Seq, e.hash, e.Time}
		batch = append(batch, e)
		if len(batch) == replayBatch {
			c.replay(batch)
			batch = batch[:0]
		}
		return !c.broken
	})
	if c.err == nil && !c.broken {
		c.replay(batch)
	}
	if h := readHead(c.tx); !c.broken && (h.seq != last.seq || h.hash != last.hash) {
		c.violation("journal head", fmt.Sprint(h.seq), "the head is not the last entry, %d", last.seq)
	}
}

// link checks one entry against the one before it.
func (c *checker) link(last head, stored []byte) (entry, bool) {
	subject := fmt.Sprintf("entry %d", last.seq+1)
	e, err := decodeEntry(stored)
	switch {
	case err != nil:
		c.violation("journal entry", subject, "%v", err)
	case e.Seq != last.seq+1:
		c.violation("journal sequence", subject, "entry %d follows", e.Seq)
	case e.hash != chained(last.hash, stored[:len(stored)-len(e.hash)]):
		c.violation("journal chain", subject, "its hash does not follow from its content and the entry before it")
	case e.Time.Before(last.time):
		c.violation("journal time", subject, "it is older than the entry before it")
	default:
		return e, true
	}
	return e, false
}

func (c *checker) replay(batch []entry) {
	err := c.scratch.Update(c.ctx, func(tx kv.Tx) error {
		for _, e := range batch {
			if err := apply(tx, e); err != nil {
				return fmt.Errorf("entry %d: %w", e.Seq, err)
			}
			c.prefix(tx, e)
		}
		return nil
	})
	if err != nil {
		c.broken = true
		c.violation("journal replay", "journal", "%v", err)
	}
}

// prefix checks the balance after an entry.
func (c *checker) prefix(tx kv.Tx, e entry) {
	if e.User == "" {
		return
	}
	a := readAccount(tx, e.User)
	if a.Available != e.Balance || a.Available < 0 || a.Held < 0 {
		c.violation("balance", fmt.Sprintf("entry %d", e.Seq), "user %q has %d (%d held) by the entries, %d by this one",
			e.User, a.Available, a.Held, e.Balance)
	}
}

func (c *checker) lots(in kv.Bucket) {
	c.tx.Ascend(in, nil, func(key, value []byte) bool {
		l, err := decodeLot(value)
		if err != nil {
			c.violation("lot", fmt.Sprintf("%x", key), "%v", err)
			return true
		}
		c.counts.Lots++
		if least := min(l.Remaining, l.Held, l.Spent, l.Expired, l.Revoked, l.Moved); least < 0 ||
			l.Granted != l.Remaining+l.Held+l.Spent+l.Expired+l.Revoked+l.Moved {
			c.violation("lot sum", l.ID, "granted %d is not remaining %d + held %d + spent %d + expired %d + revoked %d + moved %d",
				l.Granted, l.Remaining, l.Held, l.Spent, l.Expired, l.Revoked, l.Moved)
		}
		if !bytes.Equal(key, l.key()) || (l.Remaining > 0) != (in == live) {
			c.violation("lot place", l.ID, "it does not lie where it belongs")
		}
		u := c.of(l.User)
		u.Available += l.Remaining
		u.Held += l.Held
		u.Granted += l.Granted - l.Moved
		u.Spent += l.Spent
		u.Expired += l.Expired
		u.Revoked += l.Revoked
		return true
	})
}

func (c *checker) charges() {
	c.tx.Ascend(charges, nil, func(key, value []byte) bool {
		row, err := decodeCharge(value)
		if err != nil {
			c.violation("charge", string(key[:len(key)-1]), "%v", err)
			return true
		}
		c.counts.Charges++
		var held imagegen.Credits
		for _, l := range row.lines {
			held += l.took
		}
		if !row.Settled && held != row.Credits || row.Settled && held != 0 || row.Used < 0 || row.Used > row.Credits {
			c.violation("charge sum", string(key[:len(key)-1]), "%d charged, %d used, %d held", row.Credits, row.Used, held)
		}
		if row.User != "" {
			c.of(row.User).heldByCharges += held
		}
		return true
	})
}

// accounts checks each account against its lots and charges, and all of them together.
func (c *checker) accounts() {
	var total imagegen.Credits
	c.tx.Ascend(accounts, nil, func(key, value []byte) bool {
		c.counts.Accounts++
		u := imagegen.UserID(key[:len(key)-1])
		a, sums := decodeAccount(value), c.of(u)
		if a != sums.account {
			c.violation("account", string(u), "it says %+v, its lots %+v", a, sums.account)
		}
		if a.Held != sums.heldByCharges {
			c.violation("held", string(u), "the account holds %d, its open charges %d", a.Held, sums.heldByCharges)
		}
		total += a.Granted - a.Available - a.Held - a.Spent - a.Expired - a.Revoked
		delete(c.sums, u)
		return true
	})
	if total != 0 {
		c.violation("zero sum", "all accounts", "they sum to %d", total)
	}
	for u, sums := range c.sums {
		if *sums != (userSums{}) {
			c.violation("account", string(u), "there is none for its lots %+v", sums.account)
		}
	}
}

// compare holds the state against the replayed one, byte for byte.
func (c *checker) compare() {
	err := c.scratch.View(c.ctx, func(replayed kv.Tx) error {
		for _, name := range stateBuckets {
			c.contains(name, "the journal leads to another value", c.tx, replayed)
			c.contains(name, "no journal entry leads to it", replayed, c.tx)
		}
		return nil
	})
	if c.err == nil {
		c.err = err
	}
}

// contains checks that each value of one side is on the other.
func (c *checker) contains(name kv.Bucket, otherwise string, in, all kv.Tx) {
	all.Ascend(name, nil, func(key, value []byte) bool {
		if !bytes.Equal(in.Get(name, key), value) {
			c.violation("journal replay", fmt.Sprintf("%s %q", name, key), "%s", otherwise)
		}
		return c.ctx.Err() == nil
	})
}
