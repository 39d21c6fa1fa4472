package ledger

import (
	"context"
	"iter"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
)

// Store runs transactions over the rows of a ledger. The contract of kv.DB holds here too: in particular, f of
// Update may run more than once, and decides before its first write.
type Store interface {
	View(ctx context.Context, f func(Tx) error) error
	Update(ctx context.Context, f func(Tx) error) error
}

// Foreseeing is a Store that locks the account which an update is about, and looks for its reference ("": it has none),
// before it runs it, so that it can run several updates in one transaction.
type Foreseeing interface {
	UpdateAccount(ctx context.Context, u imagegen.UserID, ref string, f func(Tx) error) error
}

// Tx is one transaction over the rows of a ledger. Its reads see its writes. Callers write nothing while an
// iterator runs.
//
// A row that is damaged, or a write that the store cannot take, ends the transaction with an error:
// no method returns one.
type Tx interface {
	// Account returns a user's account; one that has no entries yet is empty.
	Account(imagegen.UserID) Account
	// Lot returns a user's lot by its number.
	Lot(u imagegen.UserID, number uint64) (l Lot, known bool)
	// Lots goes over all lots of a user, as they were made.
	Lots(imagegen.UserID) iter.Seq[Lot]
	// Spendable goes over those with credits remaining, in the order in which they are consumed, see
	// [Lot.Compare].
	Spendable(imagegen.UserID) iter.Seq[Lot]
	// Expiring goes over the spendable lots that have an expiry, earliest first, see [Lot.CompareExpiry].
	Expiring(imagegen.UserID) iter.Seq[Lot]
	// Due goes over the users of whose lots some expire at or before a time, see [Account.Next].
	Due(time.Time) iter.Seq[imagegen.UserID]
	// Charge returns a charge, open or settled.
	Charge(imagegen.ChargeID) (c Charge, known bool)
	// Ref returns the place of the grant or revocation that has a reference.
	Ref(string) (p Place, known bool)
	// Entry returns an entry of the journal.
	Entry(Place) (e Entry, known bool)
	// Usage goes over the rows of a user's usage on the days from one until before another, in any order.
	Usage(u imagegen.UserID, from, to time.Time) iter.Seq[Usage]
	// DayUsage goes over those of all users on a day.
	DayUsage(day time.Time) iter.Seq[Usage]
	// KeyUsage goes over those of one of the user's API keys.
	KeyUsage(u imagegen.UserID, k imagegen.KeyID, from, to time.Time) iter.Seq[Usage]
	// UsageRow returns one row; one that was never written has no sums.
	UsageRow(UsageKey) Usage
	// KeyTotal returns what a user's API key has used in all; one that was never charged has used nothing.
	KeyTotal(imagegen.UserID, imagegen.KeyID) KeyTotal
	// Clock returns what was written down of the clock.
	Clock() clock.Mark

	// Write puts an entry at the end of its user's journal, and the rows that it leads to.
	Write(*Change)
	// PutClock writes down what is known of the clock.
	PutClock(clock.Mark)
	// Note puts a row at the end of the audit trail.
	Note(account.TrailRow) error
	// OnCommit has f called once the transaction is durable.
	OnCommit(f func())
}

// Rows are all the rows of a ledger, as an audit reads them.
type Rows interface {
	Tx
	// Users goes over all users who have any row, in order. The empty name, the system's, is among
	// them if it has rows.
	Users() iter.Seq[imagegen.UserID]
	// Journal goes over a user's entries in order. One that cannot be read comes with an error.
	Journal(imagegen.UserID) iter.Seq2[Entry, error]
	// Charges goes over all charges, those included that cannot be read.
	Charges() iter.Seq[imagegen.ChargeID]
	// Refs goes over all references.
	Refs() iter.Seq[string]
	// KeyTotals goes over the totals of a user's API keys.
	KeyTotals(imagegen.UserID) iter.Seq[KeyTotal]
}

// Change is what an entry does to the rows. A store writes it as a whole, and may rely on From being what it has:
// Write comes in the transaction that read it.
type Change struct {
	Entry    Entry
	From, To Account
	Lots     []LotChange
	Charge   *Charge       // as it stands then; nil: the entry is not about one
	Usage    []UsageChange // none: the entry is about no user's charge
	Keys     []KeyChange   // none: the entry is about no charge that an API key or a member asked for
}

// UsageChange is what an entry does to a row of usage.
type UsageChange struct{ From, To Usage }

// KeyChange is what an entry does to the total of an API key.
type KeyChange struct{ From, To KeyTotal }

// LotChange is what an entry does to a lot. From is empty for one that it makes.
type LotChange struct{ From, To Lot }

// Place is where an entry stands: in whose journal, and as which number.
type Place struct {
	User imagegen.UserID // empty: the system's
	Seq  uint64
}

// Charge is the state of a charge. It is kept for ever, since it tells a repetition from a conflict, and a charge that
// comes after its settlement from a new one.
type Charge struct {
	Place    // of its last entry; without a user: it was settled before it was ever charged
	Credits  imagegen.Credits
	Settled  bool
	Used     imagegen.Credits
	Postings []Posting // what an open charge holds, in the order in which it was consumed
}
