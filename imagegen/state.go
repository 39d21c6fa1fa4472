package imagegen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
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
	// the outcome is stored, the charge may have been settled or not; shown as processing
	StateSettling  State = "settling"
	StateSucceeded State = "succeeded"
	StateFailed    State = "failed"
	StateErasing   State = "erasing" // the erasure has begun, files may still exist; invisible
	StateErased    State = "erased"  // kept for the books, without prompt and images; invisible
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

// Change is a change of a record, which [Record.Apply] makes: one of the types below, whose names end in Change.
type Change interface{ apply(r *Record) step }

type (
	// AcceptChange accepts a record that has been charged: charging → processing, or → queued if it is
	// asynchronous.
	AcceptChange struct{}
	// AbandonChange drops a record that was not charged: charging → gone.
	AbandonChange struct{}
	// ClaimChange begins a new attempt at a waiting record: queued → processing.
	ClaimChange struct{}
	// RecoverChange begins a new attempt, so that writes of the previous one fail with ErrStale. A
	// [Record.Running] record stays in its state.
	RecoverChange struct{}
	// SaveJobChange stores the provider's handle of upstream work; an empty Job removes it. The record
	// stays processing.
	SaveJobChange struct {
		Job       []byte
		Upstreams []string // the Model.Upstreams of the provider; ignored without a Job
	}
	// ShowChange makes images visible before the end of the attempt. The record stays processing.
	// Shown images stay for good: no later attempt takes them back, and every OutcomeChange includes
	// them.
	ShowChange struct{ Images []StoredImage }
	// ReleaseChange puts asynchronous work back into the queue: processing → queued.
	ReleaseChange struct {
		Delay   time.Duration // until the work is due again
		Failed  bool          // the attempt uses up a try: it counts in Failures
		Cost    *AttemptCost  // of the attempt, whose number it gets; nil: there is nothing to add
		Resumed bool          // the next attempt resumes the job: it counts in Resumptions
	}
	// OutcomeChange records the result of the attempt: processing → settling. Images that were shown
	// before are part of it, whether or not Images contains them.
	OutcomeChange struct {
		Images      []StoredImage
		Failure     *Failure // why there is no image; ignored if there is one
		At          time.Time
		AccountType string       // for the Balance of a synchronous answer
		Undelivered bool         // the caller has hung up
		Cost        *AttemptCost // as of a ReleaseChange
		// Cancelled ends a [Record.Cancellable] record without an attempt: queued → settling.
		Cancelled bool
	}
	// DeliveryChange records whether the synchronous answer has still to be received, of a record
	// with a JoinKey. The record stays succeeded.
	DeliveryChange struct{ Undelivered bool }
	// FavouriteChange marks a generation as a favourite of its owner, or removes the mark. The record
	// stays succeeded.
	FavouriteChange struct{ Favourite bool }
	// CloseChange ends a generation after the settlement: settling → succeeded or failed. At is the
	// time of the settlement, which can be later than that of the outcome.
	CloseChange struct {
		Balance *Balance
		At      time.Time
	}
	// DisputeChange ends a generation whose settlement the ledger refuses for good: settling →
	// succeeded or failed. A record whose charge is in doubt fails: charging → failed.
	DisputeChange struct {
		Detail  string // the ledger's error, of which at most MaxDetail bytes are kept
		At      time.Time
		Balance *Balance
	}
	// ResolveChange ends a dispute after the charge was closed. The record stays in its state. Refund
	// says that all credits were given back.
	ResolveChange struct{ Refund bool }
	// EraseChange begins an erasure, and removes prompt and references at once: succeeded or failed →
	// erasing. A hash of the idempotency key stays. Aged says that the generation is erased for
	// its age and not on request: then no hash stays, since the key is no longer reserved, and
	// the audit trail gets no row.
	EraseChange struct{ Aged bool }
	// PurgeChange records that the files have been removed: erasing → erased.
	PurgeChange struct{}
	// ForgetChange removes from a failed record the prompt and everything else that reveals the
	// request, except the identifiers of the references; from an erased record, the hash of its
	// idempotency key. The state stays. Use it when the key is no longer reserved.
	ForgetChange struct{}
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
// Apply changes the Intent only on entering StateErasing, or with a ForgetChange.
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

func (AcceptChange) apply(r *Record) step {
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

func (AbandonChange) apply(r *Record) step {
	if r.State != StateCharging {
		return impossible
	}
	r.State = StateGone
	return changed
}

func (ClaimChange) apply(r *Record) step {
	if r.State != StateQueued {
		return impossible
	}
	r.State, r.Delay = StateProcessing, 0
	r.Attempt++
	return changed
}

func (RecoverChange) apply(r *Record) step {
	if !r.Running() {
		return impossible
	}
	r.addInterrupted()
	r.Attempt++
	return changed
}

func (c SaveJobChange) apply(r *Record) step {
	if r.State != StateProcessing {
		return impossible
	}
	r.Job, r.JobUpstreams = slices.Clone(c.Job), nil
	if len(c.Job) > 0 {
		r.JobUpstreams = slices.Clone(c.Upstreams)
	}
	return changed
}

func (c ShowChange) apply(r *Record) step {
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

func (c ReleaseChange) apply(r *Record) step {
	switch {
	case r.State == StateQueued:
		return unchanged
	case r.State != StateProcessing || !r.Async:
		return impossible
	}
	if len(r.Job) == 0 { // else the attempt that resumes it has its cost
		r.addCost(c.Cost)
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

func (c OutcomeChange) apply(r *Record) step {
	switch {
	case r.State == StateSettling && !c.Cancelled:
		return unchanged
	case c.Cancelled && !r.Cancellable():
		return impossible
	case r.State != StateProcessing && !c.Cancelled:
		return impossible
	}
	if r.addCost(c.Cost); len(r.Job) > 0 { // which nobody resumes any more
		r.addCost(&AttemptCost{Reason: CostInterrupted})
	}
	r.State, r.Delay, r.Job, r.JobUpstreams, r.CompletedAt = StateSettling, 0, nil, nil, c.At
	r.Images = with(r.Images, c.Images)
	r.Published = len(r.Images)
	r.Undelivered = c.Undelivered && r.Published > 0
	r.PartlyCancelled = c.Cancelled && r.Published > 0
	if r.Published == 0 {
		why := cmp.Or(c.Failure, &Failure{Class: ClassUnknown, Detail: "no reason given"})
		r.Failure = &Failure{Class: why.Class, Detail: shortened(why.Detail)}
	}
	return changed
}

func (c CloseChange) apply(r *Record) step {
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

func (c DeliveryChange) apply(r *Record) step {
	switch {
	case r.State != StateSucceeded || r.JoinKey == [32]byte{}:
		return impossible
	case r.Undelivered == c.Undelivered:
		return unchanged
	}
	r.Undelivered = c.Undelivered
	return changed
}

func (c FavouriteChange) apply(r *Record) step {
	switch {
	case r.State != StateSucceeded:
		return impossible
	case r.Favourite == c.Favourite:
		return unchanged
	}
	r.Favourite = c.Favourite
	return changed
}

func (c DisputeChange) apply(r *Record) step {
	switch r.State {
	case StateCharging:
		r.State, r.CompletedAt = StateSettling, c.At
		r.Failure = &Failure{Class: ClassUnknown, Detail: "the charge is in doubt, and the ledger does not void it"}
	case StateSettling:
	default:
		return impossible
	}
	r.Dispute = cmp.Or(shortened(c.Detail), "no reason given")
	return CloseChange{Balance: c.Balance, At: c.At}.apply(r)
}

func (c ResolveChange) apply(r *Record) step {
	switch {
	case r.Unsettled() || r.State == StateGone:
		return impossible
	case r.Dispute == "":
		return unchanged
	}
	r.Dispute, r.Refunded = "", c.Refund && r.Published > 0
	return changed
}

func (c EraseChange) apply(r *Record) step {
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

func (ForgetChange) apply(r *Record) step {
	switch {
	case r.State == StateErasing, r.State == StateErased && r.IdempotencyKey == "", r.State == StateFailed &&
		r.Prompt == "":
		return unchanged
	case r.State != StateFailed && r.State != StateErased:
		return impossible
	}
	var names []ReferenceFile
	for _, f := range r.References {
		names = append(names, ReferenceFile{ID: f.ID, Mask: f.Mask, CopyOf: f.CopyOf})
	}
	r.forget(false)
	r.References = names
	return changed
}

func (PurgeChange) apply(r *Record) step {
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
	return strings.ToValidUTF8(s[:MaxDetail-len(more)], "") + more
}
