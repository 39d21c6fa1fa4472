package imagegen

import (
	"context"
	"errors"
	"time"
)

// Credits is an amount of credits, always whole. Amounts that are granted or charged lie between
// 1 and [MaxCredits]; what an account holds in all never exceeds MaxCredits either.
type Credits int64

// MaxCredits is 2⁵³−1, the largest integer that every JSON reader keeps exact (RFC 8259, section 6).
const MaxCredits Credits = 1<<53 - 1

var errCreditsRange = errors.New("imagegen: the amount of credits is out of range")

// Valid reports whether c can be granted or charged.
func (c Credits) Valid() bool { return c >= 1 && c <= MaxCredits }

// Times returns the price of n units; an error if the product is no valid amount.
func (c Credits) Times(n int) (Credits, error) {
	if !c.Valid() || n < 1 || Credits(n) > MaxCredits/c {
		return 0, errCreditsRange
	}
	return c * Credits(n), nil
}

// Balance is what an account can spend.
type Balance struct {
	Credits        Credits
	AccountType    string      // as the operator set it, DefaultAccountType if nobody did
	NextExpiration *Expiration // nil when nothing is due to expire
}

// Expiration tells how many of the credits expire first, and when.
type Expiration struct {
	Credits Credits
	At      time.Time
}

// Charge takes credits for one generation: N images in a tier of a model.
type Charge struct {
	ID      ChargeID
	User    UserID
	Credits Credits // valid by Credits.Valid

	// Model, Tier, N and Key are only for a bill. Charges with the same ID, user and
	// amount are the same charge.
	Model string
	Tier  Tier
	N     int
	Key   KeyID // the API key that asked; "": in process, or the console
}

// Same reports whether o repeats c. With the same ID and another user or amount it is a
// conflict.
func (c Charge) Same(o Charge) bool {
	return c.ID == o.ID && c.User == o.User && c.Credits == o.Credits
}

// Ledger takes and returns credits. An existing billing system can implement it.
//
// It is safe for concurrent use, also by several processes. Every method is idempotent by
// the charge's ID: repeating a call that succeeded, or whose outcome is unknown, changes
// nothing more. An error that [Definite] reports means that this call changed nothing;
// after any other error its outcome is unknown. When a context ends, the call either has
// no effect or its outcome is unknown.
//
// The engine repeats a call whose outcome is unknown, or that failed with
// [ErrNotApplied], up to Config.LedgerTries times, and limits each try to
// Config.LedgerTimeout. It takes any other definite error for a final refusal. After
// every refused or doubtful Charge it calls Settle with 0.
//
// A Ledger that can list its open charges implements one more method, which
// Engine.Reconcile needs:
//
//	// OpenCharges returns up to n open charges in the order of their ID, starting behind the given one
//	// ("": with the first).
//	OpenCharges(ctx context.Context, after ChargeID, n int) ([]Charge, error)
type Ledger interface {
	// Charge takes the credits and keeps the charge open. It is durable when it returns
	// nil. ErrInsufficientCredits: the account holds less. ErrChargeConflict: the ID
	// exists with another user or amount. ErrChargeClosed: the ID was already settled,
	// possibly before it was ever charged. ErrChargeRefused, made with [RefuseCharge]: the
	// ledger refuses, and its message tells the caller why.
	Charge(ctx context.Context, c Charge) error

	// Settle closes a charge: used is spent and the rest goes back. It is durable when it
	// returns nil. Settling an unknown ID to 0 leaves a tombstone that refuses a Charge
	// which arrives later; settling it to another amount is ErrNotFound.
	// ErrChargeConflict: it was settled to another amount, or used is negative or more
	// than was charged.
	Settle(ctx context.Context, id ChargeID, used Credits) error

	// Balance reports what the user can spend; what open charges hold is not included. A
	// user that the ledger does not know has nothing. AccountType is left empty: the
	// engine fills it in.
	Balance(ctx context.Context, u UserID) (Balance, error)
}

// CreditAdmin is a Ledger that also keeps lots and a journal and sums up usage. Those of
// packages storage, memory and postgres do. The engine needs it only for Session.Usage
// and for the limits of keys; operators need it to grant and revoke credits.
//
// Credits are kept in lots. They are consumed in this order: lowest priority first, then
// earliest expiry (none last), promotional before paid, earliest effective, and then in
// the order in which they were granted.
type CreditAdmin interface {
	Ledger

	// Grant adds a lot. It is idempotent by Ref: a repetition returns the existing lot,
	// whatever its Promo, Priority and Expires say. ErrGrantConflict: the Ref exists with
	// another user or amount, or belongs to a revocation. ErrInvalidRequest: the user is
	// not Valid; the amount, the priority or the Ref is out of range; the account would
	// exceed MaxCredits; or the expiry is not in the future.
	Grant(ctx context.Context, g Grant) (Granted, error)

	// Revoke takes unspent credits back, all of them or none. It is idempotent by Ref: a
	// repetition returns the existing entry. ErrGrantConflict: the Ref exists with another
	// user or amount, belongs to a grant, or took the credits from another lot than the
	// named one. ErrInvalidRequest: as in Grant. ErrInsufficientCredits: the account, or
	// the named lot, has fewer credits; what open charges hold does not count.
	Revoke(ctx context.Context, r Revocation) (Revoked, error)

	// Lots lists the user's lots that have credits, or hold some for open charges, in the
	// order in which they are consumed.
	Lots(ctx context.Context, u UserID) ([]Lot, error)

	// Holdings returns what the user can spend, with at most n lots. Unlike the cost of
	// Lots, its cost does not grow with the number of lots.
	Holdings(ctx context.Context, u UserID, n int) (Holdings, error)

	// History lists the user's journal entries, newest first: at most limit of those
	// before the given sequence number (0: from the newest).
	History(ctx context.Context, u UserID, before uint64, limit int) ([]Entry, error)

	// Usage sums up what the user was charged on the days of q, both of which must be set.
	// The rows are grouped as q says and ordered by day, model and key. The sums are those
	// of the journal at one moment. ErrInvalidRequest: the answer would have more than
	// MaxUsageRows.
	Usage(ctx context.Context, u UserID, q UsageQuery) ([]Usage, error)

	// EachUsage calls f with what each user was charged from one day to another, both
	// included: one row for each model and API key, by rising day. The rows of one day are
	// the journals' at one moment. The cost grows with the number of rows. f must be quick
	// and must not call the ledger.
	EachUsage(ctx context.Context, from, to time.Time, f func(UserID, Usage)) error

	// KeyUse returns what currently counts against the limits of a user's API key. A key
	// that was never used has used nothing.
	KeyUse(ctx context.Context, u UserID, k KeyID) (KeyUse, error)
}

// DefaultPriority is the priority of a grant that names none.
const DefaultPriority = 50

// Grant adds credits to an account as one lot.
type Grant struct {
	User     UserID
	Credits  Credits
	Promo    bool      // a gift: is consumed before what was paid for, all else being equal
	Priority int       // 1 to 100, lower is consumed first; 0: DefaultPriority
	Expires  time.Time // zero: never
	Ref      string    // unique over all grants and revocations, at most 255 bytes of UTF-8 without NUL; "": no protection against repetition
}

// Granted is the lot that a grant made, or the existing one under its Ref.
type Granted struct {
	Lot
	Repeated bool // the Ref was used before: nothing was changed
}

// Revocation takes credits back from an account.
type Revocation struct {
	User    UserID
	Credits Credits
	Lot     string // only from this lot; "": in the order in which they are consumed
	Ref     string // as in Grant
}

// Revoked is the entry that a revocation made, or the existing one under its Ref.
type Revoked struct {
	Entry
	Repeated bool // the Ref was used before: nothing was changed
}

// Lot is credits that were granted together. At all times
// Granted = Remaining + Held + Spent + Expired + Revoked + Moved.
type Lot struct {
	ID        string
	User      UserID
	Granted   Credits
	Remaining Credits // can be spent
	Held      Credits // by open charges
	Spent     Credits
	Expired   Credits
	Revoked   Credits
	Moved     Credits // came back after the lot expired, and went to a refund lot
	Promo     bool
	Priority  int
	Effective time.Time
	Expires   time.Time // zero: never
	Ref       string    // of the grant; a refund lot's is empty
}

// Holdings is what a user has at hand.
type Holdings struct {
	Lots []Lot   // with credits that can be spent, in the order in which they are consumed
	More bool    // others follow
	Held Credits // by open charges, out of whichever lots
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

// Entry is an entry of a user's journal. Entries are never changed or removed, and each
// carries the hash of the one before it.
type Entry struct {
	Seq       uint64 // among the user's, from 1 without gaps
	Time      time.Time
	Kind      EntryKind
	User      UserID
	Charge    ChargeID // of a charge and its settlement
	Ref       string   // of a grant or revocation
	Actor     string   // of a grant or revocation: who made it, as Actor.String has it
	Credits   Credits  // what this did to the balance: negative when credits were taken
	Used      Credits  // settle: what was spent for good
	Model     string   // of a charge and its settlement, as Charge has it
	Key       KeyID    // of a charge and its settlement: the API key that asked
	Images    int      // charge: how many were asked for; settle: how many were paid for
	Balance   Credits  // afterwards
	Cancelled bool     // settle: its owner cancelled the generation
}
