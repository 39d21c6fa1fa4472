package ledgerkv

import (
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
)

// The buckets, each with what is in its keys → its values.
const (
	accountsIn kv.Bucket = "ledger.accounts" // user → account
	lotsIn     kv.Bucket = "ledger.lots"     // user, number → lot
	chargesIn  kv.Bucket = "ledger.charges"  // charge → where its last entry stands, and what an open one holds
	refsIn     kv.Bucket = "ledger.refs"     // reference of a grant or revocation → where its entry stands
	usageIn    kv.Bucket = "ledger.usage"    // user, key, day, model → sums
	keysIn     kv.Bucket = "ledger.keys"     // user, key → what it has used in all
	journal              = JournalIn         // user, sequence → entry with its hash
	clockIs              = ClockIn           // what is known of the clock
)

var only = []byte{0} // the key in a bucket that has one

// The tables and their indexes. spendable and expiring have no entries of lots without credits, so that what a charge
// reads does not grow with the lots that a user has used up.
var (
	accounts = table.New(accountsIn, func(a *ledger.Account) []byte { return kv.Key(string(a.User)) }, accountForm)
	due      = accounts.Index("due", func(a *ledger.Account) []byte {
		if a.Next.At.IsZero() {
			return nil
		}
		return kv.Key(kv.TimeKey(a.Next.At))
	})
	lots = table.New(lotsIn, func(l *ledger.Lot) []byte { return kv.Key(string(l.User), l.Number) }, lotForm)
	// spendable is in the order of ledger.Lot.Compare.
	spendable = lots.Index("spendable", func(l *ledger.Lot) []byte {
		paid := byte(1)
		if l.Promo {
			paid = 0
		}
		return kv.Key(string(l.User), byte(l.Priority), kv.TimeKey(l.Expires), paid, kv.TimeKey(l.Effective))
	}).While(func(l *ledger.Lot) bool { return l.Remaining > 0 })
	expiring = lots.Index("expiring", func(l *ledger.Lot) []byte {
		return kv.Key(string(l.User), kv.TimeKey(l.Expires))
	}).While(func(l *ledger.Lot) bool { return l.Remaining > 0 && !l.Expires.IsZero() })
	usage = table.New(usageIn, func(u *ledger.Usage) []byte { return usageKey(u.UsageKey) }, usageForm)
	// The rows of one day stand together, those of all users: a sum over all users reads no other day.
	usageDays = usage.Index("days", func(u *ledger.Usage) []byte { return dayKey(u.Day) }).
			While(func(u *ledger.Usage) bool { return u.Generations > 0 })
	totals = table.New(keysIn, func(t *ledger.KeyTotal) []byte { return kv.Key(string(t.User), string(t.Key)) },
		totalForm)
)

func usageKey(k ledger.UsageKey) []byte {
	return kv.Key(string(k.User), string(k.Key), dayKey(k.Day), k.Model)
}

// dayKey orders days, which begin at midnight in UTC. Its length is fixed, so that a model can follow it in a key.
func dayKey(day time.Time) []byte { return kv.Key(uint64(max(0, day.Unix()))) }

// get reads a row; known is false if there is none. One that cannot be read makes it panic with a kv.Damage.
func get[Row any](tx kv.Tx, b kv.Bucket, key []byte, form func(*kv.Coder, *Row)) (row Row, known bool) {
	stored := tx.Get(b, key)
	if stored == nil {
		return row, false
	}
	return decoded(b, stored, form), true
}

// decoded is the row in stored bytes. It panics as get does.
func decoded[Row any](b kv.Bucket, stored []byte, form func(*kv.Coder, *Row)) (row Row) {
	if err := kv.Decode(stored, &row, form); err != nil {
		panic(kv.Damage{Err: fmt.Errorf("ledger: a row of %s cannot be read; run an audit: %w", b, err)})
	}
	return row
}

// The forms of the rows. The order of the fields is the format, see kv.Coder.

func accountForm(c *kv.Coder, a *ledger.Account) {
	c.Version(1)
	kv.Text(c, &a.User)
	for _, n := range []*imagegen.Credits{&a.Available, &a.Held, &a.Granted, &a.Spent, &a.Expired, &a.Revoked,
		&a.Next.Credits} {
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
	for _, n := range []*imagegen.Credits{&l.Granted, &l.Remaining, &l.Held, &l.Spent, &l.Expired, &l.Revoked,
		&l.Moved} {
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

func usageForm(c *kv.Coder, u *ledger.Usage) {
	c.Version(1)
	kv.Text(c, &u.User)
	kv.Text(c, &u.Key)
	day := u.Day.Unix()
	kv.Number(c, &day)
	u.Day = time.Unix(day, 0).UTC()
	kv.Text(c, &u.Model)
	for _, n := range []*imagegen.Credits{&u.Charged, &u.Refunded, &u.Spent} {
		kv.Number(c, n)
	}
	for _, n := range []*int{&u.Images, &u.Generations, &u.Failed} {
		kv.Number(c, n)
	}
	kv.Number(c, &u.Cancelled)
}

func totalForm(c *kv.Coder, t *ledger.KeyTotal) {
	c.Version(1)
	kv.Text(c, &t.User)
	kv.Text(c, &t.Key)
	kv.Number(c, &t.Credits)
	kv.Number(c, &t.Open)
}
