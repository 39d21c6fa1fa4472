package imagegen

import (
	"crypto/sha256"
	"strings"
	"time"
)

// Record is what a Store keeps of one generation.
type Record struct {
	Intent
	Progress
}

// Intent is what was asked for and what it costs. It never changes, except that Erase and
// Forget remove the prompt and the references.
type Intent struct {
	ID             GenerationID
	User           UserID
	KeyID          KeyID // the API key that asked; "": in process, or the console
	Model          string
	Prompt         string
	N              int
	Size           Size
	Quality        Quality // as asked for
	Effort         Quality // as handed to the provider: Quality, capped by the model
	Ratio          Ratio
	Tier           Tier
	Price          Credits // per image, fixed at acceptance; N × Price is a valid amount
	Options        Options
	Async          bool
	References     []ReferenceFile // a mask among them, at the end
	IdempotencyKey string
	Fingerprint    [32]byte // of the request, see Record.Reserves
	JoinKey        [32]byte // equal for calls that may join each other, see Joining; zero: it is joined by none
	CreatedAt      time.Time
}

// ReferenceFile is a checked reference image in the spool, or a mask.
type ReferenceFile struct {
	ID            ReferenceID
	Mask          bool
	Image         ImageID // the user's stored image that it copies; "": the caller sent it
	MediaType     string
	Size          int64
	Width, Height int
	SHA256        [32]byte
}

// Progress is how far a generation has come.
type Progress struct {
	State       State
	Attempt     int           // the fence: rises at each claim and each recovery
	Failures    int           // tries used up; resumed and drained work uses none
	Resumptions int           // of a saved job, by processes that took it up from one that died
	Delay       time.Duration // of a queued record: not due before the store's now + Delay
	Job         []byte        // the provider's handle of upstream work

	// JobUpstreams are the Model.Upstreams of the provider that saved Job. No other
	// provider resumes it.
	JobUpstreams []string

	Images      []StoredImage // before StateSettling those that were shown; from then on all
	Published   int           // how many images were paid for; stays when they are erased
	Failure     *Failure      // from StateSettling on, when there is no image
	CompletedAt time.Time     // from StateSettling on
	Balance     *Balance      // as told in the synchronous answer
	Undelivered bool          // nobody has received the synchronous answer: an equal call may join
	Favourite   bool          // of its owner's; with StateSucceeded only

	// Dispute says why the ledger finally refused the settlement; "": it did not, or the
	// dispute was resolved. The generation has ended nevertheless. An operator has to
	// close the charge, see Engine.Resolve.
	Dispute  string
	Refunded bool // an operator gave back what the images cost
}

// StoredImage is one image in the ImageStore.
type StoredImage struct {
	ID            ImageID
	Attempt       int
	MediaType     string
	Width, Height int
	Size          int64
	SHA256        [32]byte
	CreatedAt     time.Time
}

// MaxDetail is the most bytes that are kept of what a provider or a ledger said.
const MaxDetail = 4 << 10

// Failure says why there is no image. Detail is for operators only; [Outcome] keeps MaxDetail of it.
type Failure struct {
	Class  Class
	Detail string
}

// Cancelled reports whether the owner ended the generation while it waited.
func (r Record) Cancelled() bool { return r.Failure != nil && r.Failure.Class == ClassCancelled }

// Message returns what the owner of the generation is told.
func (f Failure) Message() string {
	switch f.Class {
	case ClassRefused:
		return messageRefused
	case ClassCancelled:
		return ErrCancelled.Message
	}
	return messageFailed
}

// code returns the error code for the owner.
func (f Failure) code() Code {
	if f.Class == ClassCancelled {
		return CodeCancelled
	}
	return CodeGenerationFailed
}

// Fence names one attempt at one generation. A write with the fence of an attempt that
// another has taken over changes nothing.
type Fence struct {
	ID      GenerationID
	Attempt int
}

// Fence names the record's current attempt.
func (r Record) Fence() Fence { return Fence{r.ID, r.Attempt} }

// Charge returns the charge for all images that were asked for.
func (r Record) Charge() Charge {
	return Charge{ID: ChargeID(r.ID), User: r.User, Credits: r.Price * Credits(r.N), Model: r.Model, Tier: r.Tier, N: r.N, Key: r.KeyID}
}

// Used is what the published images cost; 0 once an operator has refunded them.
func (r Record) Used() Credits {
	if r.Refunded {
		return 0
	}
	return r.Price * Credits(r.Published)
}

// WantsBalance reports whether the answer contains the balance, which Close then stores.
func (r Record) WantsBalance() bool { return !r.Async && r.Published > 0 }

// Cancellable reports whether the record waits, and no upstream works on it.
func (r Record) Cancellable() bool { return r.State == StateQueued && len(r.Job) == 0 }

// ImageKey names one of the record's images in the ImageStore.
func (r Record) ImageKey(i StoredImage) ImageKey { return ImageKey{r.ID, i.Attempt, i.ID} }

// ReservationTime is how long an idempotency key stays reserved after the end of its generation.
const ReservationTime = 24 * time.Hour

// Reserves reports whether the record holds its idempotency key at the given time.
func (r Record) Reserves(now time.Time) bool {
	switch {
	case r.IdempotencyKey == "" || r.State == StateGone:
		return false
	case r.Unsettled(): // CompletedAt may be set while it is settling, but it has not ended
		return true
	}
	return now.Before(r.CompletedAt.Add(ReservationTime))
}

// erasedKey precedes the hash that an erasure leaves of an idempotency key. No key that a
// caller can send begins with it.
const erasedKey = "\x00"

// IdempotencyHash returns the hash of an idempotency key. For what an erasure left of a key,
// it returns the hash of the original key. So a Store that looks records up by this hash
// finds them before and after an erasure.
func IdempotencyHash(key string) [sha256.Size]byte {
	if hash, erased := strings.CutPrefix(key, erasedKey); erased && len(hash) == sha256.Size {
		return [sha256.Size]byte([]byte(hash))
	}
	return sha256.Sum256([]byte(key))
}

// forget removes everything that tells what was asked for, or would confirm a guess. With
// reserved, the hash of the idempotency key stays, so that the key is still found.
func (i *Intent) forget(reserved bool) {
	i.Prompt, i.References, i.Fingerprint, i.JoinKey = "", nil, [32]byte{}, [32]byte{}
	switch {
	case !reserved:
		i.IdempotencyKey = ""
	case i.IdempotencyKey != "":
		hash := IdempotencyHash(i.IdempotencyKey)
		i.IdempotencyKey = erasedKey + string(hash[:])
	}
}

// Mask returns the mask; ok reports whether there is one.
func (r Record) Mask() (mask ReferenceFile, ok bool) {
	if n := len(r.References); n > 0 && r.References[n-1].Mask {
		return r.References[n-1], true
	}
	return ReferenceFile{}, false
}

// ReferenceImages are the references without the mask.
func (r Record) ReferenceImages() []ReferenceFile {
	if _, ok := r.Mask(); ok {
		return r.References[:len(r.References)-1]
	}
	return r.References
}

// Generation is what the owner sees of the record.
func (r Record) Generation() Generation {
	g := Generation{
		ID: r.ID, Status: r.Status(), Model: r.Model, Prompt: r.Prompt, N: r.N, Size: r.Size, Quality: r.Quality,
		ReferenceCount: len(r.ReferenceImages()), Ratio: r.Ratio, Tier: r.Tier, Options: r.Options.Clone(), CreatedAt: r.CreatedAt,
		CreditsRequested: r.Charge().Credits, Favourite: r.Favourite,
	}
	_, g.Masked = r.Mask()
	for _, i := range r.Images {
		g.Images = append(g.Images, Image{ID: i.ID, CreatedAt: i.CreatedAt, Width: i.Width, Height: i.Height, MediaType: i.MediaType})
	}
	if !g.Status.Terminal() {
		return g
	}
	g.CompletedAt, g.Credits = r.CompletedAt, r.Used()
	if r.Failure != nil {
		g.Failure = &Error{Code: r.Failure.code(), Message: r.Failure.Message(), Generation: r.ID, Lasting: r.Failure.Class.Asked()}
	}
	return g
}
