package imagegen

import (
	"context"
	"io"
	"time"
)

// Store is the database: it keeps generations, the queue of those that wait, users and
// their keys. The bytes of images can be stored elsewhere, see Config.Images and
// Config.Spool.
//
// It is safe for concurrent use. Every write is durable when it returns nil, isolated
// from every other write, and idempotent: repeating a write whose outcome is unknown,
// with the same arguments, succeeds. An error that [Definite] reports means that the call
// changed nothing; after any other error its outcome is unknown. A context can cancel a
// write only until the write begins. Returned values belong to the caller; the Store
// keeps no reference to values that it is given.
//
// The engine neither opens nor closes a Store: its maker closes it, after Engine.Stop.
//
// A Store can implement more, and the engine uses it: [JointStore], [Inspector],
// [Timekeeper], account.TrailStore. Two further methods are looked for separately. Both
// must be cheap:
//
//	// Ready returns nil, or why a generation would be refused, in words for an operator: the disk is full, or a
//	// fault has stopped the Store. A *NotReady also has a code.
//	Ready(ctx context.Context) error
//
//	// Warnings returns what will stop the service, or its operator, if nobody acts.
//	Warnings(ctx context.Context) []Notice
type Store interface {
	AccountStore

	// A record changes only by [Record.Apply], which the store calls inside its transaction.

	// Create writes a record in StateCharging with a lease, and reserves its idempotency
	// key in the same commit. A key is free when no record holds it, or when the record
	// that does no longer reserves it ([Record.Reserves], at the new record's CreatedAt).
	// *ReservedError: the key is taken. If a record with that ID exists, Create succeeds
	// and returns it.
	//
	// Before anything else, the same commit checks the API key that asked (r.KeyID, unless
	// it is empty) and the user, so that a request whose key is revoked while it is on its
	// way is never charged. ErrInvalidKey: the user has no such key, or it is revoked, or
	// the user is disabled (this also without a key). ErrExpiredKey: it has expired at the
	// record's CreatedAt. ErrChargeRefused: the key has limits, which only a JointStore
	// can enforce; or the user is suspended, which is checked after the idempotency key.
	Create(ctx context.Context, r Record, lease time.Duration) (Record, error)

	// Update applies a change to the attempt that f names, and returns the record
	// afterwards. ErrStale: another attempt owns the record, which is returned, or it is
	// gone. ErrTransition: the record's state does not allow the change. In both cases
	// nothing changed.
	Update(ctx context.Context, f Fence, c Change) (Record, error)

	// Generation returns a record of any user and in any state; the engine checks both.
	// ErrNotFound.
	Generation(ctx context.Context, id GenerationID) (Record, error)

	// Generations returns the user's visible records by falling identifier: at most
	// q.Limit of those below q.After, only those of q.Status if it is set, and only
	// favourites if q.Favourites is set. more reports whether others follow. The cost does
	// not grow with the number of records that are not returned.
	Generations(ctx context.Context, u UserID, q Query) (records []Record, more bool, err error)

	// Reserved returns the last record that was created with the user's idempotency key
	// and was not abandoned, even if it is invisible or no longer reserves the key.
	// ErrNotFound.
	Reserved(ctx context.Context, u UserID, key string) (Record, error)

	// Ended returns up to n records that ended at least age ago, by the store's clock, in
	// the order in which they were created. Records that have not ended do not hide later
	// ones that have.
	Ended(ctx context.Context, age time.Duration, n int) ([]Record, error)

	// Forgettable returns up to n records that ended at least age ago and still have
	// something to forget, in the order in which they ended. With StateFailed these are
	// failed records that still have their prompt; with StateErased, erased records that
	// still have the hash of their idempotency key. The cost does not grow with the number
	// of records that are not returned.
	Forgettable(ctx context.Context, s State, age time.Duration, n int) ([]Fence, error)

	// Undelivered returns the user's records with that JoinKey whose answer nobody has
	// received (Progress.Undelivered), oldest first; the newest 100 if there are more.
	Undelivered(ctx context.Context, u UserID, joinKey [32]byte) ([]Record, error)

	// The queue hands out work. Leases and delays are durations on the store's own clock.

	// Claim applies the change Claim to up to d.Most queued records that are due, and
	// leases them for d.Lease.
	//
	// Each record goes to the user who then holds the fewest slots, counting d.Held and
	// what this call has already given out. Among users with equally many, it goes to the
	// one who has waited longest: since one of their records was last claimed, or since
	// they joined the queue with nothing in it. Within one user's records, work that was
	// begun before goes first, then the lower identifier. Delayed work is due when its
	// delay is over, however much else is due. Records of a model without places
	// (d.Places) hold up nothing else. The cost grows with d and with the number of
	// models, not with the length of the queue.
	//
	// With d.Age it answers another question: which records were created at least that
	// long ago, by the store's clock. They are returned oldest first, of any user and
	// model, and the cost may grow with the length of the queue.
	//
	// next is the time until another record becomes due; 0: none is known.
	Claim(ctx context.Context, d Demand) (records []Record, next time.Duration, err error)

	// Recover applies the change Recover to up to n running records ([Record.Running])
	// whose lease has ended, and leases them anew. With an error it returns none. A store
	// that only one process can open ends all leases when it opens.
	Recover(ctx context.Context, n int, lease time.Duration) ([]Record, error)

	// Extend prolongs leases, and returns the lost ones: another attempt owns the record,
	// or it no longer runs. Leases need not survive a crash.
	Extend(ctx context.Context, lease time.Duration, fences ...Fence) (lost []Fence, err error)

	// Queued returns how many records wait in the queue, and how many of them are the
	// user's. It is cheap, and may lag behind.
	Queued(ctx context.Context, u UserID) (QueueLength, error)

	// Wake returns a channel that is closed when a record may have become claimable after
	// this call. It may be closed without reason.
	Wake() <-chan struct{}
}

// QueueLength is how many records wait in the queue.
type QueueLength struct {
	All int
	Own int // those of the user who was asked for
}

// Demand says how much queued work can begin, and whose.
type Demand struct {
	Most  int           // records
	Lease time.Duration // of each
	// Held is how many slots each user already holds; a user who is not named holds none.
	Held map[UserID]int
	// Below limits the claim to users who hold fewer slots than this; 0: no limit.
	Below int
	// Places is how many records of each model can begin. A model that is not named has no
	// places: its work is left to other engines on the same store. nil: any number of
	// every model.
	Places map[string]int
	// Age limits the claim to records that were created at least so long ago; only Most
	// and Lease count besides. 0: no limit.
	Age time.Duration
}

// ImageKey names one stored image and the attempt that made it.
type ImageKey struct {
	Generation GenerationID
	Attempt    int
	Image      ImageID
}

// ImageStore keeps the bytes of images, and of their thumbnails ([ImageID.Thumbnail]),
// which no record names. No key is written twice, unless two processes make the same
// thumbnail at the same time. The contract of Store on concurrency and contexts holds
// here too.
type ImageStore interface {
	// PutImage reads r to its end and keeps the bytes. They are durable when it returns
	// nil. If r fails, its error is returned and nothing is left behind; an image that
	// turns out to be broken fails only at its end. PutImage does not read r after it has
	// returned. ErrNotApplied: there is no space.
	PutImage(ctx context.Context, k ImageKey, r io.Reader) error

	// OpenImage opens an image; the caller closes it. ErrNotFound.
	OpenImage(ctx context.Context, k ImageKey) (io.ReadSeekCloser, error)

	// RemoveImages removes all images of an attempt but those to keep. It succeeds if
	// there is none.
	RemoveImages(ctx context.Context, g GenerationID, attempt int, keep ...ImageID) error
}

// Spool keeps bytes for a while: a reference image from its arrival to the end of its
// generation, and a provider's image until it is checked. Bytes that were only staged
// when a process ended are removed by the next one.
//
// A Spool that reserves space on its disk for small requests and paid images, before
// callers' uploads, has one more method:
//
//	// TakeSpace is called for every n bytes of an upload, before they are written. ErrNotApplied: there is no
//	// space. It must be cheap.
//	TakeSpace(n int64) error
type Spool interface {
	// Stage reads r to its end, and not after it has returned. When it returns nil the
	// bytes can be opened, but they need not survive a crash. If r fails, its error is
	// returned and nothing is left behind. ErrNotApplied: there is no space.
	Stage(ctx context.Context, id ReferenceID, r io.Reader) error

	// Keep makes staged bytes durable. Bytes that belong to no open generation may be
	// removed when the store is next opened.
	Keep(ctx context.Context, ids ...ReferenceID) error

	// Open opens staged bytes. It can be called repeatedly and concurrently. The caller
	// closes what it returns. ErrNotFound.
	Open(ctx context.Context, id ReferenceID) (io.ReadCloser, error)

	// Remove deletes bytes. It succeeds if there are none.
	Remove(ctx context.Context, ids ...ReferenceID) error
}

// JointStore is a Store in whose transactions a Ledger can take part. It is optional:
// without it the engine is just as correct, and commits more often.
type JointStore interface {
	Store

	// Joins reports whether l is the ledger that the two methods below write to. A Store
	// that wraps another should pass the question on; if it does not, the engine commits
	// twice as often.
	Joins(l Ledger) bool

	// CreateCharged is Create, Charge(r.Charge()) and Update(Accept) in one commit. It
	// also enforces the limits of the API key ([Key.Exceeds]): of concurrent calls with a
	// key limited to 3 credits, only 3 credits' worth are accepted. *ReservedError,
	// ErrInvalidKey, ErrExpiredKey, ErrRateLimited, ErrInsufficientCredits: nothing was
	// written.
	CreateCharged(ctx context.Context, r Record, lease time.Duration) (Record, error)

	// FinishSettled is Update(o), Settle(r.Charge().ID, r.Used()), Balance with
	// o.AccountType where r.WantsBalance, and Update(Close), in one commit. If Settle is
	// [RefusedForGood], Update(Dispute) takes the place of Close.
	FinishSettled(ctx context.Context, f Fence, o Outcome) (Record, error)
}

// Inspector is an optional part of a Store: it lets an operator look through the data and
// audit it, however much there is. Except for Audit, the cost of its methods does not
// grow with what they do not return.
type Inspector interface {
	// UserPage returns one page of the users by name. It looks at no more than 100,000
	// names that do not match, and may then return a short or even empty page that others
	// follow.
	UserPage(ctx context.Context, q UserQuery) (UserPage, error)

	// Disputed returns up to n records whose charge is in dispute ([Record.Dispute]),
	// oldest first, behind the given one ("": from the oldest). total is how many there
	// are in all.
	Disputed(ctx context.Context, after GenerationID, n int) (records []Record, total int, err error)

	// Unsettled returns up to n records whose charge is open, or may be, oldest first,
	// behind the given one ("": from the oldest). total is how many there are in all, and
	// the cost grows with it.
	Unsettled(ctx context.Context, after GenerationID, n int) (records []Record, total int, err error)

	// Audit replays the journal, checks every invariant, and compares the bytes of every
	// image with its record. An error means that the audit could not be carried out.
	Audit(ctx context.Context) (AuditReport, error)
}

// Timekeeper is an optional part of a Store: it judges the wall clock. It does not
// believe a leap until somebody confirms it. Without a Timekeeper the time is that of
// Config.Now.
//
// The clock is in doubt when it ran ahead of the elapsed time by more than an hour while
// the Store was open, or when it is more than five minutes behind a time that was told or
// written. Time while the process was not running, or the machine slept, raises no doubt.
// A doubt lasts until the clock is right again or confirmed, also over a restart if the
// Store is durable.
type Timekeeper interface {
	// Now is the time by which credits, keys, idempotency keys, waiting work and retained
	// data expire. In doubt it is the last undoubted time plus the time elapsed since. It
	// only falls when somebody confirms the clock.
	Now() time.Time

	// ClockInDoubt reports how far the wall clock is ahead; below 0 it is behind.
	ClockInDoubt() (leap time.Duration, doubt bool)

	// ConfirmClock accepts the wall clock as it is, durably. What has expired stays
	// expired. Without a doubt it does nothing.
	ConfirmClock(ctx context.Context) error
}

// Notice is a reason why no work is taken, or a warning.
type Notice struct {
	Code   string // a word for programs, such as "disk", "draining" or "clock"
	Detail string // for an operator: what is, and what to do
}

// NotReady is why a [Store] takes no work, with the code of its [Notice].
type NotReady struct {
	Code string
	Err  error
}

func (e *NotReady) Error() string { return e.Err.Error() }
func (e *NotReady) Unwrap() error { return e.Err }
