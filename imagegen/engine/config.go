package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Config configures an [Engine]. Store and Ledger are required. Every other field, also in the
// structs, can be left zero: its comment names the default. In their order, the fields say
//
//   - where everything is kept: Store, Ledger, Images, Spool
//   - what is on offer: Models
//   - how work is done: Limits, Attempts, Repeats, LedgerCalls, Retention, Nodes
//   - what is made besides: Thumbnails, EndUserKey
//   - which functions of the program are called: Policy, Admit, Observer, Warnings
//   - what time it is, and where to log: Now, Log
type Config struct {
	Store  imagegen.Store
	Ledger imagegen.Ledger     // may be the Store itself, if that is a TxStore: then both commit together
	Images imagegen.ImageStore // nil: Store, which must then implement it
	Spool  imagegen.Spool      // nil: Store, which must then implement it

	// Models are the models on offer, until [Engine.SetModels] replaces them. Without
	// models an engine serves what is stored and takes no new work.
	Models []Model

	// Work says which work this engine does. Zero: all.
	Work Work

	Limits      Limits      // how much work is taken
	Attempts    Attempts    // how long and how often work is tried
	Repeats     Repeats     // which calls wait for the answer of an equal one
	LedgerCalls LedgerCalls // of a Ledger that shares no transaction with the Store
	Retention   Retention   // what is removed at which age

	// Nodes is how many engines share the Store; each takes an equal share of every
	// Model.MaxConcurrent. 0: 1.
	Nodes int
	// Thumbnails makes the engine produce a small copy of each image, for
	// Session.OpenThumbnail. It does so in the background after the settlement, so that no
	// generation is delayed. Thumbnails are stored in Images and removed with their
	// generation.
	Thumbnails bool

	// EndUserKey is the secret from which Model.SendUser derives what upstreams are sent, so it is the same in all
	// engines, for good. Required if a model has SendUser.
	EndUserKey []byte

	// Feed makes the Store, which has to be an [imagegen.FeedKeeper], keep a feed of what happens, for Engine.Events.
	// New notes that in the Store, for all processes that open it later, until FeedKeeper.KeepFeed ends it.
	Feed bool
	// NotifyCostAbove is a line, in millionths of the operator's currency: for each day whose known costs are above it
	// there is one event in the feed, some minutes later. It needs Feed, and a Store that is an [imagegen.TotalsKeeper]
	// and an account.LoginStore; without the latter there are no events of limits either. 0: no event.
	NotifyCostAbove imagegen.Micros

	// Policy decides the ratio and the tier of a request. nil: SizeFirst.
	Policy Policy
	// Admit is called for each valid new request, before the engine checks capacity and
	// credits. Use it for moderation, or for limits of your own. If it returns an
	// *imagegen.Error, that is the answer; any other error becomes an ErrInternal. nil: every
	// request is admitted.
	Admit func(ctx context.Context, a Admission) error
	// Observer hears what the engine does, for metrics and traces. nil: none, which costs
	// nothing.
	Observer imagegen.Observer
	// Warnings returns further warnings for operators, besides those of the Store.
	// [Engine.Readiness] calls it, so it must be cheap. nil: there are none.
	Warnings func(context.Context) []imagegen.Notice
	// Now returns the current time, which the engine does not check for leaps. nil: Store.Now
	// if the Store is an [imagegen.Timekeeper], else time.Now.
	Now func() time.Time
	age func(time.Time) time.Duration // how long ago a time was by Now, at least 0
	Log *slog.Logger                  // nil: silent. Neither prompts nor keys are logged
}

// Work is what an engine does of the work in its Store.
type Work int

const (
	WorkAll Work = iota // it makes images, recovers what others have left, and removes what has reached its age
	// WorkNone accepts asynchronous requests, waits and reads: for a web process beside workers, which are engines with
	// WorkAll on the same Store, Images and Spool. A synchronous request is a mistake of the program: ErrInternal. The
	// models' providers can be provider.Declared.
	WorkNone
)

// Limits bound the work that an engine takes. Beyond most of them the answer is ErrOverloaded.
type Limits struct {
	Concurrency int           // the slots: how many attempts may run at once; 0: 512. See also Model.MaxConcurrent
	SlotWait    time.Duration // how long a synchronous call waits for a slot; then ErrOverloaded; 0: 30 s
	MaxQueued   int           // how many asynchronous generations may wait; beyond it ErrOverloaded; 0: 10,000

	// MaxSpooled bounds the bytes of reference images that are kept for one user, from
	// their arrival until their generations have ended. Beyond it the answer is
	// ErrOverloaded. 0: 2 GiB.
	MaxSpooled int64

	// FairShares bounds what one of several users can take: at most half of the queue,
	// beyond which the answer is ErrOverloaded, and at most seven of eight slots. The other
	// slots (at least one, if there are two or more) are kept for users who hold none. The
	// only user, in the Store and among the callers, can have everything. Even without
	// FairShares, a slot that becomes free goes to the user who holds the fewest.
	FairShares bool

	// MaxRefusals is how many of a user's generations providers may refuse in an hour
	// (ClassRefused, ClassInvalid). Each success makes up for one refusal. Beyond the limit
	// the answer is ErrRateLimited until enough time has passed. 0: 30; negative: no limit.
	// The count is kept in memory: a restart forgets it, and every engine counts for
	// itself.
	MaxRefusals int
}

// Attempts are the times of attempts, and how often work is tried.
type Attempts struct {
	Timeout time.Duration // of a synchronous call, including its wait, and of each asynchronous attempt; 0: 800 s
	Grace   time.Duration // how long a provider may take to return after its context ended; 0: 10 s
	Lease   time.Duration // after this time without renewal, an attempt counts as abandoned; at least 1 s; 0: 30 s
	MaxAge  time.Duration // at this age, waiting work fails and running work gets no further attempt; 0: 24 h

	// Backoff are the pauses before further attempts at asynchronous work, after a transient
	// failure or an interruption: so there is one attempt more than there are pauses. nil: 1 s
	// and 5 s. A longer RetryAfter of the provider is honoured, up to a minute.
	Backoff []time.Duration
}

// Repeats bound the calls that repeat another one, by its idempotency key or by
// [imagegen.JoinOptions].
type Repeats struct {
	// MaxWaiting is how many calls of one API key, or of one user without a key, may wait
	// at once for the answer of an equal call that is running. 0: 8. Beyond it, and always
	// if it is negative, a call that repeats an idempotency key gets
	// ErrIdempotencyKeyInUse.
	MaxWaiting int
	// JoinWindow is how long after its end a generation whose answer nobody received can
	// be joined by an equal call, see [imagegen.JoinOptions]. 0: 10 minutes; negative: no call
	// joins another.
	JoinWindow time.Duration
}

// LedgerCalls are for a Ledger that shares no transaction with the Store.
type LedgerCalls struct {
	Timeout time.Duration // of one try; 0: 5 s
	// Tries is how often a call is made if it fails temporarily, with short pauses between; 0: 5.
	// If the outcome is still unknown then, recovery repeats the call later.
	Tries int
}

// Retention is how long the engine keeps what has ended.
type Retention struct {
	Generations time.Duration // how long after their end they are erased; at least IdempotencyKeyLifetime; 0: never
	// FailedPrompts is how long after the end of a failed generation its prompt is
	// kept, together with everything else that reveals the request. The record itself
	// stays. At least IdempotencyKeyLifetime; 0: 72 h; negative: for ever.
	FailedPrompts time.Duration
	// Trail is the age at which rows are removed from the audit trail, if the Store
	// keeps one ([account.TrailStore]). 0: never.
	Trail time.Duration
	// Events is the age at which events are removed from the feed, if the Store keeps one. 0: 30 days; negative: never.
	Events time.Duration
}

// Model is a model that the engine offers.
type Model struct {
	ID       string
	Provider imagegen.Provider
	// Credits is the price of one image for each tier, where no line of Prices fits. A tier that is not in it is not on
	// offer. If it is empty, the tiers on offer are those of Prices.
	Credits map[imagegen.Tier]imagegen.Credits
	// Prices are prices under conditions: the first line that fits decides. [Model.PriceFaults] says what is refused.
	Prices []imagegen.Price
	// ReferenceCredits are added to the price of each image for each reference image, unless the line of Prices has
	// its own.
	ReferenceCredits imagegen.Credits
	// Price, if it is not nil, takes the place of Prices and of the amounts of Credits, whose tiers stay those on
	// offer. It returns the price of one image, references included, and is called once for each quote, for each new
	// charge, after replays and joins, and for each tier of a model that is listed. An *imagegen.Error is the answer to
	// the caller. Any other error, a panic, an amount for which N images make an invalid charge, and more than a second
	// are ErrInternal; nothing is charged then, and a list of models lacks the model. While a
	// call has not returned within that second, all others are refused so. It must be safe for concurrent use, and no
	// lock is held.
	Price func(context.Context, Order) (imagegen.Credits, error)
	// Cost says what the upstream charges the operator, for [Engine.Totals]. Zero: it is not known.
	Cost Cost

	// MaxEffort caps, for a tier, the quality that is passed to the provider, see Choice.QualityChoseTier. No entry: no
	// cap.
	MaxEffort map[imagegen.Tier]imagegen.Quality
	// Verify says how images are checked for completeness; "": as the provider's
	// Capabilities say.
	Verify imagegen.Verification
	// Metadata says what becomes of the metadata of images; "": as the provider's
	// Capabilities say.
	Metadata imagegen.Metadata

	// Ratios, MaxReferences, MaxImages and MaxPrompt restrict what the provider can do.
	// Zero: no restriction.
	Ratios        []imagegen.Ratio
	MaxReferences *int
	MaxImages     int
	MaxPrompt     int

	// MaxConcurrent is how many attempts with this model may run at once. Others wait, and
	// hold no slot meanwhile. While the upstream reports overload, fewer run. 0: what the
	// provider says if it is an imagegen.ConcurrencyLimiter, else 64; with several models also at most half
	// of Config.Limits.Concurrency.
	MaxConcurrent int

	// Aliases are other names for the model, for clients with built-in model names. Only
	// some interfaces accept them, such as package openai. No name or alias may occur twice.
	Aliases []string

	// OnlyFor hides the model from users whose account type is not among these: a request of theirs for it is refused
	// like one for a model that does not exist. What was accepted goes on. nil: it is for everybody.
	OnlyFor []string

	// SendUser has the provider pass on a keyed hash of the user who asks, so that an upstream that blocks somebody
	// need not block everybody. The provider's Capabilities must have EndUser.
	SendUser bool

	// Retired hides the model from callers but keeps it for work that was already
	// accepted. A request for it is refused like one for a model that does not exist.
	Retired bool

	// Upstreams identify what Provider calls: the type, address and account of each
	// upstream. They are stored with each saved upstream job, so they must not contain a
	// secret. Only a provider that has one of them in common resumes the job. A router has
	// several, and distinguishes them itself. nil: the provider's name.
	Upstreams []string
}

// Admission is a request that is about to be charged.
type Admission struct {
	User    imagegen.UserID
	Request imagegen.GenerateRequest // without References and Mask, which are below
	Ratio   imagegen.Ratio
	Tier    imagegen.Tier
	Credits imagegen.Credits // that will be charged

	References []imagegen.ProviderReference // checked; they can be opened until Admit returns
	Mask       *imagegen.ProviderReference  // nil: no mask
}

// minLease is a lease that is likely no number that lacks its unit.
const minLease = time.Second

// withDefaults returns c with its zero values replaced by what they stand for.
func (c Config) withDefaults() Config {
	c.Limits = c.Limits.withDefaults()
	c.Attempts = c.Attempts.withDefaults()
	c.Repeats.MaxWaiting = cmp.Or(c.Repeats.MaxWaiting, 8)
	c.Repeats.JoinWindow = cmp.Or(c.Repeats.JoinWindow, 10*time.Minute)
	c.LedgerCalls.Timeout = cmp.Or(c.LedgerCalls.Timeout, 5*time.Second)
	c.LedgerCalls.Tries = cmp.Or(c.LedgerCalls.Tries, 5)
	c.Retention.FailedPrompts = cmp.Or(c.Retention.FailedPrompts, 72*time.Hour)
	c.Retention.Events = cmp.Or(c.Retention.Events, 30*24*time.Hour)
	c.Nodes = cmp.Or(c.Nodes, 1)
	if c.Policy == nil {
		c.Policy = SizeFirst
	}
	if c.Admit == nil {
		c.Admit = func(context.Context, Admission) error { return nil }
	}
	if k, ok := c.Store.(imagegen.Timekeeper); ok && c.Now == nil {
		c.Now, c.age = k.Now, k.Age
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.age == nil {
		c.age = func(at time.Time) time.Duration { return max(0, c.Now().Sub(at)) }
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Images == nil {
		c.Images, _ = c.Store.(imagegen.ImageStore)
	}
	if c.Spool == nil {
		c.Spool, _ = c.Store.(imagegen.Spool)
	}
	return c
}

func (l Limits) withDefaults() Limits {
	l.Concurrency = cmp.Or(l.Concurrency, 512)
	l.SlotWait = cmp.Or(l.SlotWait, 30*time.Second)
	l.MaxQueued = cmp.Or(l.MaxQueued, 10_000)
	l.MaxSpooled = cmp.Or(l.MaxSpooled, 2<<30)
	l.MaxRefusals = cmp.Or(l.MaxRefusals, 30)
	return l
}

func (a Attempts) withDefaults() Attempts {
	a.Timeout = cmp.Or(a.Timeout, 800*time.Second) // section 8 of the specification
	a.Grace = cmp.Or(a.Grace, 10*time.Second)
	a.Lease = cmp.Or(a.Lease, 30*time.Second)
	a.MaxAge = cmp.Or(a.MaxAge, 24*time.Hour)
	if a.Backoff == nil {
		a.Backoff = []time.Duration{time.Second, 5 * time.Second}
	}
	return a
}

// validate returns the models as a catalog. Its error names everything that is wrong at
// once.
func (c Config) validate() (*catalog, error) {
	models, err := newCatalog(c.Models, c)
	var errs []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("imagegen: "+format, args...))
		}
	}
	require(c.Store != nil, "Config.Store is required")
	require(c.Ledger != nil, "Config.Ledger is required")
	require(c.Store == nil || c.Images != nil, "Config.Images is required: Store keeps no images")
	require(c.Store == nil || c.Spool != nil, "Config.Spool is required: Store has no spool")
	for name, part := range map[string]any{"Store": c.Store, "Images": c.Images, "Spool": c.Spool} {
		_, alone := part.(imagegen.OneProcess)
		require(!alone || c.Work != WorkNone,
			"Config.%s cannot be had by another process, and Config.Work is WorkNone: nobody would do the work", name)
	}
	_, keeps := c.Store.(imagegen.FeedKeeper)
	require(!c.Feed || keeps, "Config.Feed: the Store keeps no events")
	_, sums := c.Store.(imagegen.TotalsKeeper)
	require(c.NotifyCostAbove == 0 || c.NotifyCostAbove > 0 && c.Feed && sums,
		"Config.NotifyCostAbove: it cannot be negative, and needs Feed and a Store that sums up costs")
	l, a, r := c.Limits, c.Attempts, c.Retention
	require(l.Concurrency > 0 && l.MaxQueued > 0 && l.MaxSpooled > 0 && l.SlotWait > 0,
		"Config.Limits: nothing but MaxRefusals can be negative")
	require(a.Timeout > 0 && a.Grace > 0 && a.MaxAge > 0, "Config.Attempts: no duration can be negative")
	require(a.Lease >= minLease, "Config.Attempts.Lease is %v; it is at least %v", a.Lease, minLease)
	require(c.LedgerCalls.Tries > 0 && c.LedgerCalls.Timeout > 0, "Config.LedgerCalls cannot be negative")
	require(c.Nodes > 0, "Config.Nodes cannot be negative")
	require(r.Trail >= 0, "Config.Retention.Trail cannot be negative")
	require(r.Generations == 0 || r.Generations >= imagegen.IdempotencyKeyLifetime,
		"Config.Retention.Generations is at least %v: idempotency keys are kept that long", imagegen.IdempotencyKeyLifetime)
	require(r.FailedPrompts < 0 || r.FailedPrompts >= imagegen.IdempotencyKeyLifetime,
		"Config.Retention.FailedPrompts is at least %v, or negative: idempotency keys are kept that long",
		imagegen.IdempotencyKeyLifetime)
	return models, errors.Join(append(errs, err)...)
}

// validateModel returns why the model cannot be offered; nil if it can.
func (m Model) validateModel(policy Policy) error {
	if m.Provider == nil {
		return fmt.Errorf("imagegen: model %q has no Provider", m.ID)
	}
	can := m.Provider.Capabilities().WithDefaults()
	if err := can.Validate(); err != nil {
		return fmt.Errorf("imagegen: model %q: the Capabilities of its provider: %w", m.ID, err)
	}
	if faults := m.PriceFaults(policy); len(faults) > 0 {
		return faults[0].in(m)
	}
	info := m.info(can)
	if len(info.Tiers) == 0 {
		return fmt.Errorf("imagegen: model %q has no price for any tier of its provider (%v)", m.ID, can.Tiers)
	}
	if info.MaxReferences < can.MinReferences {
		return fmt.Errorf("imagegen: model %q: MaxReferences is %d; its provider needs at least %d reference images",
			m.ID, info.MaxReferences, can.MinReferences)
	}
	if err := m.Cost.check(); err != nil {
		return fmt.Errorf("imagegen: model %q: %w", m.ID, err)
	}
	if m.SendUser && !can.EndUser {
		return fmt.Errorf("imagegen: model %q: its provider has no field for SendUser to fill", m.ID)
	}
	if m.MaxConcurrent < 0 {
		return fmt.Errorf("imagegen: model %q: MaxConcurrent is %d; it cannot be negative", m.ID, m.MaxConcurrent)
	}
	for tier, effort := range m.MaxEffort {
		if !slices.Contains(imagegen.Tiers(), tier) || !slices.Contains(imagegen.Qualities(), effort) {
			return fmt.Errorf("imagegen: model %q: max effort %q for tier %q: no such quality or tier", m.ID, effort,
				tier)
		}
	}
	if m.Verify != "" && !slices.Contains(imagegen.Verifications(), m.Verify) {
		return fmt.Errorf("imagegen: model %q: there is no verification %q; there are %v", m.ID, m.Verify,
			imagegen.Verifications())
	}
	if m.Metadata != "" && !slices.Contains(imagegen.Metadatas(), m.Metadata) {
		return fmt.Errorf("imagegen: model %q: Metadata is %q; it can be one of %v", m.ID, m.Metadata,
			imagegen.Metadatas())
	}
	for _, r := range m.Ratios {
		if !slices.Contains(can.Ratios, r) {
			return fmt.Errorf("imagegen: model %q: its provider cannot do ratio %q", m.ID, r)
		}
	}
	return nil
}
