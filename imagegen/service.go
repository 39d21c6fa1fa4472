package imagegen

import (
	"context"
	"io"
	"strings"
	"time"
)

// Service is what one user can do, and exactly what the HTTP interface offers: Engine.As and
// Engine.Authenticate bind it to a user in process, package client binds it to an API key.
//
// A Service is safe for concurrent use. Every error of its methods is an [*Error] or, when the
// caller's context ended first, that context's error.
type Service interface {
	// Models lists the models on offer, in the order of the configuration.
	Models(ctx context.Context) ([]ModelInfo, error)

	// Balance reports the user's credits.
	Balance(ctx context.Context) (Balance, error)

	// Generate charges the user, has the images made and stores them.
	//
	// It returns when they are there or, with Async, as soon as the work is durably queued. Fewer
	// images than asked for is a success that costs only what came; none at all is
	// [ErrGenerationFailed] and costs nothing.
	//
	// Before any charge it can fail with ErrInvalidRequest, ErrInsufficientCredits, ErrRateLimited, ErrOverloaded
	// and, where an idempotency key is given, ErrIdempotencyKeyReused, ErrIdempotencyKeyInUse and, if
	// the generation under the key has been erased, ErrNotFound. After ErrInternal the outcome may be
	// unknown: the same call with the same idempotency key tells. When ctx ends before the charge nothing happens; after it, the work goes on and the
	// answer can be had by the idempotency key, or from Generations.
	Generate(ctx context.Context, r GenerateRequest) (Result, error)

	// Quote checks and prices a request as Generate does, and neither charges nor keeps anything. Whether the
	// balance pays for it, the caller sees. References are counted; they are neither opened nor taken over, and
	// can be nil. ErrInvalidRequest.
	Quote(ctx context.Context, r GenerateRequest) (Quote, error)

	// Generation returns one of the user's generations. What does not exist, is malformed or
	// belongs to somebody else is the same ErrNotFound.
	Generation(ctx context.Context, id GenerationID) (Generation, error)

	// Await is Generation as soon as the generation has ended, whoever ends it, or as it is when most has
	// passed. It waits no longer than MaxAwait, and answers sooner where the service stops or as many calls
	// wait as may: who wants the end looks at the Status, and asks again.
	Await(ctx context.Context, id GenerationID, most time.Duration) (Generation, error)

	// Cancel ends one of the user's generations that still waits, and returns it: it has failed with CodeCancelled, and
	// all its credits are back. Where an earlier attempt has shown images, it has succeeded with those. One that was
	// cancelled before is returned as it is. ErrNotCancellable: it has ended otherwise, or an upstream works on it.
	// ErrNotFound as for Generation. Against whoever begins with the work at the same time one of the two wins.
	Cancel(ctx context.Context, id GenerationID) (Generation, error)

	// Generations lists the user's generations, newest first.
	Generations(ctx context.Context, q Query) (Page, error)

	// Usage tells what the user was charged, by day, model and key as q says. Its sums are those of the
	// ledger. ErrInvalidRequest: see UsageQuery.Days and UsageQuery.Sum. ErrNotFound: the ledger sums
	// nothing up.
	Usage(ctx context.Context, q UsageQuery) (UsageReport, error)

	// OpenImage opens a stored image; the caller closes it. The identifier is the capability: no
	// ownership is checked. ErrNotFound if there is no such image.
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

	// Mask is a PNG with an alpha channel, of at most MaxMaskBytes and as large as the first reference: what it leaves
	// transparent is made anew, the rest stays. Nil: none. It is taken over as the references are.
	Mask Reference

	Options Options

	// IdempotencyKey makes a repetition safe: 1 to 255 visible ASCII characters. For 24 hours after
	// the end of the generation, the same request with the same key is answered as the first one
	// was and charged no second time. "": none.
	IdempotencyKey string

	// Shown is told of the generation each time that more of its images may be shown before it has ended. Generate calls
	// it itself, and goes on when it returns; the images that it was told of before come first. nil: nobody is told. Of no
	// effect with Async, and in package client.
	Shown func(Generation)

	// Joining lets an equal call join this one if its caller hangs up; nil: none may. Of no effect with Async or
	// an IdempotencyKey, and in package client: a server decides by itself which calls join.
	Joining *Joining
}

// Joining lets a synchronous call without an idempotency key join an equal one of the same API key whose
// caller hung up before it had the answer: while the work goes on it waits for it, later it is given the
// answer, and nothing is charged. For clients that repeat a call of their own accord. Who sets it reports
// each answer with Session.Answered.
type Joining struct {
	// Also holds what equal calls agree in beyond what is generated, such as the caller's name for a user.
	Also []string
	// Retry says that the call is a repetition. Then it waits a moment for the first caller to hang up, and
	// joins the call of one who seems to be there still, if there is just one such call.
	Retry bool
}

// Reference is an image that a caller hands in: PNG, JPEG or WebP, at most MaxReferenceBytes, at
// most MaxReferencePixels.
type Reference interface {
	// Open returns the bytes from the start. It may be called again, also concurrently; who opens closes.
	Open(ctx context.Context) (io.ReadCloser, error)
}

// Discard removes what a service has taken in of references already, as Session.Stage does, unless a Generate has taken
// it over. It may be called again; other references, and nil, are passed over.
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

// ModelInfo is what a caller can know of a model.
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
