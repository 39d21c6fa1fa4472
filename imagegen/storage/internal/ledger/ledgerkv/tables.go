package ledgerkv

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

const (
	journal   kv.Bucket = "ledger.journal"   // user, sequence → entry with its hash
	due       kv.Bucket = "ledger.due"       // Account.Next.At, user → present
	spendable kv.Bucket = "ledger.spendable" // user, order of consumption, number → present
	expiring  kv.Bucket = "ledger.expiring"  // user, expiry, number → present
	clockIs   kv.Bucket = "ledger.clock"     // what is known of the clock
)

var only = []byte{0} // the key in a bucket that has one, and the value of an index's keys

var (
	accounts = table[ledger.Account]{bucket: "ledger.accounts", form: accountForm, indexes: []index[ledger.Account]{{due, dueKey, dueMoves}}}
	lots     = table[ledger.Lot]{bucket: "ledger.lots", form: lotForm, indexes: []index[ledger.Lot]{{spendable, spendableKey, lotMoves}, {expiring, expiringKey, lotMoves}}}
	charges  = table[ledger.Charge]{bucket: "ledger.charges", form: chargeForm}
	refs     = table[ledger.Place]{bucket: "ledger.refs", form: placeForm}
	days     = table[imagegen.Credits]{bucket: "ledger.days", form: kv.Number[imagegen.Credits]}
)

func dueMoves(from, to *ledger.Account) bool { return !from.Next.At.Equal(to.Next.At) }

// lotMoves: all but Remaining is as it was when the lot was made.
func lotMoves(from, to *ledger.Lot) bool { return (from.Remaining > 0) != (to.Remaining > 0) }

func dueKey(a *ledger.Account) []byte {
	if a.Next.At.IsZero() {
		return nil
	}
	return kv.Key(kv.TimeKey(a.Next.At), string(a.User))
}

// spendableKey sorts the lots of a user as ledger.Lot.Compare does.
func spendableKey(l *ledger.Lot) []byte {
	if l.Remaining == 0 {
		return nil
	}
	paid := byte(1)
	if l.Promo {
		paid = 0
	}
	return kv.Key(string(l.User), byte(l.Priority), kv.TimeKey(l.Expires), paid, kv.TimeKey(l.Effective), l.Number)
}

func expiringKey(l *ledger.Lot) []byte {
	if l.Remaining == 0 || l.Expires.IsZero() {
		return nil
	}
	return kv.Key(string(l.User), kv.TimeKey(l.Expires), l.Number)
}

func accountForm(c *kv.Coder, a *ledger.Account) {
	c.Version(1)
	kv.Text(c, &a.User)
	for _, n := range []*imagegen.Credits{&a.Available, &a.Held, &a.Granted, &a.Spent, &a.Expired, &a.Revoked, &a.Next.Credits} {
		kv.Number(c, n)
	}
	kv.Moment(c, &a.Next.At)
	kv.Number(c, &a.Lots)
	kv.Number(c, &a.Seq)
	kv.Fixed(c, a.Hash[:])
	kv.Moment(c, &a.Time)
	kv.Number(c, &a.Epoch)
}

func lotForm(c *kv.Coder, l *ledger.Lot) {
	c.Version(1)
	kv.Number(c, &l.Number)
	kv.Text(c, &l.User)
	for _, n := range []*imagegen.Credits{&l.Granted, &l.Remaining, &l.Held, &l.Spent, &l.Expired, &l.Revoked, &l.Moved} {
		kv.Number(c, n)
	}
	kv.Flag(c, &l.Promo)
	kv.Number(c, &l.Priority)
	kv.Moment(c, &l.Effective)
	kv.Moment(c, &l.Expires)
	kv.Text(c, &l.Ref)
	kv.Flag(c, &l.Refund)
}

func chargeForm(c *kv.Coder, r *ledger.Charge) {
	c.Version(1)
	placeForm(c, &r.Place)
	kv.Number(c, &r.Credits)
	kv.Flag(c, &r.Settled)
	kv.Number(c, &r.Used)
	kv.List(c, &r.Postings, ledger.PostingForm)
}

func placeForm(c *kv.Coder, p *ledger.Place) {
	kv.Text(c, &p.User)
	kv.Number(c, &p.Seq)
}
