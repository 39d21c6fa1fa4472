package ledger

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// charges checks each charge's sum, and notes what open ones hold.
func (c *checker) charges() {
	c.each(c.tx, charges, func(key, value []byte) {
		c.counts.Charges++
		row, err := decodeCharge(value)
		if err != nil {
			c.violation("charge", string(chargeID(key)), "%v", err)
			return
		}
		for _, l := range row.lines {
			c.held[string(l.lot)] += l.took
		}
		c.found(row.check(chargeID(key)))
	})
}

// lots checks each lot's sum and what open charges hold of it, and adds it to its user's.
func (c *checker) lots(in kv.Bucket) {
	c.each(c.tx, in, func(key, value []byte) {
		c.counts.Lots++
		l, err := decodeLot(value)
		if err != nil {
			c.violation("lot", fmt.Sprintf("%q", key), "%v", err)
			return
		}
		c.found(l.check())
		if !bytes.Equal(key, l.key()) || (l.Remaining > 0) != (in == live) {
			c.violation("lot place", l.ID, "it does not lie where it belongs")
		}
		if held := c.held[string(key)]; held != l.Held {
			c.violation("held", l.ID, "it says that open charges hold %d of it; they hold %d", l.Held, held)
		}
		delete(c.held, string(key))
		if in == live && !l.Expires.IsZero() {
			c.lapse[string(l.sumKey())] += l.Remaining
			if !bytes.Equal(c.tx.Get(due, l.dueKey()), key) {
				c.violation("expiry index", l.ID, "it lapses at %s, and is not where it would be found then", l.Expires)
			}
		}
		if c.sums[l.User] == nil {
			c.sums[l.User] = new(account)
		}
		c.sums[l.User].add(l.Lot)
	})
}

// lapsing checks the sums of what lapses, and that nothing else is due.
func (c *checker) lapsing() {
	c.each(c.tx, lapseSum, func(key, value []byte) {
		if sum := decodeSum(value); sum != c.lapse[string(key)] {
			c.violation("expiry index", fmt.Sprintf("%q", key), "it says %d, the lots sum to %d", sum, c.lapse[string(key)])
		}
		delete(c.lapse, string(key))
	})
	c.each(c.tx, due, func(key, lotKey []byte) {
		if c.tx.Get(live, lotKey) == nil {
			c.violation("expiry index", fmt.Sprintf("%q", key), "it names a lot that has nothing left to lapse")
		}
	})
}

// accounts checks each account against its lots.
func (c *checker) accounts() {
	c.each(c.tx, accounts, func(key, value []byte) {
		c.counts.Accounts++
		u := imagegen.UserID(bytes.TrimSuffix(key, []byte{0}))
		a := decodeAccount(value)
		c.found(a.check(u))
		if sum := cmp.Or(c.sums[u], &account{}); *sum != a.account {
			c.violation("account", string(u), "it says %+v, its lots sum to %+v", a.account, *sum)
		}
		delete(c.sums, u)
	})
}

// unfounded reports what charges and lots name that is not there.
func (c *checker) unfounded() {
	if c.stopped() {
		return
	}
	for key, held := range c.held {
		c.violation("held", fmt.Sprintf("%q", key), "open charges hold %d of a lot that is not there", held)
	}
	for key, sum := range c.lapse {
		c.violation("expiry index", fmt.Sprintf("%q", key), "there is no sum for its lots, %d", sum)
	}
	for u, sum := range c.sums {
		c.violation("account", string(u), "there is none for its lots, which sum to %+v", *sum)
	}
}
