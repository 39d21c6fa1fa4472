package imagegen

import (
	"context"
	"io"
	"strings"
	"time"
)

// Service is what one user can do, and what the HTTP interface offers. In process, Engine.As
// and Engine.Authenticate return the Service of a user; over HTTP, package client returns
// that of an API key.
//
// A Service is safe for concurrent use. Every error of its methods is an [*Error], or the
// error of the caller's context if that ended first.
type Service interface {
	// Models lists the models that a request can name, in the order of the configuration.
	Models(ctx context.Context) ([]ModelInfo, error)

	// Balance returns the credits that the user can spend.
	Balance(ctx context.Context) (Balance, error)

	// Generate charges the user, has the provider make the images and stores them.
	//
	// It returns when the images are stored or, with Async, as soon as the work is durably
	// queued. If the provider makes fewer images than were asked for, that is a success, and
	// costs only those that were made. If it makes none, the error is [ErrGenerationFailed] and
	// all credits are refunded.
	//
	// Before the charge it can fail with ErrInvalidRequest, ErrInsufficientCredits,
	// ErrChargeRefused, ErrRateLimited or ErrOverloaded, or since the API key can no longer be
	// used, with ErrInvalidKey or ErrExpiredKey; with an idempotency key also with
	// ErrIdempotencyKeyReused, ErrIdempotencyKeyInUse or, if the generation under the key
	// was erased, ErrNotFound. After ErrInternal the outcome may be unknown: repeat the
	// call with the same idempotency key to learn it.
	//
	// If ctx ends before the charge, nothing is charged. If it ends after the charge, the work
	// goes on: a call with the same idempotency key returns its result, and Generations lists it.
	Generate(ctx context.Context, r GenerateRequest) (Result, error)

	// Quote checks and prices a request as Generate does, but neither charges nor stores
	// anything. It does not compare the price with the balance. References are only counted:
	// they are not opened, not taken over, and can be nil; for a mask, [Counted] suffices.
	// ErrInvalidRequest: as for Generate.
	Quote(ctx context.Context, r GenerateRequest) (Quote, error)

	// Generation returns one of the user's generations. ErrNotFound: the identifier is
	// malformed, or the generation does not exist or belongs to somebody else.
	Generation(ctx context.Context, id GenerationID) (Generation, error)

	// Await waits until the generation has ended, but no longer than most or MaxAwait, and
	// returns it as it then is. It returns early when the service stops, or when the caller
	// already has as many calls of Await waiting as is allowed. So look at the Status, and
	// call again if it is not Terminal. ErrNotFound as for Generation. ErrInvalidKey,
	// ErrExpiredKey: the caller's key can no longer be used.
	Await(ctx context.Context, id GenerationID, most time.Duration) (Generation, error)

	// Cancel ends one of the user's generations that still waits, and returns it: it has
	// failed with CodeCancelled, and all its credits are refunded. If an earlier attempt has
	// already shown images, it succeeds with those instead. A generation that was cancelled
	// before is returned unchanged.
	//
	// ErrNotCancellable: it has ended otherwise, or an upstream is working on it.
	// ErrNotFound as for Generation. If an attempt begins at the same moment, either the
	// attempt or Cancel takes effect, never both.
	Cancel(ctx context.Context, id GenerationID) (Generation, error)

	// Generations lists the user's generations, newest first. ErrInvalidRequest: a field of
	// q is out of range.
	Generations(ctx context.Context, q Query) (Page, error)

	// Usage sums up what the user was charged, by day, model and key as q says. The sums
	// equal those of the ledger. ErrInvalidRequest: see UsageQuery.WithDefaults and
	// UsageQuery.Sum. ErrNotFound: the ledger is not a CreditAdmin, and keeps no sums.
	Usage(ctx context.Context, q UsageQuery) (UsageReport, error)

	// OpenImage opens a stored image. The caller closes it. Anybody who knows the identifier
	// may open the image: the owner is not checked. ErrNotFound.
	OpenImage(ctx context.Context, id ImageID) (*ImageFile, error)
}

// GenerateRequest is a request for images. Model and Prompt are required.
type GenerateRequest struct {
	Model   string
	Prompt  string  // not blank; at most the model's MaxPrompt code points of valid UTF-8
	Size    Size    // zero: auto. An explicit size is delivered exactly, or refused
	Quality Quality // "": QualityAuto
	N       int     // number of images; 0: 1. At most the model's MaxImages
	Async   bool    // return as soon as the work is queued
	// References are reference images, at most the model's MaxReferences. Generate takes them
	// over even if it fails: what StageReference of an engine.Session returned can be used for one call only.
	References []Reference

	// Mask is a PNG with an alpha channel, of at most MaxMaskBytes and the same size in
	// pixels as the first reference. The model redraws what is transparent in the mask and
	// keeps the rest. Nil: no mask. Generate takes it over as it does the References.
	Mask Reference

	Options Options

	// MaxCredits refuses a request that costs more with ErrInvalidRequest, before the charge. It is about all N images
	// together. It has no effect on a call that gets the answer of an earlier one, nor on Quote. 0: no maximum.
	MaxCredits Credits

	// IdempotencyKey makes it safe to repeat the call: 1 to 255 visible ASCII characters.
	// Until IdempotencyKeyLifetime after the end of the generation, the same request with the same
	// key gets the first answer and is not charged again. "": none.
	IdempotencyKey string

	// EndUser is the caller's own user, for whom it asks. It changes nothing about the images; calls for different ones
	// never join. With a key on behalf of people ([Key.Members]) it names the person who asks.
	EndUser string

	// OnProgress, if it is not nil, is called before the generation ends, each time that more of
	// its images become visible. Images of earlier calls come first. Generate calls it on its
	// own goroutine and waits until it returns. It has no effect with Async, nor in package
	// client.
	OnProgress func(Generation)

	// Join lets this call join an equal one whose caller hung up, and later equal calls
	// join this one; nil: neither. It has no effect with Async or an IdempotencyKey, nor in
	// package client: the server decides which calls join.
	Join *JoinOptions
}

// JoinOptions are for clients that repeat a call on their own, without an idempotency key. A
// synchronous call joins an equal one of the same API key whose caller hung up before
// receiving the answer: it waits until that work ends, or gets the stored answer if it has
// ended, and is not charged. If the work fails, the call runs as a new one. A program that
// sets Join must report for each answer with ReportDelivery of its engine.Session whether it was received.
type JoinOptions struct {
	// MatchValues are further values that must be equal in equal calls, besides the user, the API key
	// and the request: for example the name of the caller's own user.
	MatchValues []string
	// Retry says that this call is a repetition. It then waits up to 2 seconds for the
	// first caller to hang up. If nobody does and exactly one equal call is open, it joins
	// that one.
	Retry bool
}

// Reference is an image that a caller hands in: PNG, JPEG or WebP, of at most
// MaxReferenceBytes and MaxReferencePixels. Optional: [Discarder] and [Namer].
type Reference interface {
	// Open returns the bytes from the start. It can be called repeatedly and concurrently.
	// The caller closes what it returns.
	Open(ctx context.Context) (io.ReadCloser, error)
}

// Counted stands for a file in a request for a price, which opens none: the mask, or a reference image.
type Counted struct{}

// Open returns ErrNotFound.
func (Counted) Open(context.Context) (io.ReadCloser, error) { return nil, ErrNotFound }

// Discarder is an optional part of a [Reference]. Those that an engine.Session stages have it.
type Discarder interface {
	// Discard removes the stored file, unless a Generate has taken it over. It can be called repeatedly.
	Discard()
}

// Namer is an optional part of a [Reference], which an *os.File has too.
type Namer interface {
	// Name returns a path, or "". Package client sends the base of it, by which messages call the file.
	Name() string
}

// Discard calls [Discarder.Discard] of references that have it. It ignores nil and other references.
func Discard(references ...Reference) {
	for _, r := range references {
		if u, ok := r.(Discarder); ok {
			u.Discard()
		}
	}
}

// Limits on a request, from the specification (section 8).
const (
	// MaxReferenceBytes is the maximum size of a reference image's file.
	MaxReferenceBytes = 50 << 20
	// MaxReferencePixels is the maximum number of pixels of a reference image.
	MaxReferencePixels = 100_000_000
	// MaxPromptRunes is the maximum length of a prompt, in code points, for any model.
	MaxPromptRunes = 32_000
	// MaxImages is the maximum number of images that one request can ask for.
	MaxImages = 4
	// MaxReferences is the maximum number of reference images in one request.
	MaxReferences = 16
)

// Result is the answer to Generate.
type Result struct {
	Generation
	Balance  *Balance // after the settlement of this generation; nil unless Status is StatusSucceeded
	Replayed bool     // the answer is that of an earlier call, by the idempotency key or by Join
}

// Status is how far a generation has come, as a user sees it.
type Status string

// The statuses. A status only moves forward: queued, processing, then succeeded or failed for good.
const (
	StatusQueued     Status = "queued"
	StatusProcessing Status = "processing"
	StatusSucceeded  Status = "succeeded"
	StatusFailed     Status = "failed"
)

// Statuses lists every status.
func Statuses() []Status {
	return []Status{StatusQueued, StatusProcessing, StatusSucceeded, StatusFailed}
}

// Terminal reports whether s is final: StatusSucceeded or StatusFailed.
func (s Status) Terminal() bool { return s == StatusSucceeded || s == StatusFailed }

// Generation is what a user sees of one generation.
type Generation struct {
	ID               GenerationID
	Status           Status
	Model            string
	Prompt           string
	N                int
	Size             Size    // as asked for
	Quality          Quality // as asked for
	ReferenceCount   int     // without the mask
	Masked           bool    // the request had a mask
	Ratio            Ratio
	Tier             Tier
	Effort           Quality // that is asked of the provider: Quality, or less where the model caps it
	Options          Options
	CreatedAt        time.Time
	CompletedAt      time.Time // zero until Status is terminal
	Images           []Image   // with StatusProcessing: those that are already certain to stay
	Credits          Credits   // what the images cost; 0 unless Status is StatusSucceeded
	CreditsRequested Credits   // the price of all images that were asked for
	Failure          *Error    // only with StatusFailed
	Favourite        bool      // its owner marked it; always false from package client
	// Usage is what the upstream reported that the generation has used, once Status is terminal; nothing from package
	// client.
	Usage UpstreamUsage
}

// Image is one stored image of a generation.
type Image struct {
	ID            ImageID
	URL           string // absolute, from package client; "" in process, where Service.OpenImage opens it
	CreatedAt     time.Time
	Width, Height int
	MediaType     string // image/png, image/jpeg or image/webp
	Provenance    Provenance
}

// Provenance says what became of what the maker of an image wrote into the file about its origin. "": the image was
// stored before this was noted.
type Provenance string

// The provenances.
const (
	// ProvenanceKept: the file is stored as it came, and has a C2PA manifest or an XMP packet with a DigitalSourceType.
	ProvenanceKept Provenance = "kept"
	// ProvenanceRewritten: the file was cropped, scaled, converted or stripped. What its maker wrote is gone, and an
	// XMP packet says that a model made the picture.
	ProvenanceRewritten Provenance = "rewritten"
	// ProvenanceNone: the file is stored as it came, and says nothing of its origin in either of these ways.
	ProvenanceNone Provenance = "none"
)

// ImageFile is an open image. The caller closes it.
type ImageFile struct {
	io.ReadSeekCloser
	ID        ImageID
	MediaType string
	Size      int64
	ETag      string // hexadecimal SHA-256 of the bytes, unquoted
	CreatedAt time.Time
}

// ModelInfo describes a model to callers.
type ModelInfo struct {
	ID                string
	Provider          string           // its Name
	Credits           map[Tier]Credits // the price of one image, without what references add, at the first of Efforts
	Tiers             []Tier           // lowest first
	Ratios            []Ratio          // RatioAuto first
	MaxReferences     int
	MaxImages         int
	MaxPrompt         int // code points
	MaxReferenceBytes int64
	Aliases           []string // other names that some interfaces accept, see engine.Model; none from package client

	// Efforts are the qualities that a request with an explicit size can ask for, by tier; if no such request leads to
	// the tier, those that lead to it. QualityAuto comes first if it does.
	Efforts map[Tier][]Quality
	// Prices are the lines that can fit the user, if the price depends on more than the tier: the first that fits
	// decides. ReferenceCredits are added for each reference image, unless the line has its own.
	Prices           []Price
	ReferenceCredits Credits
	// PriceVaries says that the price is computed for each request: then Credits are those of one that leaves
	// everything open, and Quote has the price of another.
	PriceVaries bool

	Formats     []Format     // the possible values of Options.Format
	Backgrounds []Background // the possible values of Options.Background
	Mask        bool         // it takes a mask
	MaxSeed     int64        // the highest seed of an image; 0: it takes none
}

// Query selects from a user's generations. The zero value selects the newest DefaultPageSize.
type Query struct {
	Limit  int          // 1 to MaxPageSize; 0: DefaultPageSize
	After  GenerationID // only generations older than this one; "": from the newest
	Status Status       // "": all

	// Favourites selects only the user's favourites. In process only: package client refuses it.
	Favourites bool
}

// Sizes of a page of generations or users.
const (
	DefaultPageSize = 20
	MaxPageSize     = 100
)

// Page is one page of generations, newest first.
type Page struct {
	Generations []Generation
	Next        GenerationID // the After of the next page; "": this is the last
}

// MaxAwait is the maximum time for which Service.Await waits.
const MaxAwait = time.Minute

// Quote says how a request would be carried out, and what it would cost.
type Quote struct {
	Model  string
	Ratio  Ratio
	Tier   Tier
	Effort Quality // that would be asked of the provider
	N      int
	Price  Credits // of one image, references included
	// ReferenceCredits is the part of Price for each reference image; 0 if it is not known.
	ReferenceCredits Credits
	Credits          Credits // the price of all N images
	Balance          Balance // the user's current balance
}

// ValidIdempotencyKey reports whether s is 1 to 255 visible ASCII characters.
func ValidIdempotencyKey(s string) bool {
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	return s != "" && len(s) <= 255 && !strings.ContainsFunc(s, invisible)
}
