package imagegen

import (
	"context"
	"time"
)

// FeedKind says what a [FeedEvent] tells.
type FeedKind string

// The kinds of events. docs/events.md has the fields of each.
const (
	FeedAccepted  FeedKind = "generation.accepted" // it is charged, and will be made
	FeedSucceeded FeedKind = "generation.succeeded"
	FeedFailed    FeedKind = "generation.failed"
	FeedCancelled FeedKind = "generation.cancelled"
	FeedErased    FeedKind = "generation.erased" // prompt and images are gone

	FeedGranted FeedKind = "credits.granted"
	FeedRevoked FeedKind = "credits.revoked"
	FeedExpired FeedKind = "credits.expired" // they were written off
	FeedLow     FeedKind = "credits.low"     // the balance has fallen below User.NotifyBelow

	FeedKeyCreated    FeedKind = "key.created"
	FeedKeyRevoked    FeedKind = "key.revoked"
	FeedUserCreated   FeedKind = "user.created"
	FeedUserSuspended FeedKind = "user.suspended"
	FeedUserDisabled  FeedKind = "user.disabled"

	// These two follow from no commit, and are written within some minutes, see engine.Config.
	FeedLimit FeedKind = "limit.reached" // a limit of a key or a member has refused a charge
	FeedCost  FeedKind = "cost.above"    // what a day has cost is above the operator's line

	FeedLost FeedKind = "events.lost" // what a reader has not read was removed by its age; it is made for that reader
)

// FeedKinds are all kinds of events, in the order in which docs/events.md has them.
var FeedKinds = []FeedKind{FeedAccepted, FeedSucceeded, FeedFailed, FeedCancelled, FeedErased, FeedGranted,
	FeedRevoked, FeedExpired, FeedLow, FeedKeyCreated, FeedKeyRevoked, FeedUserCreated, FeedUserSuspended,
	FeedUserDisabled, FeedLimit, FeedCost, FeedLost}

// FeedEvent is something that has happened, as the feed of a [FeedKeeper] tells it. It holds neither prompts nor
// secrets nor addresses of images. Which fields are set depends on its kind.
type FeedEvent struct {
	// Number is the place in the feed. Numbers rise, with gaps: each is at least the milliseconds since 1970 of the
	// time at which it was given, so that the feed of a restored database goes on behind what was read before.
	Number uint64
	ID     string // of the event, wherever and however often it is read; "": FeedLost
	Kind   FeedKind
	Time   time.Time // of the commit in which it happened, by the store's clock

	User       UserID // whose generation, credits or key it is; of credits that of the payer
	Payer      UserID // who pays for the user's generation; "": the user
	Generation GenerationID
	Key        KeyID  // the key itself, or the key that asked for a generation
	Model      string // of a generation

	Images  int     // accepted: how many were asked for; an end: how many were paid for
	Credits Credits // what the balance of the payer, or of the user, changes by; negative if credits were taken
	Balance Credits // credits.*: the balance after it
	Below   Credits // credits.low: the amount below which the balance has fallen
	Ref     string  // credits.granted, credits.revoked: that of the Grant or Revocation
	Reason  string  // generation.failed: the Class of its Failure, as a word

	Limit  Credits // limit.reached: how many credits it allows
	Period string  // the day, 2006-01-02, or the month, 2006-01, of the limit, or the day of the cost; "": in all
	Cost   Micros  // cost.above: what is known of the day so far
	Above  Micros  // cost.above: the line

	// Disputed: the ledger has refused to close the charge, which stays open until an operator settles it. No event
	// tells of that.
	Disputed bool

	From, To uint64 // events.lost: the first and the last number that may have been lost
}

// FeedPlace is how far a reader of the feed, such as a webhook, has come, and what became of its last try.
type FeedPlace struct {
	Reader string // its name
	Number uint64 // it has dealt with everything up to here
	Event  string // the identifier of the event that was tried last; "": none was
	Tries  int    // how often the event behind Number has failed; 0: it was not tried
	Since  time.Time
	At     time.Time // of the last try; Since is when the first of Tries failed
	Status int       // of the last answer; 0: there was none
	Answer string    // its first kibibyte, or why there was none
}

// FeedKeeper is an optional part of a [Store]: it keeps a feed of what has happened to generations, users and keys,
// and to credits if it is the ledger too. Each event is written in the commit that makes it true, so there is one if
// and only if it is true. A write that is repeated leaves one event.
type FeedKeeper interface {
	// KeepFeed says durably whether events are written: by this process from now on, and by each that opens the store
	// later. Others that have it open go on as they began. Before the first call none are.
	KeepFeed(ctx context.Context, keep bool) error

	// Tell writes an event that follows from no commit, by itself, with a time and an identifier; nothing unless events
	// are written.
	Tell(ctx context.Context, e FeedEvent) error

	// Feed returns up to n events with numbers above after, in the order of their numbers. A reader that goes on from
	// the last number that it has read gets each event once: no event ever appears at or below a number that was
	// returned before, also while transactions are open for long. Events of one generation, and those of one account,
	// come in the order in which they happened.
	//
	// If events above after were removed (TidyFeed), and after is not 0, the first that is returned is a FeedLost,
	// whose number is the last one that was removed.
	Feed(ctx context.Context, after uint64, n int) ([]FeedEvent, error)

	// FeedEnd returns the place behind all that has happened so far: the last number that was given. Before the first
	// it is the present by the store's clock, in milliseconds since 1970.
	FeedEnd(ctx context.Context) (uint64, error)

	// FeedPlaces returns the places that were set; in no order.
	FeedPlaces(ctx context.Context) ([]FeedPlace, error)
	// SetFeedPlace keeps a place, if that of its reader is still from: as FeedPlaces returned it, or the zero FeedPlace
	// where there was none. set is false if another process has set it meanwhile; then nothing is changed.
	SetFeedPlace(ctx context.Context, from, to FeedPlace) (set bool, err error)

	// TidyFeed removes events that happened at least age ago, by the store's clock, from the oldest on.
	TidyFeed(ctx context.Context, age time.Duration) error

	// SetNotifyBelow sets User.NotifyBelow; 0: nothing tells of a low balance. ErrNotFound. ErrInvalidRequest: the
	// amount is not valid.
	SetNotifyBelow(ctx context.Context, u UserID, below Credits) error
}
