package imagegen

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
	"time"
)

// Record is what a Store keeps of one generation.
type Record struct {
	Intent
	Progress
}

// Intent is what was asked for and what it costs. It never changes, except that EraseChange and
// ForgetChange remove the prompt and everything else that reveals the request.
type Intent struct {
	ID             GenerationID
	User           UserID
	Payer          UserID // who pays for the user, see User.Sponsor; "": the user
	KeyID          KeyID  // the API key of the request; "": none, in process or from the console
	Model          string
	Prompt         string
	N              int
	Size           Size
	Quality        Quality // as asked for
	Effort         Quality // for the provider: Quality, capped by Model.MaxEffort
	Ratio          Ratio
	Tier           Tier
	Price          Credits // per image, fixed at acceptance; N × Price is a valid amount
	Options        Options
	Async          bool
	References     []ReferenceFile // a mask, if any, is the last one; upright copies follow
	IdempotencyKey string
	Fingerprint    [32]byte // a hash of the request, by which the idempotency key of another request is noticed
	JoinKey        [32]byte // equal for calls that may join each other, see GenerateRequest.Join; zero: no call can join
	CreatedAt      time.Time
	Hosted         bool // it was accepted in a transaction of the host's: observers hear of that when its wait ends
}

// ReferenceFile is a checked reference image, or a mask, in the Spool.
type ReferenceFile struct {
	ID            ReferenceID
	Mask          bool
	Image         ImageID // the user's stored image that was used as the reference; "": the caller sent the file
	MediaType     string
	Size          int64
	Width, Height int // as it is displayed
	SHA256        [32]byte

	// Orientation is that of the EXIF data of the file, from 1 to 8. 0: there is none.
	Orientation int
	// CopyOf is the file of which this one is an upright copy, for providers that do not honour Orientation. "": the
	// caller sent this one.
	CopyOf ReferenceID
}

// Progress is how far a generation has come.
type Progress struct {
	State   State
	Attempt int // the number of the attempt; each claim and each recovery increases it
	// attempts that used up a try: by a transient failure, or an interruption without a saved job
	Failures    int
	Resumptions int           // how often a saved job was taken over from a process that died
	Delay       time.Duration // of a queued record: how long after the write that queued it, it is due
	Job         []byte        // the provider's handle of upstream work

	// JobUpstreams are the Model.Upstreams of the provider that saved Job. Only a provider
	// that shares one of them resumes it.
	JobUpstreams []string

	Images          []StoredImage // before StateSettling: those that were shown; then all
	Published       int           // how many images were paid for; an erasure does not change it
	Failure         *Failure      // from StateSettling on, if there is no image
	CompletedAt     time.Time     // from StateSettling on
	Balance         *Balance      // as in the synchronous answer
	Undelivered     bool          // nobody has received the synchronous answer: an equal call may join
	Favourite       bool          // its owner marked it; only with StateSucceeded
	PartlyCancelled bool          // its owner cancelled what was missing: images had been shown, so it is not Cancelled

	Costs []AttemptCost // of attempts that have ended, in their order

	// Dispute says why the ledger refused the settlement for good; "": it did not, or the
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
	Provenance    Provenance // "": it was stored before this was noted
}

// MaxDetail is the maximum number of bytes that are kept of the error of a provider or a ledger.
const MaxDetail = 4 << 10

// Failure says why there is no image.
type Failure struct {
	Class  Class
	Detail string // for operators only; [OutcomeChange] cuts it to MaxDetail bytes
}

// Cancelled reports whether the owner ended the generation while it waited.
func (r Record) Cancelled() bool { return r.Failure != nil && r.Failure.Class == ClassCancelled }

// Message returns the message for the owner of the generation. It does not contain Detail, and asks to try again only
// what may succeed then.
func (f Failure) Message() string {
	switch f.Class {
	case ClassRefused:
		return messageRefused
	case ClassInvalid:
		return messageInvalid
	case ClassBlocked:
		return messageBlocked
	case ClassCancelled:
		return ErrCancelled.Message
	}
	return messageFailed
}

// Fence names one attempt at one generation. A write with the fence of an attempt that
// another has taken over changes nothing.
type Fence struct {
	ID      GenerationID
	Attempt int
}

// Fence returns the fence of the record's current attempt.
func (r Record) Fence() Fence { return Fence{r.ID, r.Attempt} }

// Account returns whose credits pay for the generation, and whose share of queue and slots it takes: the payer's, or
// the user's.
func (r Record) Account() UserID { return cmp.Or(r.Payer, r.User) }

// Charge returns the charge for all images that were asked for.
func (r Record) Charge() Charge {
	c := Charge{ID: ChargeID(r.ID), User: r.Account(), Credits: r.Price * Credits(r.N), Model: r.Model, Tier: r.Tier,
		N: r.N, Key: r.KeyID}
	if r.Payer != "" {
		c.Member = r.User
	}
	return c
}

// Used returns what the published images cost; 0 if an operator has refunded them.
func (r Record) Used() Credits {
	if r.Refunded {
		return 0
	}
	return r.Price * Credits(r.Published)
}

// WantsBalance reports whether the answer contains the user's balance: it is synchronous and has
// images. CloseChange then stores the balance.
func (r Record) WantsBalance() bool { return !r.Async && r.Published > 0 }

// Cancellable reports whether the record is queued and has no upstream job.
func (r Record) Cancellable() bool { return r.State == StateQueued && len(r.Job) == 0 }

// ImageKey returns the key of one of the record's images in the ImageStore.
func (r Record) ImageKey(i StoredImage) ImageKey { return ImageKey{r.ID, i.Attempt, i.ID} }

// IdempotencyKeyLifetime is how long an idempotency key stays reserved after the end of its generation.
const IdempotencyKeyLifetime = 24 * time.Hour

// HoldsIdempotencyKey reports whether the record holds its idempotency key: until IdempotencyKeyLifetime after its
// end. ended is how long ago its CompletedAt was, see [Timekeeper].
func (r Record) HoldsIdempotencyKey(ended time.Duration) bool {
	switch {
	case r.IdempotencyKey == "" || r.State == StateGone:
		return false
	case r.Unsettled(): // CompletedAt may be set while it is settling, but it has not ended
		return true
	}
	return ended < IdempotencyKeyLifetime
}

// erasedKey precedes the hash that an erasure leaves of an idempotency key. No key that a
// caller can send begins with it.
const erasedKey = "\x00"

// IdempotencyHash returns the SHA-256 of an idempotency key. An erasure replaces the key in a
// record by its hash; for such a value, IdempotencyHash returns the hash of the original key. So a
// Store that looks records up by this hash finds them before and after an erasure.
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
	n := slices.IndexFunc(r.References, func(f ReferenceFile) bool { return f.Mask && f.CopyOf == "" })
	if n < 0 {
		return ReferenceFile{}, false
	}
	return r.References[n], true
}

// ReferenceImages returns the references without the mask and without copies.
func (r Record) ReferenceImages() []ReferenceFile {
	n := slices.IndexFunc(r.References, func(f ReferenceFile) bool { return f.Mask || f.CopyOf != "" })
	if n < 0 {
		return r.References
	}
	return r.References[:n]
}

// UprightCopy returns the upright copy of one of the record's files, or the file itself if there is none.
func (r Record) UprightCopy(f ReferenceFile) ReferenceFile {
	n := slices.IndexFunc(r.References, func(c ReferenceFile) bool { return c.CopyOf == f.ID })
	if n < 0 {
		return f
	}
	return r.References[n]
}

// Generation returns what the owner sees of the record.
func (r Record) Generation() Generation {
	g := Generation{
		ID: r.ID, Status: r.Status(), Model: r.Model, Prompt: r.Prompt, N: r.N, Size: r.Size, Quality: r.Quality,
		ReferenceCount: len(r.ReferenceImages()), Ratio: r.Ratio, Tier: r.Tier, Effort: r.Effort,
		Options: r.Options.Clone(), CreatedAt: r.CreatedAt, CreditsRequested: r.Charge().Credits,
		Favourite: r.Favourite,
	}
	_, g.Masked = r.Mask()
	for _, i := range r.Images {
		g.Images = append(g.Images, Image{ID: i.ID, CreatedAt: i.CreatedAt, Width: i.Width, Height: i.Height,
			MediaType: i.MediaType, Provenance: i.Provenance})
	}
	if !g.Status.Terminal() {
		return g
	}
	g.CompletedAt, g.Credits = r.CompletedAt, r.Used()
	for _, c := range r.Costs {
		g.Usage = g.Usage.Plus(c.Usage)
	}
	if r.Failure != nil {
		g.Failure = &Error{Code: CodeGenerationFailed, Message: r.Failure.Message(), Generation: r.ID,
			Lasting: r.Failure.Class.RequestAtFault()}
	}
	if r.Cancelled() {
		g.Failure.Code = CodeCancelled
	}
	return g
}
