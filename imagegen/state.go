package imagegen

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// State is the stored state of a generation. [Record.Status] is what its owner sees of
// it.
type State string

// The states. docs/states.md has a diagram of them. "Invisible" means that the owner does not see
// the generation.
const (
	StateGone       State = ""           // abandoned before it was charged: the store deletes the record
	StateCharging   State = "charging"   // the Intent is stored, the charge may have been made or not; invisible
	StateQueued     State = "queued"     // charged, waits to be claimed
	StateProcessing State = "processing" // an attempt is under way
	StateSettling   State = "settling"   // the outcome is stored, the charge may have been settled or not; shown as processing
	StateSucceeded  State = "succeeded"
	StateFailed     State = "failed"
	StateErasing    State = "erasing" // the erasure has begun, files may still exist; invisible
	StateErased     State = "erased"  // kept for the books, without prompt and images; invisible
)

// Visible reports whether the owner can see the generation.
func (r Record) Visible() bool { return r.Status() != "" }

// Terminal reports whether the generation has ended and can still be read.
func (r Record) Terminal() bool { return r.State == StateSucceeded || r.State == StateFailed }

// Unsettled reports whether the charge of the generation is open, or may be.
func (r Record) Unsettled() bool {
	switch r.State {
	case StateCharging, StateQueued, StateProcessing, StateSettling:
		return true
	}
	return false
}

// Running reports whether the record is in a state in which an engine holds a lease of it, to
// continue the work.
func (r Record) Running() bool {
	switch r.State {
	case StateCharging, StateProcessing, StateSettling, StateErasing:
		return true
	}
	return false
}

// Status returns what the owner sees of the state; "" if the record is invisible. Work that waits
// for a further attempt shows as processing: a status never goes backwards.
func (r Record) Status() Status {
	switch r.State {
	case StateQueued:
		if r.Attempt > 0 {
			return StatusProcessing
		}
		return StatusQueued
	case StateProcessing, StateSettling:
		return StatusProcessing
	case StateSucceeded:
		return StatusSucceeded
	case StateFailed:
		return StatusFailed
	}
	return ""
}

// Change is a change of a record, which [Record.Apply] makes. There are these: [Accept], [Abandon],
// [Claim], [Recover], [SaveJob], [Show], [Release], [Outcome], [Delivery], [Favour], [Close], [Dispute],
// [Resolve], [Erase], [Purge] and [Forget].
type Change interface{ apply(r *Record) step }

type (
	// Accept accepts a record that has been charged: charging → processing, or → queued if it is
	// asynchronous.
	Accept struct{}
	// Abandon drops a record that was not charged: charging → gone.
	Abandon struct{}
	// Claim begins a new attempt at a waiting record: queued → processing.
	Claim struct{}
	// Recover begins a new attempt, so that writes of the previous one fail with ErrStale. A
	// [Record.Running] record stays in its state.
	Recover struct{}
	// SaveJob stores the provider's handle of upstream work; an empty Job removes it. The record
	// stays processing.
	SaveJob struct {
		Job       []byte
		Upstreams []string // the Model.Upstreams of the provider; ignored without a Job
	}
	// Show makes images visible before the end of the attempt. The record stays processing.
	// Shown images stay for good: no later attempt takes them back, and every Outcome includes
	// them.
	Show struct{ Images []StoredImage }
	// Release puts asynchronous work back into the queue: processing → queued.
	Release struct {
		Delay   time.Duration // until the work is due again
		Failed  bool          // the attempt uses up a try: it counts in Failures
		Resumed bool          // the next attempt resumes the job: it counts in Resumptions
	}
	// Outcome records the result of the attempt: processing → settling. Images that were shown
	// before are part of it, whether or not Images contains them.
	Outcome struct {
		Images      []StoredImage
		Failure     *Failure // why there is no image; ignored if there is one
		At          time.Time
		AccountType string // for the Balance of a synchronous answer
		Undelivered bool   // the caller has hung up
		// Cancelled ends a [Record.Cancellable] record without an attempt: queued → settling.
		Cancelled bool
	}
	// Delivery records whether the synchronous answer has still to be received, of a record
	// with a JoinKey. The record stays succeeded.
	Delivery struct{ Undelivered bool }
	// Favour marks a generation as a favourite of its owner, or removes the mark. The record
	// stays succeeded.
	Favour struct{ Favourite bool }
	// Close ends a generation after the settlement: settling → succeeded or failed. At is the
	// time of the settlement, which can be later than that of the outcome.
	Close struct {
		Balance *Balance
		At      time.Time
	}
	// Dispute ends a generation whose settlement the ledger refuses for good: settling →
	// succeeded or failed. A record whose charge is in doubt fails: charging → failed.
	Dispute struct {
		Detail  string // the ledger's error, of which at most MaxDetail bytes are kept
		At      time.Time
		Balance *Balance
	}
	// Resolve ends a dispute after the charge was closed. The record stays in its state. Refund
	// says that all credits were given back.
	Resolve struct{ Refund bool }
	// Erase begins an erasure, and removes prompt and references at once: succeeded or failed →
	// erasing. A hash of the idempotency key stays. Aged says that the generation is erased for
	// its age and not on request: then no hash stays, since the key is no longer reserved, and
	// the audit trail gets no row.
	Erase struct{ Aged bool }
	// Purge records that the files have been removed: erasing → erased.
	Purge struct{}
	// Forget removes from a failed record the prompt and everything else that reveals the
	// request, except the identifiers of the references; from an erased record, the hash of its
	// idempotency key. The state stays. Use it when the key is no longer reserved.
	Forget struct{}
)

// step is the effect of a change on a record.
type step int

const (
	impossible step = iota
	unchanged       // the record is already what was wanted
	changed
)

// Apply applies a change to the given attempt at a record, and is the only way in which a record
// changes. Stores call it inside their transaction. If didChange is false and err is nil, there is
// nothing to write: the record already is what the caller wants, or it has ended and the change
// came too late.
//
// ErrStale: another attempt has taken over. ErrTransition: the state does not allow the
// change. A [Violation]: the record would no longer pass [Record.Check]. With an error
// there is nothing to write.
//
// Apply changes the Intent only on entering StateErasing, or with the change Forget.
func (r Record) Apply(attempt int, c Change) (next Record, didChange bool, err error) {
	if attempt != r.Attempt {
		return r, false, ErrStale
	}
	next = r
	switch c.apply(&next) {
	case changed:
		if err := next.Check(); err != nil {
			return r, false, err
		}
		return next, true, nil
	case unchanged:
		return r, false, nil
	}
	if r.Terminal() {
		return r, false, nil
	}
	return r, false, fmt.Errorf("%w: %T in %q", ErrTransition, c, r.State)
}

func (Accept) apply(r *Record) step {
	switch r.State {
	case StateQueued, StateProcessing:
		return unchanged
	case StateCharging:
		r.State = StateProcessing
		if r.Async {
			r.State = StateQueued
		}
		return changed
	}
	return impossible
}

func (Abandon) apply(r *Record) step {
	if r.State != StateCharging {
		return impossible
	}
	r.State = StateGone
	return changed
}

func (Claim) apply(r *Record) step {
	if r.State != StateQueued {
		return impossible
	}
	r.State, r.Delay = StateProcessing, 0
	r.Attempt++
	return changed
}

func (Recover) apply(r *Record) step {
	if !r.Running() {
		return impossible
	}
	r.Attempt++
	return changed
}

func (c SaveJob) apply(r *Record) step {
	if r.State != StateProcessing {
		return impossible
	}
	r.Job, r.JobUpstreams = slices.Clone(c.Job), nil
	if len(c.Job) > 0 {
		r.JobUpstreams = slices.Clone(c.Upstreams)
	}
	return changed
}

func (c Show) apply(r *Record) step {
	if r.State != StateProcessing {
		return impossible
	}
	all := with(r.Images, c.Images)
	if len(all) == len(r.Images) {
		return unchanged
	}
	r.Images = all
	return changed
}

// with returns images followed by those of more that are not among them, in a new slice.
func with(images, more []StoredImage) []StoredImage {
	all := slices.Clone(images)
	for _, m := range more {
		if !slices.ContainsFunc(all, func(i StoredImage) bool { return i.ID == m.ID }) {
			all = append(all, m)
		}
	}
	return all
}

func (c Release) apply(r *Record) step {
	switch {
	case r.State == StateQueued:
		return unchanged
	case r.State != StateProcessing || !r.Async:
		return impossible
	}
	r.State, r.Delay = StateQueued, c.Delay
	if c.Failed {
		r.Failures++
	}
	if c.Resumed {
		r.Resumptions++
	}
	return changed
}

func (c Outcome) apply(r *Record) step {
	switch {
	case r.State == StateSettling && !c.Cancelled:
		return unchanged
	case c.Cancelled && !r.Cancellable():
		return impossible
	case r.State != StateProcessing && !c.Cancelled:
		return impossible
	}
	r.State, r.Delay, r.Job, r.JobUpstreams, r.CompletedAt = StateSettling, 0, nil, nil, c.At
	r.Images = with(r.Images, c.Images)
	r.Published = len(r.Images)
	r.Undelivered = c.Undelivered && r.Published > 0
	if r.Published == 0 {
		why := cmp.Or(c.Failure, &Failure{Class: ClassUnknown, Detail: "no reason given"})
		r.Failure = &Failure{Class: why.Class, Detail: shortened(why.Detail)}
	}
	return changed
}

func (c Close) apply(r *Record) step {
	if r.State != StateSettling {
		return impossible
	}
	r.State, r.Balance = StateSucceeded, c.Balance
	if c.At.After(r.CompletedAt) {
		r.CompletedAt = c.At
	}
	if r.Published == 0 {
		r.State = StateFailed
	}
	return changed
}

func (c Delivery) apply(r *Record) step {
	switch {
	case r.State != StateSucceeded || r.JoinKey == [32]byte{}:
		return impossible
	case r.Undelivered == c.Undelivered:
		return unchanged
	}
	r.Undelivered = c.Undelivered
	return changed
}

func (c Favour) apply(r *Record) step {
	switch {
	case r.State != StateSucceeded:
		return impossible
	case r.Favourite == c.Favourite:
		return unchanged
	}
	r.Favourite = c.Favourite
	return changed
}

func (c Dispute) apply(r *Record) step {
	switch r.State {
	case StateCharging:
		r.State, r.CompletedAt = StateSettling, c.At
		r.Failure = &Failure{Class: ClassUnknown, Detail: "the charge is in doubt, and the ledger does not void it"}
	case StateSettling:
	default:
		return impossible
	}
	r.Dispute = cmp.Or(shortened(c.Detail), "no reason given")
	return Close{Balance: c.Balance, At: c.At}.apply(r)
}

func (c Resolve) apply(r *Record) step {
	switch {
	case r.Unsettled() || r.State == StateGone:
		return impossible
	case r.Dispute == "":
		return unchanged
	}
	r.Dispute, r.Refunded = "", c.Refund && r.Published > 0
	return changed
}

func (c Erase) apply(r *Record) step {
	switch {
	case r.State == StateErasing, r.State == StateErased:
		return unchanged
	case !r.Terminal():
		return impossible
	}
	r.State, r.Undelivered, r.Favourite = StateErasing, false, false
	r.forget(!c.Aged)
	return changed
}

func (Forget) apply(r *Record) step {
	switch {
	case r.State == StateErasing, r.State == StateErased && r.IdempotencyKey == "", r.State == StateFailed && r.Prompt == "":
		return unchanged
	case r.State != StateFailed && r.State != StateErased:
		return impossible
	}
	var names []ReferenceFile
	for _, f := range r.References {
		names = append(names, ReferenceFile{ID: f.ID, Mask: f.Mask})
	}
	r.forget(false)
	r.References = names
	return changed
}

func (Purge) apply(r *Record) step {
	switch r.State {
	case StateErased:
		return unchanged
	case StateErasing:
		r.State, r.Images, r.Failure, r.Balance = StateErased, nil, nil, nil
		return changed
	}
	return impossible
}

// shortened cuts a text to at most MaxDetail bytes, and never within a character.
func shortened(s string) string {
	const more = "…"
	if len(s) <= MaxDetail {
		return s
	}
	n := MaxDetail - len(more)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + more
}
