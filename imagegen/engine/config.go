package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Config configures an [Engine]. Store and Ledger are required. Every other field can be
// left zero: its comment names the default.
type Config struct {
	Store  imagegen.Store
	Ledger imagegen.Ledger     // may be the Store itself, if that is a JointStore: then both commit together
	Images imagegen.ImageStore // nil: Store, which must then implement it
	Spool  imagegen.Spool      // nil: Store, which must then implement it

	// Models are the models on offer, until [Engine.SetModels] replaces them. Without
	// models an engine serves what is stored and takes no new work.
	Models []Model

	// Policy decides the ratio and the tier of a request. nil: SizeFirst.
	Policy Policy
	// Admit is called for each valid new request, before the engine checks capacity and
	// credits. Use it for moderation, or for limits of your own. If it returns an
	// *imagegen.Error, that is the answer; any other error becomes an ErrInternal. nil: every
	// request is admitted.
	Admit func(ctx context.Context, a Admission) error
	// Observer is told what the engine does, for metrics and traces. nil: none, which costs
	// nothing.
	Observer imagegen.Observer

	Concurrency    int           // the slots: how many attempts may run at once; 0: 512. See also Model.MaxConcurrent
	Nodes          int           // how many engines share the Store; each takes an equal share of every Model.MaxConcurrent; 0: 1
	MaxQueued      int           // how many asynchronous generations may wait; beyond it ErrOverloaded; 0: 10,000
	SlotWait       time.Duration // how long a synchronous call waits for a slot; then ErrOverloaded; 0: 30 s
	AttemptTimeout time.Duration // of a synchronous call, including its wait, and of each asynchronous attempt; 0: 800 s
	Grace          time.Duration // how long a provider may take to return after its context ended; 0: 10 s

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

	// Backoff are the pauses before further attempts at asynchronous work, after a transient
	// failure or an interruption: so there is one attempt more than there are pauses. nil: 1 s
	// and 5 s. A longer RetryAfter of the provider is honoured, up to a minute.
	Backoff []time.Duration

	// Thumbnails makes the engine produce a small copy of each image, for
	// Session.OpenThumbnail. It does so in the background after the settlement, so that no
	// generation is delayed. Thumbnails are stored in Images and removed with their
	// generation.
	Thumbnails bool

	// MaxSpooled bounds the bytes of reference images that are kept for one user, from
	// their arrival until their generations have ended. Beyond it the answer is
	// ErrOverloaded. 0: 2 GiB.
	MaxSpooled int64

	MaxAge time.Duration // at this age, waiting work fails and running work gets no further attempt; 0: 24 h
	Lease  time.Duration // after this time without renewal, an attempt counts as abandoned; at least 1 s; 0: 30 s
	Retain time.Duration // how long after their end generations are erased; at least ReservationTime; 0: never

	// KeepFailedPrompts is how long after the end of a failed generation its prompt is
	// kept, together with everything else that reveals the request. The record itself
	// stays. At least ReservationTime; 0: 72 h; negative: for ever.
	KeepFailedPrompts time.Duration

	// TrailRetain is the age at which rows are removed from the audit trail, if the Store
	// keeps one ([account.TrailStore]). 0: never.
	TrailRetain time.Duration

	// LedgerTimeout and LedgerTries are for a Ledger that shares no transaction with the
	// Store. LedgerTimeout bounds one call; 0: 5 s. LedgerTries is how often a call is made
	// if it fails temporarily, with short pauses between; 0: 5. If the outcome is still
	// unknown then, recovery repeats the call later.
	LedgerTimeout time.Duration
	LedgerTries   int
	// MaxWaiting is how many calls of one API key, or of one user without a key, may wait
	// at once for the answer of an equal call that is running. 0: 8. Beyond it, and always
	// if it is negative, a call that repeats an idempotency key gets
	// ErrIdempotencyKeyInUse.
	MaxWaiting int
	// JoinWindow is how long after its end a generation whose answer nobody received can
	// be joined by an equal call, see [imagegen.Joining]. 0: 10 minutes; negative: no call
	// joins another.
	JoinWindow time.Duration

	// Warnings returns further warnings for operators, besides those of the Store.
	// [Engine.Readiness] calls it, so it must be cheap. nil: there are none.
	Warnings func(context.Context) []imagegen.Notice

	// Now returns the current time, which the engine does not check for leaps. nil: Store.Now
	// if the Store is an [imagegen.Timekeeper], else time.Now.
	Now func() time.Time
	Log *slog.Logger // nil: silent. Neither prompts nor keys are logged
}

// Model is a model that the engine offers.
type Model struct {
	ID       string
	Provider imagegen.Provider
	// Credits is the price of one image for each tier. A tier without a price is not on offer.
	Credits map[imagegen.Tier]imagegen.Credits
	// MaxEffort caps, for a tier, the quality that is passed to the provider. No entry: no cap.
	MaxEffort map[imagegen.Tier]imagegen.Quality
	// Verify says how images are checked for completeness; "": as the provider's
	// Capabilities say.
	Verify imagegen.Verification

	// Ratios, MaxReferences, MaxImages and MaxPrompt restrict what the provider can do.
	// Zero: no restriction.
	Ratios        []imagegen.Ratio
	MaxReferences *int
	MaxImages     int
	MaxPrompt     int

	// MaxConcurrent is how many attempts with this model may run at once. Others wait, and
	// hold no slot meanwhile. While the upstream reports overload, fewer run. 0: what the
	// provider's method MaxConcurrent returns, else 64; with several models also at most half
	// of Config.Concurrency.
	MaxConcurrent int

	// Aliases are other names for the model, for clients with built-in model names. Only
	// some interfaces accept them, such as package openai. No name or alias may occur twice.
	Aliases []string

	// Retired hides the model from callers but keeps it for work that was already
	// accepted. A request for it is refused like one for a model that does not exist.
	Retired bool

	// Upstreams identify what Provider calls: the type, address and account of each
	// upstream. They are stored with each saved upstream job, so they must not contain a
	// secret. Only a provider that has one of them in common resumes the job. A router has
	// several, and distinguishes them itself. nil: the provider's name.
	Upstreams []string `yaml:"-"`
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

const (
	defaultConcurrency    = 512
	defaultMaxQueued      = 10_000
	defaultMaxRefusals    = 30
	defaultSlotWait       = 30 * time.Second
	defaultAttemptTimeout = 800 * time.Second // section 8 of the specification
	defaultGrace          = 10 * time.Second
	defaultMaxAge         = 24 * time.Hour
	defaultLease          = 30 * time.Second
	minLease              = time.Second // a shorter one is likely a number that lacks its unit
	defaultLedgerTimeout  = 5 * time.Second
	defaultLedgerTries    = 5
	defaultMaxWaiting     = 8
	defaultJoinWindow     = 10 * time.Minute
	defaultMaxSpooled     = 2 << 30

	defaultKeepFailedPrompts = 72 * time.Hour
)

// withDefaults returns c with its zero values replaced by what they stand for.
func (c Config) withDefaults() Config {
	orDefault(&c.Concurrency, defaultConcurrency)
	orDefault(&c.Nodes, 1)
	orDefault(&c.MaxQueued, defaultMaxQueued)
	orDefault(&c.MaxRefusals, defaultMaxRefusals)
	orDefault(&c.SlotWait, defaultSlotWait)
	orDefault(&c.AttemptTimeout, defaultAttemptTimeout)
	orDefault(&c.Grace, defaultGrace)
	orDefault(&c.MaxAge, defaultMaxAge)
	orDefault(&c.Lease, defaultLease)
	orDefault(&c.LedgerTimeout, defaultLedgerTimeout)
	orDefault(&c.LedgerTries, defaultLedgerTries)
	orDefault(&c.MaxWaiting, defaultMaxWaiting)
	orDefault(&c.JoinWindow, defaultJoinWindow)
	orDefault(&c.MaxSpooled, defaultMaxSpooled)
	orDefault(&c.KeepFailedPrompts, defaultKeepFailedPrompts)
	if c.Backoff == nil {
		c.Backoff = []time.Duration{time.Second, 5 * time.Second}
	}
	if c.Policy == nil {
		c.Policy = SizeFirst
	}
	if c.Admit == nil {
		c.Admit = func(context.Context, Admission) error { return nil }
	}
	if k, ok := c.Store.(imagegen.Timekeeper); ok && c.Now == nil {
		c.Now = k.Now
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Images == nil {
		c.Images, _ = c.Store.(imagegen.ImageStore)
	}
	if c.Spool == nil {
		c.Spool, _ = c.Store.(imagegen.Spool)
	}
	return c
}

func orDefault[T int | int64 | time.Duration](v *T, otherwise T) {
	if *v == 0 {
		*v = otherwise
	}
}

// check returns the models as a catalog. Its error names everything that is wrong at
// once.
func (c Config) check() (*catalog, error) {
	models, err := newCatalog(c.Models)
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
	require(c.Concurrency > 0 && c.Nodes > 0 && c.MaxQueued > 0, "Config.Concurrency, Config.Nodes and Config.MaxQueued cannot be negative")
	require(c.LedgerTries > 0 && c.LedgerTimeout > 0, "Config.LedgerTries and Config.LedgerTimeout cannot be negative")
	require(c.Lease >= minLease, "Config.Lease is %v; it is at least %v", c.Lease, minLease)
	require(c.MaxSpooled > 0, "Config.MaxSpooled cannot be negative")
	require(c.SlotWait > 0 && c.AttemptTimeout > 0 && c.Grace > 0 && c.MaxAge > 0 && c.Retain >= 0 && c.TrailRetain >= 0,
		"no duration in Config can be negative")
	require(c.Retain == 0 || c.Retain >= imagegen.ReservationTime, "Config.Retain is at least %v: idempotency keys are kept that long", imagegen.ReservationTime)
	require(c.KeepFailedPrompts < 0 || c.KeepFailedPrompts >= imagegen.ReservationTime, "Config.KeepFailedPrompts is at least %v, or negative: idempotency keys are kept that long", imagegen.ReservationTime)
	return models, errors.Join(append(errs, err)...)
}

// check returns why the model cannot be offered; nil if it can.
func (m Model) check() error {
	if m.Provider == nil {
		return fmt.Errorf("imagegen: model %q has no Provider", m.ID)
	}
	for tier, price := range m.Credits {
		if !slices.Contains(imagegen.Tiers(), tier) {
			return fmt.Errorf("imagegen: model %q has a price for tier %q; the tiers are %v", m.ID, tier, imagegen.Tiers())
		}
		if _, err := price.Times(imagegen.MaxImages); err != nil {
			return fmt.Errorf("imagegen: model %q: %d credits for tier %q is not a valid price", m.ID, price, tier)
		}
	}
	can := m.Provider.Capabilities().WithDefaults()
	if err := can.Validate(); err != nil {
		return fmt.Errorf("imagegen: model %q: the Capabilities of its provider: %w", m.ID, err)
	}
	info := m.info(can)
	if len(info.Tiers) == 0 {
		return fmt.Errorf("imagegen: model %q has no price for any tier of its provider (%v)", m.ID, can.Tiers)
	}
	if info.MaxReferences < can.MinReferences {
		return fmt.Errorf("imagegen: model %q: MaxReferences is %d; its provider needs at least %d reference images", m.ID, info.MaxReferences, can.MinReferences)
	}
	if m.MaxConcurrent < 0 {
		return fmt.Errorf("imagegen: model %q: MaxConcurrent is %d; it cannot be negative", m.ID, m.MaxConcurrent)
	}
	for tier, effort := range m.MaxEffort {
		if !slices.Contains(imagegen.Tiers(), tier) || !slices.Contains(imagegen.Qualities(), effort) {
			return fmt.Errorf("imagegen: model %q: max effort %q for tier %q: no such quality or tier", m.ID, effort, tier)
		}
	}
	if m.Verify != "" && !slices.Contains(imagegen.Verifications(), m.Verify) {
		return fmt.Errorf("imagegen: model %q: there is no verification %q; there are %v", m.ID, m.Verify, imagegen.Verifications())
	}
	for _, r := range m.Ratios {
		if !slices.Contains(can.Ratios, r) {
			return fmt.Errorf("imagegen: model %q: its provider cannot do ratio %q", m.ID, r)
		}
	}
	return nil
}
