package imagegen

import (
	"context"
	"io"
	"strings"
	"time"
)

// Service is what one user can do, and exactly what the HTTP interface offers. In
// process, Engine.As and Engine.Authenticate return the Service of a user; over HTTP,
// package client returns that of an API key.
//
// A Service is safe for concurrent use. Every error of its methods is an [*Error], or the
// error of the caller's context if that ended first.
type Service interface {
	// Models lists the models that a request can name, in the order of the configuration.
	Models(ctx context.Context) ([]ModelInfo, error)

	// Balance reports the user's credits.
	Balance(ctx context.Context) (Balance, error)

	// Generate charges the user, has the provider make the images and stores them.
	//
	// It returns when the images are stored or, with Async, as soon as the work is durably
	// queued. If fewer images come than were asked for, that is a success that costs only
	// those that came. If none come, the error is [ErrGenerationFailed] and nothing is
	// charged.
	//
	// Before the charge it can fail with ErrInvalidRequest, ErrInsufficientCredits,
	// ErrRateLimited or ErrOverloaded; with an idempotency key also with
	// ErrIdempotencyKeyReused, ErrIdempotencyKeyInUse or, if the generation under the key
	// was erased, ErrNotFound. After ErrInternal the outcome may be unknown: repeat the
	// call with the same idempotency key to learn it.
	//
	// If ctx ends before the charge, nothing happens. If it ends after the charge, the
	// work goes on; the result can be read by its idempotency key, or found with
	// Generations.
	Generate(ctx context.Context, r GenerateRequest) (Result, error)

	// Quote checks and prices a request as Generate does, but neither charges nor stores
	// anything. The caller compares the price with the balance. References are only
	// counted: they are not opened, not taken over, and can be nil. ErrInvalidRequest.
	Quote(ctx context.Context, r GenerateRequest) (Quote, error)

	// Generation returns one of the user's generations. An identifier that does not exist,
	// is malformed or belongs to somebody else is the same ErrNotFound.
	Generation(ctx context.Context, id GenerationID) (Generation, error)

	// Await returns the generation as soon as it has ended, or as it is after most,
	// whichever comes first. It waits at most MaxAwait. It returns earlier when the
	// service stops, or when the caller already has as many calls waiting as is allowed.
	// So look at the Status, and call again if it is not terminal.
	Await(ctx context.Context, id GenerationID, most time.Duration) (Generation, error)

	// Cancel ends one of the user's generations that still waits, and returns it: failed
	// with CodeCancelled, and all its credits are back. If an earlier attempt has already
	// shown images, it succeeds with those instead. A generation that was cancelled before
	// is returned unchanged.
	//
	// ErrNotCancellable: it has ended otherwise, or an upstream is working on it.
	// ErrNotFound as for Generation. If an attempt begins at the same moment, exactly one
	// of the two wins.
	Cancel(ctx context.Context, id GenerationID) (Generation, error)

	// Generations lists the user's generations, newest first.
	Generations(ctx context.Context, q Query) (Page, error)

	// Usage sums up what the user was charged, by day, model and key as q says. The sums
	// equal those of the ledger. ErrInvalidRequest: see UsageQuery.Days and
	// UsageQuery.Sum. ErrNotFound: the ledger keeps no sums.
	Usage(ctx context.Context, q UsageQuery) (UsageReport, error)

	// OpenImage opens a stored image. The caller closes it. Whoever knows the identifier
	// may open the image: ownership is not checked. ErrNotFound if there is no such image.
	OpenImage(ctx context.Context, id ImageID) (*ImageFile, error)
}

// GenerateRequest is a request for images. Model and Prompt are required.
type GenerateRequest struct {
	Model      string
	Prompt     string      // not blank; at most the model's MaxPrompt code points of valid UTF-8
	Size       Size        // zero: auto. An explicit size is delivered exactly, or refused
	Quality    Quality     // "": QualityAuto
	N          int         // number of images; 0: 1. At most the model's MaxImages
	Async      bool        // return as soon as the work is queued
	References []Reference // at most the model's MaxReferences; taken over by Generate, whatever it answers

	// Mask is a PNG with an alpha channel, of at most MaxMaskBytes and the same size in
	// pixels as the first reference. The model draws anew where the mask is transparent
	// and keeps the rest. Nil: no mask. Generate takes it over as it does the references.
	Mask Reference

	Options Options

	// IdempotencyKey makes it safe to repeat the call: 1 to 255 visible ASCII characters.
	// Until 24 hours after the end of the generation, the same request with the same key
	// gets the first answer and is not charged again. "": none.
	IdempotencyKey string

	// Shown is called each time that more images of the generation can be seen before it
	// ends, with the images of earlier calls first. Generate calls it on its own goroutine
	// and continues when it returns. nil: nobody is told. It has no effect with Async, nor
	// in package client.
	Shown func(Generation)

	// Joining lets an equal call join this one after its caller hung up; nil: no call can
	// join. It has no effect with Async or an IdempotencyKey, nor in package client: a
	// server decides itself which calls join.
	Joining *Joining
}

// Joining is for clients that repeat a call on their own, without an idempotency key. A
// synchronous call joins an equal one of the same API key whose caller hung up before
// receiving the answer: it waits for the work while that runs, gets the stored answer
// afterwards, and is not charged. A server that sets it must report each answer with
// Session.Answered.
type Joining struct {
	// Also are further values that equal calls must agree in, beyond what is generated:
	// for example the caller's own name for a user.
	Also []string
	// Retry says that this call is a repetition. It then waits up to 2 seconds for the
	// first caller to hang up. If nobody does and exactly one equal call is open, it joins
	// that one.
	Retry bool
}

// Reference is an image that a caller hands in: PNG, JPEG or WebP, of at most
// MaxReferenceBytes and MaxReferencePixels.
type Reference interface {
	// Open returns the bytes from the start. It can be called repeatedly and concurrently.
	// The caller closes what it returns.
	Open(ctx context.Context) (io.ReadCloser, error)
}

// Discard removes what a service has already stored of references, as Session.Stage does,
// unless a Generate has taken them over. It can be called repeatedly, and ignores nil and
// references of other kinds.
func Discard(references ...Reference) {
	for _, r := range references {
		if u, ok := r.(interface{ Discard() }); ok {
			u.Discard()
		}
	}
}

// Limits on a request, from section 8 of the specification.
const (
	// MaxReferenceBytes is the largest file of a reference image.
	MaxReferenceBytes = 50 << 20
	// MaxReferencePixels is the most pixels of a reference image.
	MaxReferencePixels = 100_000_000
	// MaxPromptRunes is the longest prompt, in code points, that any model takes.
	MaxPromptRunes = 32_000
	// MaxImages is the most images that one request can ask for.
	MaxImages = 4
	// MaxReferences is the most reference images that one request can bring.
	MaxReferences = 16
)

// Result is the answer to Generate.
type Result struct {
	Generation
	Balance  *Balance // as of this generation's own settlement; nil unless Status is StatusSucceeded
	Replayed bool     // answered from what was kept under the idempotency key, or of a call that was joined
}

// Status is how far a generation has come, as a user sees it.
type Status string

// A status moves forward only: queued, processing, then one of the other two for good.
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

// Terminal reports whether s never changes again.
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
	Masked           bool    // it came with a mask
	Ratio            Ratio
	Tier             Tier
	Options          Options
	CreatedAt        time.Time
	CompletedAt      time.Time // zero until Status is terminal
	Images           []Image   // all that may be shown: with StatusProcessing those that are there for good already
	Credits          Credits   // charged: the images' price. 0 until succeeded, and when failed
	CreditsRequested Credits   // the price of all that was asked for
	Failure          *Error    // why; only when failed
	Favourite        bool      // its owner's; in process only, always false from package client
}

// Image is one stored image of a generation.
type Image struct {
	ID            ImageID
	URL           string // absolute, from a Service that is reached over HTTP; in process "", see OpenImage
	CreatedAt     time.Time
	Width, Height int
	MediaType     string // image/png, image/jpeg or image/webp
}

// ImageFile is an open image. The caller closes it.
type ImageFile struct {
	io.ReadSeekCloser
	ID        ImageID
	MediaType string
	Size      int64
	ETag      string // hexadecimal SHA-256 of the bytes, unquoted
	CreatedAt time.Time
}

// ModelInfo is what a caller can know about a model.
type ModelInfo struct {
	ID                string
	Provider          string
	Credits           map[Tier]Credits // per image
	Tiers             []Tier           // lowest first
	Ratios            []Ratio          // RatioAuto first
	MaxReferences     int
	MaxImages         int
	MaxPrompt         int // code points
	MaxReferenceBytes int64
	Aliases           []string // other names, for interfaces that take them; none from package client

	Formats     []Format     // that Options.Format can be
	Backgrounds []Background // that Options.Background can be
	Mask        bool         // it takes a mask
	MaxSeed     int64        // the highest Options.Seed; 0: it takes none
}

// Query selects from a user's generations. The zero value is the newest DefaultPageSize.
type Query struct {
	Limit  int          // 1 to MaxPageSize; 0: DefaultPageSize
	After  GenerationID // continue behind this one; "": from the newest
	Status Status       // "": all

	// Favourites leaves out all but the user's favourites. In process only: package client refuses it.
	Favourites bool
}

// Sizes of a page of generations.
const (
	DefaultPageSize = 20
	MaxPageSize     = 100
)

// Page is one page of generations, newest first.
type Page struct {
	Generations []Generation
	Next        GenerationID // the After of the next page; "": this is the last
}

// MaxAwait is the longest wait for the end of a generation.
const MaxAwait = time.Minute

// Quote is what a request would be made as, and cost.
type Quote struct {
	Model   string
	Ratio   Ratio
	Tier    Tier
	N       int
	Price   Credits // per image
	Credits Credits // of all images that are asked for
	Balance Balance // of the user, from which nothing was taken
}

// ValidIdempotencyKey reports whether s is 1 to 255 visible ASCII characters.
func ValidIdempotencyKey(s string) bool {
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	return s != "" && len(s) <= 255 && !strings.ContainsFunc(s, invisible)
}
