package imagegen

import (
	"context"
	"errors"
	"time"
)

// Credits is a whole number of credits. Amounts that are granted or charged lie between 1 and
// [MaxCredits]. An account never holds more than MaxCredits in all.
type Credits int64

// MaxCredits is 2⁵³−1: every JSON reader keeps integers up to it exact (RFC 8259, section 6).
const MaxCredits Credits = 1<<53 - 1

var errCreditsRange = errors.New("imagegen: the amount of credits is out of range")

// Valid reports whether c can be granted or charged.
func (c Credits) Valid() bool { return c >= 1 && c <= MaxCredits }

// Times returns the price of n units at c each, or an error if c or the product is not Valid, or
// n is below 1.
func (c Credits) Times(n int) (Credits, error) {
	if !c.Valid() || n < 1 || Credits(n) > MaxCredits/c {
		return 0, errCreditsRange
	}
	return c * Credits(n), nil
}

// Balance is what an account can spend.
type Balance struct {
	Credits        Credits
	AccountType    string      // DefaultAccountType unless an operator set another
	NextExpiration *Expiration // nil: none of the credits expire
}

// Expiration says when the next credits expire, and how many.
type Expiration struct {
	Credits Credits
	At      time.Time
}

// Charge takes credits for one generation: N images in a tier of a model.
type Charge struct {
	ID      ChargeID
	User    UserID
	Credits Credits // valid by Credits.Valid

	// Model, Tier, N and Key are for bills and usage only. Charges with the same ID, user and
	// amount are the same charge.
	Model string
	Tier  Tier
	N     int
	Key   KeyID // the API key of the request; "": none, in process or from the console

	// Member is the user for whom User pays, see User.Sponsor; "": the user pays for itself. It is for bills and usage,
	// and for the limits of the member.
	Member UserID
}

// Same reports whether o repeats c: it has the same ID, user and amount. If only the ID is the
// same, the two are in conflict.
func (c Charge) Same(o Charge) bool {
	return c.ID == o.ID && c.User == o.User && c.Credits == o.Credits
}

// Ledger takes and returns credits. An existing billing system can implement it.
//
// It is safe for concurrent use, also by several processes. Charge and Settle are idempotent by
// the charge's ID: repeating a call that succeeded, or whose outcome is unknown, changes nothing
// more. If [Definite] reports true for an error, the call changed nothing; after any other error
// its outcome is unknown. If its context ends, a call has no effect or its outcome is unknown.
//
// The engine makes a call up to Config.LedgerCalls.Tries times if its outcome is unknown or it failed
// with [ErrNotApplied], and limits each try to Config.LedgerCalls.Timeout. It treats any other definite
// error as a final refusal. After a Charge that was refused, or whose outcome stays unknown, it
// calls Settle with 0.
//
// Optional: [ChargeLister] and [CreditAdmin].
type Ledger interface {
	// Charge takes the credits and keeps the charge open. It is durable when it returns
	// nil. ErrInsufficientCredits: the account holds less. ErrChargeConflict: the ID
	// exists with another user or amount. ErrChargeClosed: the ID was already settled,
	// possibly before it was ever charged. ErrChargeRefused, made with [ChargeRefused]: the
	// ledger refuses, and its message tells the caller why.
	Charge(ctx context.Context, c Charge) error

	// Settle closes a charge: used is spent and the rest goes back. It is durable when it
	// returns nil. If the ID is unknown and used is 0, Settle succeeds and leaves a tombstone:
	// a Charge with this ID that arrives later is refused. ErrNotFound: the ID is unknown and
	// used is not 0. ErrChargeConflict: the charge was settled to another amount, or used is
	// negative or more than was charged.
	Settle(ctx context.Context, id ChargeID, used Credits) error

	// Balance returns what the user can spend, without what open charges hold. A user that
	// the ledger does not know has 0 credits. Balance leaves AccountType empty: the engine
	// fills it in.
	Balance(ctx context.Context, u UserID) (Balance, error)
}

// ChargeLister is an optional part of a [Ledger]. Engine.Reconcile needs it.
type ChargeLister interface {
	// OpenCharges returns up to n open charges in the order of their IDs, starting after the given one
	// ("": with the first).
	OpenCharges(ctx context.Context, after ChargeID, n int) ([]Charge, error)
}

// CreditAdmin is a Ledger that also keeps lots and a journal, and sums up usage. Packages
// storage, memory and postgres implement it. The engine needs it only for Session.Usage
// and for the limits of keys; operators need it to grant and revoke credits.
//
// Credits are kept in lots. They are consumed in this order: lowest priority first, then
// earliest expiry (none last), promotional before paid, earliest effective, and then in
// the order in which they were granted.
type CreditAdmin interface {
	Ledger

	// Grant adds a lot. It is idempotent by Ref: a repetition returns the existing lot, even
	// if Promo, Priority or Expires differ. ErrGrantConflict: the Ref exists with another user
	// or amount, or belongs to a revocation. ErrInvalidRequest: the user is not Valid; the
	// amount, the priority or the Ref is out of range; the account would exceed MaxCredits;
	// the expiry is not in the future, or after the year 2262; or a sponsor pays for the user,
	// if the store has a say in the ledger's commits.
	Grant(ctx context.Context, g Grant) (Granted, error)

	// Revoke takes unspent credits back: all of r.Credits, or none. It is idempotent by Ref: a
	// repetition returns the existing entry. ErrGrantConflict: the Ref exists with another
	// user or amount, belongs to a grant, or took the credits from another lot than r.Lot.
	// ErrInvalidRequest: the user is not Valid, or the amount or the Ref is out of range.
	// ErrInsufficientCredits: the account or r.Lot has fewer credits, without those that open
	// charges hold; or there is no such lot.
	Revoke(ctx context.Context, r Revocation) (Revoked, error)

	// Lots lists the user's lots that have credits, or hold some for open charges, in the
	// order in which they are consumed.
	Lots(ctx context.Context, u UserID) ([]Lot, error)

	// Holdings returns what the user can spend, with at most n lots. Unlike the cost of
	// Lots, its cost does not grow with the number of lots that the user ever had.
	Holdings(ctx context.Context, u UserID, n int) (Holdings, error)

	// History lists the user's journal entries, newest first: at most limit entries with a
	// Seq below before (0: from the newest).
	History(ctx context.Context, u UserID, before uint64, limit int) ([]Entry, error)

	// Usage sums up what the user was charged from q.From to q.To, which must be set (see
	// [UsageQuery.WithDefaults]). The rows are grouped by q.By and ordered by day, model and key. All
	// sums are of the same moment. ErrInvalidRequest: there would be more than MaxUsageRows.
	Usage(ctx context.Context, u UserID, q UsageQuery) ([]Usage, error)

	// Today returns the day, as midnight in UTC, in whose usage a charge to the user would count
	// now. While the clock is in doubt that need not be the day of the judged time. For the
	// user "" it is that of a user who was charged nothing yet.
	Today(ctx context.Context, u UserID) (time.Time, error)

	// EachUsage calls f with what each user was charged from one day to another, both
	// included: one row for each day, user, model and API key, in the order of days. All rows
	// of one day are of the same moment. The cost grows with the number of rows. f must be
	// quick and must not call the ledger.
	EachUsage(ctx context.Context, from, to time.Time, f func(UserID, Usage)) error

	// KeyUse returns what currently counts against the limits of a user's API key; zero for a
	// key that was never used.
	KeyUse(ctx context.Context, u UserID, k KeyID) (KeyUse, error)

	// MemberUse is KeyUse for a member for whom a payer pays, over all keys.
	MemberUse(ctx context.Context, payer, member UserID) (KeyUse, error)
}

// UsageWalker is an optional part of a [CreditAdmin]: it goes over usage user by user, so that a sum for each user need
// not be held at once.
type UsageWalker interface {
	// EachUsersUsage is EachUsage with the rows of each user together, in steps whose cost does not grow with
	// the number of users or with what is older. All rows of one user are of the same moment.
	EachUsersUsage(ctx context.Context, from, to time.Time, f func(UserID, Usage)) error
}

// DefaultPriority is the priority of a grant whose Priority is 0.
const DefaultPriority = 50

// Grant adds credits to an account as one lot.
type Grant struct {
	User     UserID
	Credits  Credits
	Promo    bool      // a gift: it is consumed before paid credits with the same priority and expiry
	Priority int       // 1 to 100, lower is consumed first; 0: DefaultPriority
	Expires  time.Time // zero: never
	// unique over all grants and revocations, at most 255 bytes of UTF-8 without NUL; "": a repetition grants again
	Ref string
}

// Granted is the lot that a grant made, or the lot that exists under its Ref.
type Granted struct {
	Lot
	Repeated bool // the Ref was used before: nothing was changed
}

// Revocation takes unspent credits back from an account.
type Revocation struct {
	User    UserID
	Credits Credits
	Lot     string // the ID of the lot to take them from; "": in the order in which lots are consumed
	Ref     string // as in Grant
}

// Revoked is the journal entry that a revocation made, or the entry that exists under its Ref.
type Revoked struct {
	Entry
	Repeated bool // the Ref was used before: nothing was changed
}

// Lot is credits that were granted together. At all times
// Granted = Remaining + Held + Spent + Expired + Revoked + Moved. Credits that are refunded after
// their lot has expired go to a refund lot, which expires 24 hours after the first lot did.
type Lot struct {
	ID        string
	User      UserID
	Granted   Credits
	Remaining Credits // can be spent
	Held      Credits // by open charges
	Spent     Credits
	Expired   Credits
	Revoked   Credits
	Moved     Credits // to a refund lot
	Promo     bool
	Priority  int
	Effective time.Time // when it was granted
	Expires   time.Time // zero: never
	Ref       string    // of the grant; "" for a refund lot
}

// Holdings is what a user can spend, by lot.
type Holdings struct {
	Lots []Lot   // with credits that can be spent, in the order in which they are consumed
	More bool    // there are further lots
	Held Credits // by open charges, from all lots
}

// EntryKind says what a journal entry records.
type EntryKind string

// The kinds of journal entries.
const (
	EntryGrant  EntryKind = "grant"
	EntryCharge EntryKind = "charge"
	EntrySettle EntryKind = "settle"
	EntryExpire EntryKind = "expire"
	EntryRevoke EntryKind = "revoke"
)

// Entry is an entry of a user's journal. Entries are never changed or removed, and each is
// stored with the hash of the one before it.
type Entry struct {
	Seq       uint64 // the number of the entry in the user's journal, from 1 without gaps
	Time      time.Time
	Kind      EntryKind
	User      UserID
	Charge    ChargeID // charge, settle
	Ref       string   // grant, revoke
	Actor     string   // grant, revoke: who made it, in the form of account.Actor.String
	Credits   Credits  // the change of the balance: negative if credits were taken
	Used      Credits  // settle: what was spent for good
	Model     string   // charge, settle: that of the Charge
	Key       KeyID    // charge, settle: that of the Charge
	Member    UserID   // charge, settle: that of the Charge
	Images    int      // charge: how many were asked for; settle: how many were paid for
	Balance   Credits  // after this entry
	Cancelled bool     // settle: the owner cancelled the generation
}
