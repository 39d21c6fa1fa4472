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
// with the same arguments, succeeds. If [Definite] reports true for an error, the call
// changed nothing; after any other error its outcome is unknown. A write whose context has
// ended before it begins fails and changes nothing; later the context no longer counts.
// Returned values belong to the caller; the Store keeps no reference to values that it is
// given.
//
// The engine neither opens nor closes a Store: the program that opened it closes it, after
// Engine.Stop.
//
// Optional: [TxStore], [Inspector], [TotalsKeeper], [FeedKeeper], [Timekeeper], [ReadinessChecker], [Warner],
// [TurnTaker] and account.TrailStore.
type Store interface {
	AccountStore

	// A record changes only by [Record.Apply], which the store calls inside its transaction.

	// Create writes a record in StateCharging with a lease, and reserves its idempotency
	// key in the same commit. An idempotency key is free if no record holds it, or if the
	// record that holds it no longer reserves it ([Record.HoldsIdempotencyKey], at the time of the
	// commit, by the store's clock). *IdempotencyKeyTakenError: the key is taken. If a record with the ID of
	// r exists, Create succeeds and returns that record.
	//
	// Before anything else, the same commit checks the API key of the request (r.KeyID, unless
	// it is empty) and the user, so that a request whose API key is revoked while it arrives
	// is never charged. ErrInvalidKey: the user has no such API key, or it is revoked, or the
	// user is disabled (also checked without an API key). ErrExpiredKey: it has expired by
	// the time of the commit. ErrChargeRefused: the API key has limits, which only a TxStore
	// can enforce; or the user is suspended, which is checked after the idempotency key.
	Create(ctx context.Context, r Record, lease time.Duration) (Record, error)

	// Update applies a change to the attempt that f names, and returns the changed record.
	// ErrStale: another attempt owns the record, which is returned, or there is no such
	// record. ErrTransition: the record's state does not allow the change. In both cases
	// nothing changed.
	Update(ctx context.Context, f Fence, c Change) (Record, error)

	// Generation returns a record of any user and in any state; the engine checks both.
	// ErrNotFound.
	Generation(ctx context.Context, id GenerationID) (Record, error)

	// Generations returns the user's visible records in descending order of identifiers: at
	// most q.Limit of those below q.After, only those of q.Status if it is set, and only
	// favourites if q.Favourites is set. more reports whether others follow. The cost does
	// not grow with the number of records that are not returned.
	Generations(ctx context.Context, u UserID, q Query) (records []Record, more bool, err error)

	// GenerationByIdempotencyKey returns the last record that was created with the user's idempotency key
	// and was not abandoned, even if it is invisible or no longer reserves the key.
	// ErrNotFound.
	GenerationByIdempotencyKey(ctx context.Context, u UserID, key string) (Record, error)

	// Ended returns up to n records ([Record.Terminal]) that ended at least age ago, by the
	// store's clock, in the order in which they ended. The cost does not grow with the number of
	// records that are not returned.
	Ended(ctx context.Context, age time.Duration, n int) ([]Record, error)

	// Forgettable returns the fences of up to n records that ended at least age ago and still
	// have something for a ForgetChange to remove, in the order in which they ended. With
	// StateFailed these are failed records that still have their prompt; with StateErased,
	// erased records that still have the hash of their idempotency key. The cost does not grow
	// with the number of records that are not returned.
	Forgettable(ctx context.Context, s State, age time.Duration, n int) ([]Fence, error)

	// Undelivered returns the user's records with that JoinKey whose answer nobody has
	// received (Progress.Undelivered), oldest first. Of more than 100, it returns the newest
	// 100.
	Undelivered(ctx context.Context, u UserID, joinKey [32]byte) ([]Record, error)

	// The queue hands out work. Leases and delays are durations on the store's own clock.

	// Claim applies a ClaimChange to up to d.Most queued records that are due, and
	// leases them for d.Lease.
	//
	// It chooses one record after the other, each time from the user who holds the fewest
	// slots, counting d.Held and what this call has already chosen. Of users who hold equally
	// many, it takes the one who has waited longest: since one of their records was last
	// claimed, or since their first record entered the queue. Of one user's records, it takes
	// work that was begun before first, then the lower identifier. Delayed work is due when its
	// delay has passed, regardless of how much other work is due. Records of a model without
	// places (d.Places) do not block others. The cost grows with d and with the number of
	// models, not with the length of the queue.
	//
	// next is the time until another record becomes due; 0: none is known.
	Claim(ctx context.Context, d ClaimRequest) (records []Record, next time.Duration, err error)

	// ClaimAged applies a ClaimChange to up to n queued records that are due and were created
	// at least age ago, by the store's clock: oldest first, of any user and model. It leases them.
	// The cost may grow with the length of the queue.
	ClaimAged(ctx context.Context, age time.Duration, n int, lease time.Duration) ([]Record, error)

	// Recover applies a RecoverChange to up to n running records ([Record.Running])
	// whose lease has ended, those first whose lease ended first, and leases them again. So
	// what cannot be recovered now keeps nothing else waiting for ever. With an error it
	// returns no records. A store that only one process can open ends all leases when it opens.
	Recover(ctx context.Context, n int, lease time.Duration) ([]Record, error)

	// Extend prolongs leases, and returns the fences of lost ones: another attempt owns the
	// record, or the record is no longer Running. Leases need not survive a crash.
	Extend(ctx context.Context, lease time.Duration, fences ...Fence) (lost []Fence, err error)

	// Queued returns how many records wait in the queue, and how many of them belong to the
	// user. It is cheap, and the numbers may be slightly out of date.
	Queued(ctx context.Context, u UserID) (QueueLength, error)

	// Wake returns a channel that is closed when, after this call, a record may have become
	// claimable. It may also be closed for no reason.
	Wake() <-chan struct{}
}

// QueueLength is how many records wait in the queue.
type QueueLength struct {
	All int
	Own int // those of the user that was passed to Store.Queued
}

// ClaimRequest tells Store.Claim how much queued work can begin, and of which users and models.
type ClaimRequest struct {
	Most  int           // the maximum number of records
	Lease time.Duration // of each record
	// Held is how many slots each user already holds. A user who is not in it holds none.
	Held map[UserID]int
	// Below limits the claim to users who hold fewer slots than this; 0: no limit.
	Below int
	// Places is how many records of each model can begin. Of a model that is not in it, none
	// can: its work is left to other engines on the same store. nil: no limit.
	Places map[string]int
}

// ImageKey names one stored image and the attempt that made it.
type ImageKey struct {
	Generation GenerationID
	Attempt    int
	Image      ImageID
}

// ImageStore keeps the bytes of images, and of their thumbnails ([ImageID.Thumbnail]), which
// appear in no record. The engine writes a key again only with the same bytes: after a PutImage that
// failed, or when two processes make the same thumbnail. The contract of Store on concurrency and
// contexts holds here too.
//
// When PutImage fails, the engine keeps the image and tries again, and takes no work until images can
// be stored: it tells that by PutImage of an image that belongs to no generation, which it then
// removes. An error that is a [*NotReadyError] has the code that [Notice] then has, such as "disk".
//
// Optional: [ImageLinker].
type ImageStore interface {
	// PutImage reads r to its end and stores the bytes. They are durable when it returns
	// nil. If r fails, its error is returned and nothing is left behind; for a broken image,
	// r may fail only at its end. PutImage does not read r after it has returned.
	// ErrNotApplied: there is no space.
	PutImage(ctx context.Context, k ImageKey, r io.Reader) error

	// OpenImage opens an image; the caller closes it. ErrNotFound.
	OpenImage(ctx context.Context, k ImageKey) (io.ReadSeekCloser, error)

	// RemoveImages removes all images of an attempt except those in keep. It succeeds if
	// there are none.
	RemoveImages(ctx context.Context, g GenerationID, attempt int, keep ...ImageID) error
}

// ImageLinker is an optional part of an [ImageStore] that callers can read directly. Engine.LinkImage needs it.
type ImageLinker interface {
	// Link returns an address under which the image can be read until age has passed. ErrNotFound.
	// [errors.ErrUnsupported]: there are none, for a wrapper around an ImageStore without this method.
	Link(ctx context.Context, k ImageKey, mediaType string, age time.Duration) (string, error)
}

// Spool keeps files temporarily: a reference image from its arrival to the end of its
// generation, and a provider's image until it is checked. Files that were only staged when a
// process ended are removed when the next one opens the Spool. The contract of Store on
// concurrency and contexts holds here too.
//
// Optional: [SpaceTaker].
type Spool interface {
	// Stage reads r to its end, and not after it has returned. When it returns nil the
	// bytes can be opened, but they need not survive a crash. If r fails, its error is
	// returned and nothing is left behind. ErrNotApplied: there is no space.
	Stage(ctx context.Context, id ReferenceID, r io.Reader) error

	// Keep makes staged bytes durable. Bytes that belong to no open generation may be
	// removed when the store is next opened. ErrNotFound: one of them was not staged.
	Keep(ctx context.Context, ids ...ReferenceID) error

	// Open opens staged bytes. It can be called repeatedly and concurrently. The caller
	// closes what it returns. ErrNotFound.
	Open(ctx context.Context, id ReferenceID) (io.ReadCloser, error)

	// Remove deletes bytes. It succeeds if there are none.
	Remove(ctx context.Context, ids ...ReferenceID) error
}

// OneProcess is an optional part of a Store, an ImageStore and a Spool that only one process can have open. An engine
// that leaves all work to other processes refuses it. A wrapper that does not forward it loses only that refusal.
type OneProcess interface{ OneProcess() }

// SpaceTaker is an optional part of a [Spool] that keeps some space on its disk free from uploads.
type SpaceTaker interface {
	// TakeSpace is called for every n bytes of an upload, before they are written. ErrNotApplied: there
	// is no space. It must be cheap.
	TakeSpace(n int64) error
}

// TxStore is a Store in whose transactions a Ledger can take part. It is optional: without it
// the engine is just as correct, but commits more often, and refuses API keys with limits.
type TxStore interface {
	Store

	// Joins reports whether l is the ledger that the two methods below write to. A Store
	// that wraps another should ask that one; if it does not, the engine commits twice as
	// often.
	Joins(l Ledger) bool

	// CreateCharged is Create, Charge(r.Charge()) and Update(AcceptChange) in one commit. It
	// also enforces the limits of the API key ([Key.CheckLimits]), even if calls are concurrent:
	// with a limit of 3 credits, it accepts calls that cost 3 credits in all. After
	// *IdempotencyKeyTakenError, ErrInvalidKey, ErrExpiredKey, ErrRateLimited, ErrInsufficientCredits or
	// ErrChargeRefused nothing was written.
	CreateCharged(ctx context.Context, r Record, lease time.Duration) (Record, error)

	// FinishSettled is Update(o), Settle(r.Charge().ID, r.Used()), Update(CloseChange) and, if
	// r.WantsBalance, Balance with o.AccountType, in one commit. If Settle fails with an error
	// that is [Permanent], Update(DisputeChange) takes the place of Update(CloseChange).
	FinishSettled(ctx context.Context, f Fence, o OutcomeChange) (Record, error)
}

// HostTx is a transaction of the program that embeds the service, in the database of a [HostTxStore], whose package
// makes it of what its driver calls a transaction. It ends with that one.
type HostTx interface{ HostTx() }

// HostTxStore is an optional part of a [TxStore] that can write in a transaction of the host's. Session.GenerateTx
// needs it.
type HostTxStore interface {
	// CreateChargedIn is CreateCharged in a transaction of the host's, for a record that is asynchronous and Hosted.
	// outdated, unless it is nil, is why r cannot be created any more: the answer is the record as it stands, or
	// outdated if there is none.
	// What it writes is there with the host's commit, and gone with its rollback. It waits for the user's account for
	// as long as ctx lasts, and keeps it locked until the transaction ends, and nothing else that anybody waits for but
	// acts on the same user. A refusal, which is Definite, leaves the transaction as it was. Any other error comes as
	// the driver has returned it. It uses no other connection, sets nothing for the transaction and leaves no
	// savepoint.
	CreateChargedIn(ctx context.Context, tx HostTx, r Record, outdated error) (Record, error)
}

// Inspector is an optional part of a Store: it lets an operator page through the data and audit it.
type Inspector interface {
	// UserPage returns one page of the users in the order of their names. It looks at no more
	// than 100,000 names that do not match; the page may then be short or even empty although
	// others follow.
	UserPage(ctx context.Context, q UserQuery) (UserPage, error)

	// Disputed returns up to n records whose charge is in dispute ([Record.Dispute]), oldest
	// first, starting after the given one ("": from the oldest). total is how many there are
	// in all, and the cost grows with it.
	Disputed(ctx context.Context, after GenerationID, n int) (records []Record, total int, err error)

	// Unsettled returns up to n records whose charge is open, or may be, oldest first,
	// starting after the given one ("": from the oldest). total is how many there are in all,
	// and the cost grows with it.
	Unsettled(ctx context.Context, after GenerationID, n int) (records []Record, total int, err error)

	// Audit replays the journals, checks every invariant, and compares the bytes of every
	// image with its record. An error means that the audit could not be carried out. The cost
	// grows with all data.
	Audit(ctx context.Context) (AuditReport, error)
}

// Timekeeper is an optional part of a Store: it checks the wall clock, and ignores a leap of it
// until somebody confirms the clock. Without a Timekeeper the engine uses Config.Now.
//
// The clock is in doubt if it ran ahead of the elapsed time by more than an hour while the Store
// was open, or if it is more than five minutes behind a time that Now has returned or the Store has
// written. Time during which the process did not run, or the machine slept, raises no doubt. A doubt
// lasts until the clock is right again or confirmed; in a durable Store it survives a restart.
type Timekeeper interface {
	// Now returns the time by which credits, keys, idempotency keys, waiting work and retained
	// data expire. While the clock is in doubt, it is the last time without a doubt plus the
	// time elapsed since. It goes back only when somebody confirms the clock.
	Now() time.Time

	// Age returns how long ago by Now a time was, at least 0. A time that is later than Now, by more
	// than five minutes, was written by a clock that has been corrected since: it counts as the
	// time of the last correction.
	Age(at time.Time) time.Duration

	// ClockInDoubt reports whether the clock is in doubt, and how far it is then ahead; leap is
	// negative if it is behind.
	ClockInDoubt() (leap time.Duration, doubt bool)

	// ConfirmClock accepts the current wall clock, durably. What has expired stays expired.
	// If the clock is not in doubt, it does nothing.
	ConfirmClock(ctx context.Context) error
}

// ReadinessChecker is an optional part of a [Store]: it can tell that it takes no work.
type ReadinessChecker interface {
	// Ready returns nil, or why a generation would be refused, in words for an operator: the disk is
	// full, or a fault has stopped the Store. A [*NotReadyError] also has a code. It must be cheap.
	Ready(ctx context.Context) error
}

// Warner is an optional part of a [Store]: it has warnings for operators.
type Warner interface {
	// Warnings returns problems that will become serious unless an operator acts. It must be cheap.
	Warnings(ctx context.Context) []Notice
}

// TurnTaker is an optional part of a [Store] that several processes share. Without it each process
// carries out all duties.
type TurnTaker interface {
	// Turn reports whether it is this process's turn to carry out a duty that one of all processes on
	// the Store carries out. If it is, no process has another turn of that duty before every has
	// passed, by the Store's clock; also if this one dies. The time counts from the start of the turn.
	// It must be cheap.
	Turn(ctx context.Context, duty string, every time.Duration) (bool, error)
}

// Notice is a reason why the service takes no work, or a warning.
type Notice struct {
	Code   string // a word for programs, such as "disk", "draining" or "clock"
	Detail string // for an operator: what is wrong, and what to do
}

// NotReadyError is the error of a [ReadinessChecker] that takes no work.
type NotReadyError struct {
	Code string // that of the [Notice]
	Err  error
}

// Error returns the message of Err.
func (e *NotReadyError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *NotReadyError) Unwrap() error { return e.Err }
