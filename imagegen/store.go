package imagegen

import (
	"context"
	"io"
	"time"
)

// Store is the database: generations, the queue of those that wait, users and their keys. Bytes
// may live elsewhere, see Config.Images and Config.Spool.
//
// It is safe for concurrent use. Every write is durable when it returns nil, isolated from every
// other, and idempotent: repeating one whose outcome is unknown, with the same arguments, is
// success. An error that [Definite] reports means that the call changed nothing; after any other
// its outcome is unknown. A context is honoured until a write begins; then the write is seen
// through. Values handed out are the caller's own, and values handed in are not kept.
//
// The engine opens and closes nothing: who made the Store closes it, after Engine.Stop.
//
// Whatever else a Store can do is used where it does it: a [JointStore], an [Inspector], a [Timekeeper], an
// account.TrailStore. Two methods are asked for one by one, both of them cheap:
//
//	// Ready returns nil, or why a generation would be refused, in words for an operator: the disk is full, a fault has
//	// stopped it. A *NotReady has a code too.
//	Ready(ctx context.Context) error
//
//	// Warnings tells beforehand of what will stop the service, or its operator.
//	Warnings(ctx context.Context) []Notice
type Store interface {
	AccountStore

	// A record changes only by [Record.Apply], which the store calls inside its transaction.

	// Create writes a record in StateCharging, leased for lease, and reserves its idempotency key
	// in the same commit. A key is free when no record holds it or the one that does no longer
	// reserves it ([Record.Reserves], at the new record's CreatedAt).
	// *ReservedError: the key is taken. A record of that ID that stands is success and is returned.
	//
	// The API key that asked (r.KeyID, unless it is empty) and the user are looked at in the same commit,
	// before anything else: a request whose key is revoked while it is on its way charges nobody.
	// ErrInvalidKey: there is no such key of the user, or it is revoked, or the user is disabled, in which
	// case no key need be named. ErrExpiredKey: it has expired at the record's CreatedAt. ErrChargeRefused:
	// the key has limits, which nobody keeps to where the charge is made apart, see JointStore; or the user is
	// suspended, which is looked at behind the idempotency key.
	Create(ctx context.Context, r Record, lease time.Duration) (Record, error)

	// Update applies a change to the attempt that f names and returns the record as it then stands.
	// ErrStale: another attempt owns the record, which is returned, or it is gone. ErrTransition:
	// the state does not allow it. Either way nothing changed.
	Update(ctx context.Context, f Fence, c Change) (Record, error)

	// Generation returns a record, whosever it is and whatever its state; the engine checks both.
	// ErrNotFound.
	Generation(ctx context.Context, id GenerationID) (Record, error)

	// Generations returns the user's visible records by falling identifier, at most q.Limit of
	// those below q.After, of q.Status if that is set, and with q.Favourites only those whose
	// Favourite is set; more tells whether others follow. Its cost
	// does not grow with the number of records that it does not return.
	Generations(ctx context.Context, u UserID, q Query) (records []Record, more bool, err error)

	// Reserved returns the record that was last created with the user's idempotency key, of those that
	// were not abandoned, also when it is invisible or reserves the key no longer. ErrNotFound.
	Reserved(ctx context.Context, u UserID, key string) (Record, error)

	// Ended returns up to n records that ended at least so long ago, by the store's clock, in the order in
	// which they were created. Those that did not hold up none that did.
	Ended(ctx context.Context, age time.Duration, n int) ([]Record, error)

	// Forgettable returns up to n records that ended at least so long ago and of which something is yet to
	// be forgotten, in the order in which they ended: with StateFailed those that failed and whose prompt is
	// there, with StateErased those that were erased and of whose idempotency key the hash is there. Its
	// cost does not grow with the records that it does not return.
	Forgettable(ctx context.Context, s State, age time.Duration, n int) ([]Fence, error)

	// Undelivered returns the user's records with that JoinKey whose answer nobody has received
	// (Progress.Undelivered), oldest first: the newest 100, if there are more.
	Undelivered(ctx context.Context, u UserID, joinKey [32]byte) ([]Record, error)

	// The queue hands out work. Leases and delays are durations on the store's own clock.

	// Claim applies Claim to up to d.Most queued records that are due, and leases them for d.Lease.
	//
	// Each goes to the user who holds the fewest slots by then: those of d.Held, and what this call has
	// handed to them. Of users who hold as many it goes to the one who has waited longest: since one of
	// their records was claimed last, or since they came to the queue with none there. Of a user's own,
	// work that was begun before goes ahead of fresh work, and each by identifier. Work whose delay is
	// over is due like any other, also when much else is. What waits for a model without places (d.Places)
	// holds up nothing else. The cost grows with d and the number of models, not with how many wait.
	//
	// With d.Age it is another question: what was created so long ago, by the store's clock, oldest first,
	// whosever it is and of any model; its cost may grow with how many wait.
	//
	// next is the time until another becomes due; 0: none is known.
	Claim(ctx context.Context, d Demand) (records []Record, next time.Duration, err error)

	// Recover applies Recover to up to n running records ([Record.Running]) whose lease has ended
	// and leases them anew; with an error it returns none. A store that only one process can open ends
	// all leases when it opens.
	Recover(ctx context.Context, n int, lease time.Duration) ([]Record, error)

	// Extend prolongs leases and returns those that are lost: another attempt owns the record, or
	// it runs no longer. Leases need not survive a crash.
	Extend(ctx context.Context, lease time.Duration, fences ...Fence) (lost []Fence, err error)

	// Queued tells how many records wait in the queue, and how many of them are the user's. It is cheap
	// and may lag behind.
	Queued(ctx context.Context, u UserID) (QueueLength, error)

	// Wake returns a channel that is closed when a record may have become claimable after this
	// call. Waking for nothing is allowed.
	Wake() <-chan struct{}
}

// QueueLength is how many records wait in the queue.
type QueueLength struct {
	All int
	Own int // those of the user who was asked for
}

// Demand is how much queued work can begin, and whose.
type Demand struct {
	Most  int           // records
	Lease time.Duration // of each
	// Held is how many slots users hold already; who is not named holds none.
	Held map[UserID]int
	// Below: only users who hold fewer slots than this get any; 0: all.
	Below int
	// Places is how many records of each model can begin; of one that is not named none: what only others that
	// share the store can do is left to them. nil: any number of all.
	Places map[string]int
	// Age: only records that were created at least so long ago, of which Most and Lease alone are asked; 0: all.
	Age time.Duration
}

// ImageKey names one stored image and the attempt that made it.
type ImageKey struct {
	Generation GenerationID
	Attempt    int
	Image      ImageID
}

// ImageStore keeps the bytes of images, and of their thumbnails ([ImageID.Thumbnail]), which no
// record names. No key is written twice, unless two processes make the same thumbnail at once. The
// contract of Store on concurrency and contexts holds here too.
type ImageStore interface {
	// PutImage reads r to its end and keeps the bytes; durable on nil. If r fails, its error is
	// returned and nothing is left behind: that of an image which was found broken comes at its end. r
	// is not read any more once PutImage has returned. ErrNotApplied: there is no space.
	PutImage(ctx context.Context, k ImageKey, r io.Reader) error

	// OpenImage opens an image; the caller closes it. ErrNotFound.
	OpenImage(ctx context.Context, k ImageKey) (io.ReadSeekCloser, error)

	// RemoveImages removes all of an attempt's images but those to keep. That there is none is success.
	RemoveImages(ctx context.Context, g GenerationID, attempt int, keep ...ImageID) error
}

// Spool keeps bytes on their way through: a reference image from its arrival to the end of its
// generation, and a provider's image until it is checked. What was not kept when a process ended
// is removed by the next.
//
// One that keeps room on its disk for what matters more than callers' uploads, that is small requests and images that
// were paid for, has another method, which is asked for alone:
//
//	// TakeSpace is asked for each n bytes of an upload, before they are written. ErrNotApplied: there is no
//	// room. It is cheap.
//	TakeSpace(n int64) error
type Spool interface {
	// Stage reads r to its end, and not any more once it has returned. The bytes can be opened on nil;
	// they need not survive a crash. If r fails, its error is returned and nothing is left behind.
	// ErrNotApplied: there is no space.
	Stage(ctx context.Context, id ReferenceID, r io.Reader) error

	// Keep makes staged bytes durable. Bytes that belong to no open generation may be removed when
	// the store is opened next.
	Keep(ctx context.Context, ids ...ReferenceID) error

	// Open opens staged bytes, again and again, concurrently; the caller closes. ErrNotFound.
	Open(ctx context.Context, id ReferenceID) (io.ReadCloser, error)

	// Remove forgets bytes. That there are none is success.
	Remove(ctx context.Context, ids ...ReferenceID) error
}

// JointStore is a Store in whose transactions a Ledger can take part. It is optional and only
// saves commits: the engine is as correct without.
type JointStore interface {
	Store

	// Joins reports whether l is the ledger that the two methods below write to. A Store that wraps
	// another passes the question on; one that does not would silently double the commits.
	Joins(l Ledger) bool

	// CreateCharged is Create, Charge(r.Charge()) and Update(Accept) in one commit, within the limits of the
	// API key that asked ([Key.Exceeds]): of calls at once with a key for 3 credits, 3 credits' worth are
	// accepted. *ReservedError, ErrInvalidKey, ErrExpiredKey, ErrRateLimited, ErrInsufficientCredits: nothing
	// was written.
	CreateCharged(ctx context.Context, r Record, lease time.Duration) (Record, error)

	// FinishSettled is Update(o), Settle(r.Charge().ID, r.Used()), where r.WantsBalance Balance with
	// o.AccountType, and Update(Close) in one commit. Where Settle is [RefusedForGood], Update(Dispute)
	// takes the place of Close.
	FinishSettled(ctx context.Context, f Fence, o Outcome) (Record, error)
}

// Inspector is implemented by a Store that an operator can look through and have checked, however much is in it: what
// its methods cost does not grow with what they do not return, but for Audit. Optional.
type Inspector interface {
	// UserPage returns one page of the users by name. It may look at no more than 100,000 names that
	// do not match and return a short page, even an empty one, that others follow.
	UserPage(ctx context.Context, q UserQuery) (UserPage, error)

	// Disputed returns up to n records whose charge is in dispute ([Record.Dispute]), oldest first, of
	// those behind the given one ("": from the oldest). total is how many there are in all.
	Disputed(ctx context.Context, after GenerationID, n int) (records []Record, total int, err error)

	// Unsettled returns up to n records whose charge is open, or may be, oldest first, of those behind
	// the given one ("": from the oldest). total is how many there are in all. Its cost grows with that.
	Unsettled(ctx context.Context, after GenerationID, n int) (records []Record, total int, err error)

	// Audit replays the journal and checks every invariant, and every image's bytes against its
	// record. An error means that it could not be carried out.
	Audit(ctx context.Context) (AuditReport, error)
}

// Timekeeper is implemented by a Store that judges the time: a leap of its wall clock is not believed
// until somebody confirms it. Optional: without it the time is that of Config.Now.
//
// In doubt is a clock that ran ahead of the time that passed by more than an hour while the Store was
// open, or that is behind what was told or written by more than five minutes. That the process was
// not running, or the machine slept, is none. A doubt lasts until the clock is put right or confirmed,
// also over a restart of a Store that survives one.
type Timekeeper interface {
	// Now is the time by which credits, keys, idempotency keys, waiting work and what is retained come
	// to their end. In doubt it is the last undoubted time and what has passed since. It falls only by
	// a confirmation.
	Now() time.Time

	// ClockInDoubt tells how far the wall clock is ahead; below 0 it is behind.
	ClockInDoubt() (leap time.Duration, doubt bool)

	// ConfirmClock believes the wall clock as it is, and writes that down. What has expired stays expired.
	// Without a doubt it does nothing.
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
