package imagegen

import (
	"fmt"
	"slices"
	"strings"
)

// Violation is one broken invariant. An audit reports those that it finds. As an error, it means
// that a write would have broken the invariant: the write was refused and changed nothing. That is
// always a bug, in this module or in an implementation of its interfaces.
type Violation struct {
	Rule    string // such as "journal chain" or "image bytes"
	Subject string // what it is about: a sequence number, a lot, a generation, an image
	Detail  string
}

// Error returns the rule, the subject and the detail, and tells the operator to run an audit.
func (v Violation) Error() string {
	return fmt.Sprintf("imagegen: %s of %s: %s; nothing was written, run an audit", v.Rule, v.Subject, v.Detail)
}

// Is makes errors.Is(v, ErrNotApplied) true: nothing was written.
func (v Violation) Is(target error) bool { return target == ErrNotApplied }

func (r Record) violation(rule, format string, args ...any) error {
	return Violation{Rule: rule, Subject: string(r.ID), Detail: fmt.Sprintf(format, args...)}
}

// Check returns the first invariant that the record alone breaks, as a [Violation]; nil
// if its price, attempts, images, failure and end fit its state and each other. A record
// in StateGone always passes, since it is not kept.
//
// Apply never returns a record that Check would refuse. Check is pure and takes less than
// a microsecond.
func (r Record) Check() error {
	if r.State == StateGone {
		return nil
	}
	if _, err := r.Price.Times(r.N); err != nil {
		return r.violation("price", "%d images at %d credits is not a valid amount", r.N, r.Price)
	}
	if !r.advances() {
		return r.violation("progress", "it is %q, attempt %d, with %d failures, a delay of %v and %d bytes of a job",
			r.State, r.Attempt, r.Failures, r.Delay, len(r.Job))
	}
	if !r.concludes() {
		return r.violation("outcome",
			"it is %s, completed %v, with %d of %d images published, names %d, has failed: %t, tells a balance: %t",
			r.State, r.CompletedAt, r.Published, r.N, len(r.Images), r.Failure != nil, r.Balance != nil)
	}
	if r.Undelivered && (r.JoinKey == [32]byte{} || r.State != StateSettling && r.State != StateSucceeded) {
		return r.violation("delivery", "it is %s, and an equal call may join it: %t", r.State, r.JoinKey != [32]byte{})
	}
	if r.Favourite && r.State != StateSucceeded {
		return r.violation("favourite", "it is %s, and a favourite", r.State)
	}
	if r.PartlyCancelled && (!r.Async || r.Published == 0) {
		return r.violation("cancellation",
			"it is %s, asynchronous: %t, with %d images published, and what was missing was cancelled", r.State,
			r.Async, r.Published)
	}
	if !r.resolves() {
		return r.violation("dispute", "it is %s with %d images published, disputed in %d bytes, refunded: %t", r.State,
			r.Published, len(r.Dispute), r.Refunded)
	}
	if (r.State == StateErasing || r.State == StateErased || r.State == StateFailed && r.Prompt == "") &&
		!r.forgotten() {
		return r.violation("erasure",
			"it is %s, and its prompt, its references or what confirms a guess of them are there", r.State)
	}
	if !r.costs() {
		return r.violation("costs", "they cannot be those of %d attempts: %+v", r.Attempt, r.Costs)
	}
	for n, i := range r.Images {
		if !r.owns(i) || slices.ContainsFunc(r.Images[:n], func(o StoredImage) bool { return o.ID == i.ID }) {
			return r.violation("image record",
				"image %s of attempt %d, %d x %d, %d bytes of type %q, cannot be its own", i.ID, i.Attempt, i.Width,
				i.Height, i.Size, i.MediaType)
		}
	}
	return nil
}

// advances reports whether attempts, tries, delay and job fit the state.
func (r Record) advances() bool {
	unclaimed := r.Published == 0 && r.State != StateProcessing // which attempt 0 must be; later ones can be, too
	open := r.State == StateProcessing || r.State == StateQueued
	return r.Attempt >= 0 && (r.Attempt > 0 || unclaimed) && r.Failures >= 0 && r.Failures <= r.Attempt &&
		r.Resumptions >= 0 && r.Resumptions <= r.Attempt &&
		(r.Delay == 0 || r.Delay > 0 && r.State == StateQueued) && (len(r.Job) == 0 || open) &&
		(len(r.JobUpstreams) == 0 || len(r.Job) > 0)
}

// concludes reports whether images, failure, balance and end fit the state.
func (r Record) concludes() bool {
	if r.Published < 0 || r.Published > r.N {
		return false
	}
	failed := r.Published == 0
	shown := r.Failure == nil && r.Balance == nil && len(r.Images) <= r.N
	empty := shown && len(r.Images) == 0
	whole := len(r.Images) == r.Published && (r.Failure != nil) == failed &&
		(r.Failure == nil || len(r.Failure.Detail) <= MaxDetail)
	ended := !r.CompletedAt.IsZero()
	switch r.State {
	case StateCharging:
		return !ended && empty && failed
	case StateQueued, StateProcessing:
		return !ended && shown && failed
	case StateSettling:
		return ended && whole && r.Balance == nil
	case StateSucceeded:
		return ended && whole && !failed
	case StateFailed:
		return ended && whole && failed
	case StateErasing:
		return ended && whole
	case StateErased:
		return ended && empty
	}
	return false // there is no such state
}

// resolves reports whether a dispute, or what an operator made of it, fits the state.
func (r Record) resolves() bool {
	if r.Dispute == "" && !r.Refunded {
		return true
	}
	return !r.Unsettled() && len(r.Dispute) <= MaxDetail && (r.Dispute == "" || !r.Refunded) &&
		(!r.Refunded || r.Published > 0)
}

// forgotten reports whether nothing tells, or confirms, what was asked for.
func (r Record) forgotten() bool {
	tells := func(f ReferenceFile) bool {
		return r.State != StateFailed || f != ReferenceFile{ID: f.ID, Mask: f.Mask, CopyOf: f.CopyOf}
	}
	return r.Prompt == "" && !slices.ContainsFunc(r.References, tells) && r.Fingerprint == [32]byte{} &&
		(r.IdempotencyKey == "" || strings.HasPrefix(r.IdempotencyKey, erasedKey))
}

// owns reports whether an image can be the record's.
func (r Record) owns(i StoredImage) bool {
	g, ok := i.ID.Generation()
	return ok && g == r.ID && i.Attempt >= 1 && i.Attempt <= r.Attempt && i.MediaType != "" &&
		i.Width > 0 && i.Height > 0 && i.Size > 0 && !i.CreatedAt.IsZero()
}

// CheckCharge returns the first invariant that the record and its charge break together, as a
// [Violation]; nil if they agree. c, closed and used are what a ledger has stored about the charge
// r.Charge().ID: the charge itself, whether it was settled, and the amount that was spent. The zero
// Charge stands for one that was settled to 0 before it was made.
//
//   - The charge names the record's user, and price × N credits.
//   - It is closed if and only if the generation has ended. While the record is charging, it may
//     also be closed to 0; while the record is settling, to what the images cost.
//   - What was spent is price × images published, or 0 if an operator refunded it.
//
// A charge in dispute is not checked, since an operator has to close it.
//
// CheckCharge assumes that r passes Check, and is as cheap.
func (r Record) CheckCharge(c Charge, closed bool, used Credits) error {
	const rule = "generation charge"
	want := r.Charge()
	switch {
	case r.Dispute != "":
		return nil
	case c.User == "" && closed && used == 0 && r.mayBeVoid(): // the tombstone against a late Charge
		return nil
	case c.User != want.User || c.Credits != want.Credits:
		return r.violation(rule, "it costs user %q %d credits; the charge says %d, user %q", want.User, want.Credits,
			c.Credits, c.User)
	case !closed && (r.State == StateCharging || r.State == StateSettling):
		return nil
	case closed != (r.State != StateQueued && r.State != StateProcessing):
		return r.violation(rule, "it is %s, and its charge is closed: %t", r.State, closed)
	case closed && used != r.Used():
		return r.violation("credits spent", "%d were spent on %d images at %d", used, r.Published, r.Price)
	}
	return nil
}

// mayBeVoid reports whether the charge may have been settled to nothing before it was ever
// made. A generation that came to nothing while another ledger held its charge leaves such a
// tombstone too.
func (r Record) mayBeVoid() bool {
	switch r.State {
	case StateCharging, StateGone:
		return true
	case StateQueued, StateProcessing:
		return false
	}
	return r.Used() == 0
}

// AuditReport is what an audit examined and what it found.
type AuditReport struct {
	Entries     int // of the journals
	Accounts    int
	Lots        int
	Charges     int
	Generations int
	Images      int
	TrailRows   int         // of the audit trail
	Violations  []Violation // at most MaxViolations
	More        int         // how many further violations there are
}

// MaxViolations is the maximum number of violations that a report lists.
const MaxViolations = 100

// Add adds a violation to the list. If the list is full, it only increases More.
func (r *AuditReport) Add(v Violation) {
	if len(r.Violations) == MaxViolations {
		r.More++
		return
	}
	r.Violations = append(r.Violations, v)
}

// Clean reports whether no violation was found.
func (r AuditReport) Clean() bool { return len(r.Violations) == 0 }
