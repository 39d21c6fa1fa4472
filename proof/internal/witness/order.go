package witness

import (
	"errors"
	"reflect"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// Kind is what an answer comes to.
type Kind string

const (
	Succeeded Kind = "succeeded"
	Accepted  Kind = "accepted" // it is queued or under way
	Failed    Kind = "failed"   // and the credits are back
	Poor      Kind = "402"
	Busy      Kind = "503"
	Refused   Kind = "refused" // for another reason
	Unknown   Kind = "unknown" // whether it was done
)

// KindOf sorts the answer to a Generate.
func KindOf(async bool, err error) Kind {
	switch e, coded := errors.AsType[*imagegen.Error](err); {
	case err == nil && async:
		return Accepted
	case err == nil:
		return Succeeded
	case errors.Is(err, imagegen.ErrGenerationFailed):
		return Failed
	case errors.Is(err, imagegen.ErrInsufficientCredits):
		return Poor
	case errors.Is(err, imagegen.ErrOverloaded):
		return Busy
	case !coded, e.Code == imagegen.CodeInternal, e.Code == imagegen.CodeIdempotencyKeyInUse:
		return Unknown
	}
	return Refused
}

// Order is a request, however often it is sent, and all answers to its caller.
type Order struct {
	User   imagegen.UserID
	Prompt string // no other order's

	ID      imagegen.GenerationID           // "": nothing was promised
	End     *imagegen.Generation            // nil: no answer said so
	Failed  bool                            // an answer said that it failed
	Sums    map[imagegen.ImageID]([32]byte) // of images that were read
	Doubt   bool                            // an answer did not come, or did not say the outcome
	Erasure Erasure
}

// Erasure is how far an erasure has come, as far as is known.
type Erasure int

const (
	Standing Erasure = iota
	Erasing          // asked for
	Erased           // confirmed
)

// Hear takes an answer. Without one, or if the outcome is unknown, the caller is in doubt. g is the
// generation in the answer, the zero one if it has none.
func (o *Order) Hear(k Kind, g imagegen.Generation, fact Fact) {
	o.Doubt = o.Doubt || k == Unknown
	o.Failed = o.Failed || k == Failed
	if g.ID != "" {
		fact(o.ID == "" || o.ID == g.ID, "it has two identifiers, %s and %s", o.ID, g.ID)
		o.ID = g.ID
	}
	if g.Status.Terminal() {
		price := g.CreditsRequested / imagegen.Credits(g.N)
		fact(g.Credits == price*imagegen.Credits(len(g.Images)) && len(g.Images) <= g.N &&
			(g.Failure == nil) == (len(g.Images) > 0) && !g.CompletedAt.IsZero(),
			"it ended as %+v", g)
		o.hearEnd(g, fact)
	}
}

// hearEnd takes the end of an order, which is the same in all answers.
func (o *Order) hearEnd(g imagegen.Generation, fact Fact) {
	g = bare(g)
	if o.End == nil {
		o.End = &g
	}
	if !reflect.DeepEqual(*o.End, g) { // cmp takes its time
		fact(false, "its end has changed (-before +now): %s", cmp.Diff(*o.End, g))
	}
}

// bare leaves out of a generation what depends on where it was asked for.
func bare(g imagegen.Generation) imagegen.Generation {
	g.Images = slices.Clone(g.Images)
	for n := range g.Images {
		g.Images[n].URL = ""
	}
	if g.Failure != nil {
		g.Failure = &imagegen.Error{Code: g.Failure.Code, Message: g.Failure.Message}
	}
	if len(g.Images) == 0 {
		g.Images = nil
	}
	return g
}

// HearImage takes what the bytes of an image are, which never change.
func (o *Order) HearImage(id imagegen.ImageID, sum [32]byte, fact Fact) {
	if o.Sums == nil {
		o.Sums = map[imagegen.ImageID][32]byte{}
	}
	former, again := o.Sums[id]
	fact(!again || former == sum, "image %s has changed", id)
	o.Sums[id] = sum
}

// Of tells whether a record is the order's. One that was erased has no prompt any more.
func (o *Order) Of(r imagegen.Record) bool {
	return r.User == o.User && (r.Prompt == o.Prompt || r.ID == o.ID)
}

// compare holds an order against the generations that are there.
func (o *Order) compare(records []imagegen.Record, fact Fact) {
	about := func(ok bool, format string, args ...any) {
		fact(ok, "%q (%s): "+format, append([]any{o.Prompt, o.ID}, args...)...)
	}
	own := 0
	for _, r := range records {
		if o.Of(r) {
			own++
			o.compareOne(r, about)
		}
	}
	about(own <= 1, "it was accepted %d times", own)
	about(own > 0 || o.ID == "", "it was accepted, and is gone")
}

func (o *Order) compareOne(r imagegen.Record, fact Fact) {
	fact(o.ID != "" || o.Doubt, "%s was accepted, and no answer said so", r.ID)
	fact(o.ID == "" || o.ID == r.ID, "it is there as %s", r.ID)
	erased := r.State == imagegen.StateErasing || r.State == imagegen.StateErased
	fact(!erased || o.Erasure != Standing, "it is %s, which nobody asked for", r.State)
	fact(o.Erasure != Erased || r.State == imagegen.StateErased, "it was answered as erased, and is %s", r.State)
	if erased {
		return
	}
	fact(!o.Failed || r.State == imagegen.StateFailed, "it was answered as failed, and is %s", r.State)
	fact(o.End == nil || r.Terminal(), "it was answered as ended, and is %s", r.State)
	if o.End != nil && r.Terminal() {
		o.hearEnd(r.Generation(), fact)
	}
	for _, i := range r.Images {
		sum, known := o.Sums[i.ID]
		fact(!known || sum == i.SHA256, "image %s has changed", i.ID)
	}
}

// Grant is what an operator knows of a lot that has a reference of its own.
type Grant struct {
	User    imagegen.UserID
	Ref     string
	Credits imagegen.Credits
	Answer  Kind // Succeeded, Refused, or Unknown
}

// compare says that it was granted once if the answer said so, and not if it was refused.
func (g Grant) compare(entries []imagegen.Entry, fact Fact) {
	n := 0
	for _, e := range entries {
		if e.Kind == imagegen.EntryGrant && e.Ref == g.Ref {
			n++
			fact(e.Credits == g.Credits, "grant %q is one of %d credits, not of %d", g.Ref, e.Credits, g.Credits)
		}
	}
	fact(n <= 1, "%q was granted %d times", g.Ref, n)
	fact(n == 1 || g.Answer != Succeeded, "%q was granted, and is not there", g.Ref)
	fact(n == 0 || g.Answer != Refused, "%q was refused, and is there", g.Ref)
}
