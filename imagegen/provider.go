package imagegen

import (
	"context"
	"io"
	"iter"
	"time"
)

// Provider turns a prompt into images. It sees neither users nor credits.
//
// It is safe for concurrent use. What it cannot do it declares, so that it is refused before
// anything is charged; it never bends a request. Package provider helps to write one, package
// providertest holds the suite that every one passes.
//
// Three more methods are asked for one by one, of a provider that has them:
//
//	// Check refuses what Capabilities cannot express, such as words in a prompt. It returns nil, or a *ProviderError of
//	// ClassInvalid whose Message tells the user what to change. It is a pure function of r's fields up to Options,
//	// len(r.References) and whether there is a mask, and is called before the charge, of requests that the
//	// Capabilities allow.
//	Check(r ProviderRequest) error
//
//	// MaxConcurrent is how many requests it works at at once, while others wait; 0: any number. It never changes. Unless
//	// Model.MaxConcurrent says otherwise the engine begins no more, so that who waits holds no slot.
//	MaxConcurrent() int
//
//	// Health tells how the providers do among which it shares requests. It is cheap and asks no upstream.
//	Health() []MemberHealth
type Provider interface {
	// Name is the upstream's name, shown to callers. It never changes.
	Name() string

	// Capabilities never change while the provider is in use.
	Capabilities() Capabilities

	// Generate makes r.N images and yields them one by one, as they come. It does nothing until it
	// is ranged over, which happens once. Fewer images are an ordinary outcome; more are dropped.
	//
	// An error is the last thing yielded; the images before it count. It should be a
	// [*ProviderError]; any other counts as ClassUnknown. Generate stops when yield returns false or
	// ctx ends, cancels upstream work where it can, and releases all that it holds before it returns.
	// Work whose job was saved is not cancelled when the cause of ctx is [ErrStopping] or [ErrStale]:
	// another attempt will continue it, or already does.
	Generate(ctx context.Context, r ProviderRequest) iter.Seq2[ProviderImage, error]
}

// Verification is how an image of a provider is found whole.
type Verification string

// The verifications. An image that has to be cropped or scaled is decoded in any case.
const (
	// VerifyStructure: its structure runs to its end, and every checksum outside the compressed data is right.
	// It is done while the image goes into the store.
	VerifyStructure Verification = "structure"
	// VerifyDecode: every pixel is decoded as well, which takes some 45 ms of a processor for a megapixel:
	// for upstreams that are not trusted.
	VerifyDecode Verification = "decode"
)

// Verifications lists every verification.
func Verifications() []Verification { return []Verification{VerifyStructure, VerifyDecode} }

// ProviderRequest is one attempt at a generation.
type ProviderRequest struct {
	// Key is opaque and the same for every attempt at one generation: fit for an upstream's
	// idempotency key.
	Key string

	Prompt  string
	N       int
	Size    Size    // zero: auto. Else make at least this large, of this shape or Ratio's: the engine crops and scales down
	Ratio   Ratio   // RatioAuto: the provider chooses
	Tier    Tier    // an image of a lower tier counts as not delivered
	Quality Quality // the effort

	// Options are such as the Capabilities allow. An image may come in another format than PNG or JPEG where one of
	// these is asked for, and opaque or not where opaque is: the engine sees to both. Background is never auto.
	Options Options

	References []ProviderReference

	// Mask is a PNG with an alpha channel, as large as the first reference: what it leaves transparent is to be made
	// anew, the rest to stay. Nil: there is none.
	Mask *ProviderReference

	// Job is what an earlier attempt saved: continue that upstream work, do not submit it again.
	// Nil: start afresh.
	Job []byte

	// SaveJob keeps a handle of upstream work for a later attempt, and returns when it is durable.
	// Call it after each submission and before the first poll; with nil to forget. When it fails,
	// stop and return its error. It is never nil and safe for concurrent use; calls take effect in
	// their order. Work that will not be tried again ignores it.
	SaveJob func(ctx context.Context, job []byte) error

	// Asked is told by a Provider that has others make the images, each time one of them has ended: how long
	// that took, how many images it made, and its error, which is the cause of a context that ended. nil:
	// nobody wants to know. Safe for concurrent use.
	Asked func(member string, took time.Duration, images int, err error)
}

// ProviderReference is a reference image, checked.
type ProviderReference struct {
	Reference
	MediaType     string // image/png, image/jpeg or image/webp
	Size          int64  // bytes
	Width, Height int
}

// ProviderImage is one image as the upstream made it: PNG, JPEG or WebP.
type ProviderImage struct {
	// Body is read to its end, or dropped, before the next image is asked for. It is never closed:
	// what must be closed is the provider's to close when yield returns.
	Body io.Reader
}

// Class says what a provider's error means for the generation. The zero value is the safest.
type Class uint8

// The classes. A transient one is tried again when the generation is asynchronous.
const (
	ClassUnknown     Class = iota // it may have happened, it may have cost: never tried again
	ClassInvalid                  // the upstream will never take this request: not tried again
	ClassRefused                  // moderation: not tried again, and the caller is told so
	ClassRateLimited              // transient: nothing was made; again after RetryAfter
	ClassUnavailable              // transient: nothing was made; again with backoff
	ClassUnusable                 // nothing was made, nor will be until an operator acts: a bad key, an empty account, a retired model. Not tried again
	ClassCancelled                // no provider's: the owner cancelled what waited
)

// Asked reports whether the fault is in what was asked for, and not in the upstream.
func (c Class) Asked() bool { return c == ClassInvalid || c == ClassRefused }

// Transient reports whether another attempt makes sense and is safe.
func (c Class) Transient() bool { return c == ClassRateLimited || c == ClassUnavailable }

// Elsewhere reports whether another upstream may be asked: this one certainly made nothing, and
// through no fault of the request.
func (c Class) Elsewhere() bool { return c.Transient() || c == ClassUnusable }

func (c Class) String() string {
	names := [...]string{"unknown", "invalid", "refused", "rate limited", "unavailable", "unusable", "cancelled"}
	if int(c) < len(names) {
		return names[c]
	}
	return "unknown"
}

// ProviderError is an error with a class.
type ProviderError struct {
	Class      Class
	Message    string        // of Check: shown to the caller. Otherwise for the log
	Field      string        // of Check: the field of the request that is to blame, as Error.Field has it
	RetryAfter time.Duration // of a transient class, or when Overloaded, if the upstream said so
	Err        error         // the cause, for the log; never shown

	// Overloaded: the upstream had too much to do, so that it is asked for less at once for a while. An
	// error of ClassRateLimited says that without.
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

// MemberHealth is how one of several providers behind a model does now.
type MemberHealth struct {
	Name    string
	Healthy bool
	Detail  string // why it is left alone, in words for an operator
}
