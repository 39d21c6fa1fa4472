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

// The states. docs/states.md draws them.
const (
	StateGone       State = ""           // abandoned before it was charged: the store deletes it
	StateCharging   State = "charging"   // intent recorded, charge in doubt; invisible
	StateQueued     State = "queued"     // charged, waits to be claimed
	StateProcessing State = "processing" // an attempt is under way
	StateSettling   State = "settling"   // outcome recorded, settlement in doubt; shown as processing
	StateSucceeded  State = "succeeded"
	StateFailed     State = "failed"
	StateErasing    State = "erasing" // erased for its owner, files may still lie there; invisible
	StateErased     State = "erased"  // a skeleton for the books: no prompt, no images; invisible
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

// Running reports whether somebody holds, or held, a lease to continue the record.
func (r Record) Running() bool {
	switch r.State {
	case StateCharging, StateProcessing, StateSettling, StateErasing:
		return true
	}
	return false
}

// Status is what the owner sees of the state; "" if the record is invisible. Work that waits for
// another attempt shows as processing: a status never goes backwards.
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

// Change is one step of a record. The types below are all there are.
type Change interface{ apply(r *Record) step }

type (
	// Accept takes in a record that has been charged: charging → processing, or queued when
	// asynchronous.
	Accept struct{}
	// Abandon drops a record that was not charged: charging → gone.
	Abandon struct{}
	// Claim begins a fresh attempt at a waiting record: queued → processing.
	Claim struct{}
	// Recover begins a fresh attempt that shuts out the previous one; a running record stays in
	// its state.
	Recover struct{}
	// SaveJob keeps the provider's handle of upstream work, while processing.
	SaveJob struct {
		Job       []byte
		Upstreams []string // of the provider; kept with a job only
	}
	// Show makes images visible before the end of the attempt, while processing. Shown images
	// stay for good: no later attempt takes them back, and every Outcome includes them.
	Show struct{ Images []StoredImage }
	// Release puts asynchronous work back, due after Delay: processing → queued. Failed uses up a try,
	// Resumed counts one more resumption of its job.
	Release struct {
		Delay   time.Duration
		Failed  bool
		Resumed bool
	}
	// Outcome records the result of the attempt: processing → settling. Images that were shown
	// before are part of it, whether or not Images names them.
	Outcome struct {
		Images      []StoredImage
		Failure     *Failure // why there is no image; unused if there is one
		At          time.Time
		AccountType string // for the Balance of a synchronous answer
		Undelivered bool   // the caller has hung up
		// Cancelled ends a waiting record without an attempt: queued → settling, unless an
		// upstream works on it.
		Cancelled bool
	}
	// Delivery notes whether the synchronous answer has yet to be received; succeeded stays succeeded.
	Delivery struct{ Undelivered bool }
	// Favour marks a succeeded generation as a favourite of its owner, or removes the mark.
	Favour struct{ Favourite bool }
	// Close ends a settled generation: settling → succeeded or failed. At is the time of the
	// settlement, which can be later than that of the outcome.
	Close struct {
		Balance *Balance
		At      time.Time
	}
	// Dispute is Close for a settlement that the ledger refuses for good. A record without an
	// outcome fails at At: charging → failed.
	Dispute struct {
		Detail  string // what the ledger said; at most MaxDetail bytes of it are kept
		At      time.Time
		Balance *Balance
	}
	// Resolve ends a dispute, once the charge is closed: as decided, or with everything given back.
	Resolve struct{ Refund bool }
	// Erase begins an erasure; prompt and references go at once: succeeded or failed → erasing. A
	// hash of the idempotency key stays, unless the generation is Aged: it reserves no key any
	// more, and since nobody asked for the erasure, the audit trail gets no row.
	Erase struct{ Aged bool }
	// Purge records that the files are gone: erasing → erased.
	Purge struct{}
	// Forget removes from a failed record the prompt and everything else that tells what was
	// asked for, except the names of the references; from an erased one, the hash of its
	// idempotency key. The state stays. It is for when the key is no longer reserved.
	Forget struct{}
)

// step is the effect of a change on a record.
type step int

const (
	impossible step = iota
	unchanged       // the record is already what was wanted
	changed
)

// Apply is the only way in which a record changes. Stores call it inside their
// transaction. If didChange is false and err is nil, there is nothing to write: the
// record already is what the caller wants, or it has ended and the change came too late.
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
