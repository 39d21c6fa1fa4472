package imagegen

import (
	"context"
	"io"
	"iter"
	"time"
)

// Provider turns a prompt into images. It sees neither users nor credits.
//
// It is safe for concurrent use. It declares what it can do as [Capabilities]; the engine
// refuses everything else before the charge, so a provider never has to adapt a request.
// Package provider helps to write one; package providertest has the test suite that every
// provider should pass.
//
// Optional: [Checker], [ConcurrencyLimiter], [HealthReporter] and provider.Prober.
type Provider interface {
	// Name is the upstream's name, shown to callers. It never changes.
	Name() string

	// Capabilities must not change while the provider is in use.
	Capabilities() Capabilities

	// Generate makes r.N images and yields them one by one, as they come. It does nothing
	// until it is ranged over, which happens once. It may yield fewer images without an
	// error; the engine stops after r.N.
	//
	// An error is the last thing that is yielded; the images before it count. It should be
	// a [*ProviderError]; any other error counts as ClassUnknown. Generate stops when
	// yield returns false or ctx ends. It then cancels upstream work where it can, and
	// releases everything it holds before it returns. It does not cancel work whose job it
	// has saved if the cause of ctx is [ErrStopping] or [ErrStale]: another attempt will
	// continue that work, or already does.
	Generate(ctx context.Context, r ProviderRequest) iter.Seq2[ProviderImage, error]
}

// Checker is an optional part of a [Provider]: it refuses what its Capabilities cannot express, such as
// certain words in a prompt.
type Checker interface {
	// Check returns nil, or a [*ProviderError] of ClassInvalid whose Message tells the user what to
	// change. It is called before the charge, for requests that the Capabilities allow. It must be a
	// pure function of the fields of r up to Options, of len(r.References), and of whether there is a mask.
	Check(r ProviderRequest) error
}

// ConcurrencyLimiter is an optional part of a [Provider]: it knows how many requests it can work on at once.
type ConcurrencyLimiter interface {
	// MaxConcurrent returns that number; 0: it is not known. It never changes. The engine starts no
	// more attempts unless Model.MaxConcurrent is set, so that waiting requests hold no slot.
	MaxConcurrent() int
}

// HealthReporter is an optional part of a [Provider] that shares requests among several others, its members.
type HealthReporter interface {
	// Health returns the state of each member. It must be cheap, and must not call an upstream.
	Health() []MemberHealth
}

// Verification says how the engine checks that an image of a provider is complete.
type Verification string

// The verifications. An image that has to be cropped or scaled is decoded in any case.
const (
	// VerifyStructure parses the structure of the file to its end and checks every checksum
	// outside the compressed data, while the image is being stored.
	VerifyStructure Verification = "structure"
	// VerifyDecode also decodes every pixel, which takes about 45 ms of processor time for
	// each megapixel. It is for upstreams that are not trusted.
	VerifyDecode Verification = "decode"
)

// Metadata says what becomes of what a provider wrote into an image beside the pixels.
type Metadata string

// The two ways.
const (
	// MetadataKeep stores the file as it came, with its texts, EXIF, XMP and C2PA manifest.
	MetadataKeep Metadata = "keep"
	// MetadataStrip removes all of these, without encoding the pixels anew. The ICC profile stays, and an XMP packet
	// says that a model made the picture. It is for upstreams that write prompts or workflows into their images.
	MetadataStrip Metadata = "strip"
)

// Metadatas lists both ways.
func Metadatas() []Metadata { return []Metadata{MetadataKeep, MetadataStrip} }

// Verifications lists every verification.
func Verifications() []Verification { return []Verification{VerifyStructure, VerifyDecode} }

// ProviderRequest is one attempt at a generation.
type ProviderRequest struct {
	// Key is an opaque string, the same for every attempt at one generation. A provider
	// can use it as an upstream's idempotency key.
	Key string

	Prompt string
	N      int
	// zero: auto. Else make it at least this large, in this shape or Ratio's; the engine crops and scales down
	Size    Size
	Ratio   Ratio   // RatioAuto: the provider chooses
	Tier    Tier    // an image of a lower tier counts as not delivered
	Quality Quality // the effort: what the user asked for, capped by Model.MaxEffort

	// Options are within what the Capabilities allow. If the request asks for PNG, JPEG or an
	// opaque image, the engine converts an image that is not. Background is never
	// BackgroundAuto; "" takes its place.
	Options Options

	References []ProviderReference

	// Mask is a PNG with an alpha channel and the same size in pixels as the first
	// reference. The provider redraws what is transparent in it and keeps the rest. Nil: no
	// mask.
	Mask *ProviderReference

	// EndUser stands for the user who asked, for an upstream that wants to tell its customer's users apart: 32
	// hexadecimal digits, always the same for one user, from which nobody can tell who it is. "": say nothing.
	EndUser string

	// Job is what an earlier attempt saved with SaveJob: continue that upstream work and
	// do not submit it again. Nil: start from the beginning.
	Job []byte

	// SaveJob stores a handle of upstream work for a later attempt, and returns when it is
	// durable. Call it after each submission and before the first poll; call it with nil
	// to forget the work. If it fails, stop and return its error. The engine always sets it.
	// It is safe for concurrent use; calls take effect in their order. For synchronous
	// work, which has no later attempt, it does nothing.
	SaveJob func(ctx context.Context, job []byte) error

	// Used tells the engine what the upstream says that this attempt has used. A provider calls it when an answer says
	// so: before it yields the images of that answer, or later, until Generate returns, if that stands behind them.
	// No field is negative; several calls add up. What an upstream says about work that brought no image counts too.
	// An attempt that continues a Job says again what the work of that job has used. Safe for concurrent use. May be
	// nil.
	Used func(UpstreamUsage)

	// MemberDone is for a Provider that has others (members) make the images. It calls MemberDone each
	// time a member has finished, with the time that took, the number of images, and the
	// error; if the member's context ended, the error is its cause. Safe for concurrent use.
	// May be nil.
	MemberDone func(member string, took time.Duration, images int, err error)
}

// ProviderReference is a checked reference image. If the Capabilities have no Orientation, its pixels are stored
// upright. Those of a mask always are.
type ProviderReference struct {
	Reference
	MediaType     string // image/png, image/jpeg or image/webp
	Size          int64  // bytes
	Width, Height int    // as it is displayed
}

// ProviderImage is one image as the upstream made it: PNG, JPEG or WebP. An animated WebP, and a file
// whose size in pixels does not come within its first MiB, count as not delivered.
type ProviderImage struct {
	// Body is the file. The engine is done with it when yield returns, and never closes it:
	// the provider closes what has to be closed after that.
	Body io.Reader
}

// Class says what a provider's error means for the generation. The zero value, ClassUnknown, is
// the safest one.
type Class uint8

// The classes. Only after a transient error is there another attempt, and only if the
// generation is asynchronous.
const (
	ClassUnknown     Class = iota // the upstream may have made images and charged for them
	ClassInvalid                  // the upstream will never accept this request
	ClassRefused                  // moderation refused the request; the caller learns that
	ClassRateLimited              // transient: nothing was made; the next attempt waits for RetryAfter
	ClassUnavailable              // transient: nothing was made
	// nothing can be made until an operator acts: a bad key, an empty account, a retired model
	ClassBlocked
	ClassCancelled // the owner cancelled the waiting generation; a provider never returns it
	ClassStorage   // images were made and this service could not store them; a provider never returns it
)

// RequestAtFault reports whether the request is at fault: ClassInvalid or ClassRefused.
func (c Class) RequestAtFault() bool { return c == ClassInvalid || c == ClassRefused }

// Transient reports whether another attempt is safe and may succeed.
func (c Class) Transient() bool { return c == ClassRateLimited || c == ClassUnavailable }

// AllowsFailover reports whether another upstream may be asked instead: this one has certainly made
// nothing, and the request is not at fault.
func (c Class) AllowsFailover() bool { return c.Transient() || c == ClassBlocked }

// String returns the name of the class in words, such as "rate limited".
func (c Class) String() string {
	names := [...]string{"unknown", "invalid", "refused", "rate limited", "unavailable", "blocked", "cancelled",
		"storage"}
	if int(c) < len(names) {
		return names[c]
	}
	return "unknown"
}

// ProviderError is the error of a Provider.
type ProviderError struct {
	Class   Class
	Message string // from Check: shown to the caller; otherwise for the log
	Field   string // from Check: the field of the request at fault, as in Error.Field
	// how long the upstream said to wait; 0: it did not say. For a transient class, or with Overloaded
	RetryAfter time.Duration
	Err        error // the cause, for the log; never shown to a caller

	// Overloaded says that the upstream had too much to do: the engine then runs fewer attempts
	// at once for a while. ClassRateLimited implies it.
	Overloaded bool
}

func (e *ProviderError) Error() string {
	s := "provider: " + e.Class.String()
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *ProviderError) Unwrap() error { return e.Err }

// MemberHealth is the current state of one of several providers behind a model.
type MemberHealth struct {
	Name    string
	Healthy bool
	Detail  string // if not healthy: why it gets no requests at present, for an operator
}
