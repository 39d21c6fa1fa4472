package simulation_test

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// listener hears the answers that clients get, and complains of those that contradict answers before. While
// others ask too, an answer counts as before only if it had been heard when the call began.
type listener struct {
	w     *world
	users []imagegen.UserID
	clock atomic.Uint64

	mu       sync.Mutex
	orders   []*order
	byPrompt map[string]*order
}

func newListener(w *world) *listener { return &listener{w: w, byPrompt: map[string]*order{}} }

func (t *listener) add(o *order) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.orders = append(t.orders, o)
	t.byPrompt[o.Prompt] = o
}

func (t *listener) all() []*order {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.orders)
}

// now is a moment. What was heard before a call began binds its answer.
func (t *listener) now() moment { return moment(t.clock.Add(1)) }

func (t *listener) complain(o *order, format string, args ...any) {
	t.w.Errorf("order %q (%s, key %q): "+format, append([]any{o.Prompt, o.ID, o.request.IdempotencyKey}, args...)...)
}

// tell has an order hear something. The order is locked.
func (t *listener) tell(o *order, k witness.Kind, g imagegen.Generation) {
	new := o.ID == ""
	o.Hear(k, g, func(ok bool, format string, args ...any) {
		if !ok {
			t.complain(o, format, args...)
		}
	})
	if new && o.ID != "" {
		o.idAt = t.now()
	}
}

// hearResult takes the answer to a Generate. A repeated asynchronous call is answered as the first
// was, so that its status says nothing.
func (t *listener) hearResult(o *order, began moment, r imagegen.Result) {
	if r.Replayed {
		t.w.met.Add("replayed", 1)
	}
	if !o.request.Async {
		none := r.Balance == nil && !t.w.class.has(o.User) // what a former sponsor has is not a member's to see
		if none || r.Balance != nil && r.Balance.Credits < 0 || !r.Status.Terminal() {
			t.complain(o, "it was answered with status %s and balance %v", r.Status, r.Balance)
		}
		t.hear(o, began, r.Generation)
		return
	}
	if r.Status != imagegen.StatusQueued || r.Balance != nil {
		t.complain(o, "it was accepted with status %s and balance %v", r.Status, r.Balance)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	t.same(o, r.Generation)
}

// same holds what a generation was made of against what was asked for. The order is locked.
func (t *listener) same(o *order, g imagegen.Generation) {
	q := o.request
	if g.Prompt != q.Prompt || g.Model != q.Model || g.N != q.N || g.Size != q.Size || g.Quality != q.Quality ||
		g.ReferenceCount != len(q.References) || g.CreditsRequested != o.price()*imagegen.Credits(q.N) {
		t.complain(o, "another one was shown: %+v", g)
	}
	t.tell(o, witness.Accepted, g)
}

// hear takes how an order stands.
func (t *listener) hear(o *order, began moment, g imagegen.Generation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t.same(o, g)
	at := stageOf(g.Status)
	for later := at + 1; later < stages; later++ {
		if heard := o.stages[later]; heard != 0 && heard < began {
			t.complain(o, "it is %s, and had come further", g.Status)
		}
	}
	if o.stages[at] == 0 {
		o.stages[at] = t.now()
	}
	t.hearShown(o, began, g)
	if !g.Status.Terminal() && (len(g.Images) > o.request.N || g.Credits != 0 || g.Failure != nil) {
		t.complain(o, "it is %s with %d images and %d credits", g.Status, len(g.Images), g.Credits)
	}
}

// hearShown takes which images are there: one that was heard of before the call began stays. The order is locked.
func (t *listener) hearShown(o *order, began moment, g imagegen.Generation) {
	there := func(id imagegen.ImageID) bool {
		return slices.ContainsFunc(g.Images, func(i imagegen.Image) bool { return i.ID == id })
	}
	for id, heard := range o.shown {
		if heard < began && !there(id) {
			t.complain(o, "image %s was shown, and is gone: it is %s with %d images", id, g.Status, len(g.Images))
		}
	}
	if o.shown == nil {
		o.shown = map[imagegen.ImageID]moment{}
	}
	for _, i := range g.Images {
		if o.shown[i.ID] == 0 {
			o.shown[i.ID] = t.now()
		}
	}
}

// hearError takes the error of a Generate, and reports whether asking again makes sense.
func (t *listener) hearError(o *order, began moment, err error) (again bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kind := witness.KindOf(o.request.Async, err)
	e, coded := errors.AsType[*imagegen.Error](err)
	if !coded || e.Code == imagegen.CodeInternal { // nobody can know
		t.tell(o, kind, imagegen.Generation{})
		return true
	}
	if e.Replayed {
		t.w.met.Add("replayed", 1)
	}
	known := o.ID != "" && o.idAt < began && o.request.IdempotencyKey != ""
	switch e.Code {
	case imagegen.CodeOverloaded:
		t.w.met.Add("unavailable", 1)
		return true
	case imagegen.CodeIdempotencyKeyInUse:
		t.tell(o, witness.Accepted, imagegen.Generation{ID: e.Generation})
		return true
	case imagegen.CodeGenerationFailed:
		t.tell(o, kind, imagegen.Generation{ID: e.Generation})
		return false
	case imagegen.CodeInsufficientCredits:
		t.w.met.Add("refused", 1)
	case imagegen.CodeIdempotencyKeyReused:
		t.w.met.Add("key reused", 1)
	case imagegen.CodeChargeRefused: // its sponsor pays no more
		t.w.met.Add("refused to members", 1)
		if known = false; !t.w.class.has(o.User) {
			t.complain(o, "it was answered with %v", err)
		}
	case imagegen.CodeNotFound:
		known = o.Erasure == witness.Standing && !o.shared
	default:
		t.complain(o, "it was answered with %v", err)
	}
	if known {
		t.complain(o, "it was accepted, and then answered with %v", err)
	}
	return false
}

// missing takes the answer that there is no such order.
func (t *listener) missing(o *order) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Erasure == witness.Standing {
		t.complain(o, "it was there, and is not any more")
	}
}

// hearImage takes what the bytes of an image are.
func (t *listener) hearImage(o *order, id imagegen.ImageID, sum [32]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.HearImage(id, sum, func(ok bool, format string, args ...any) {
		if !ok {
			t.complain(o, format, args...)
		}
	})
}

// hearList takes all of a user's generations, as they were listed.
func (t *listener) hearList(u imagegen.UserID, began moment, listed []imagegen.Generation) {
	there := map[imagegen.GenerationID]bool{}
	for n, g := range listed {
		if n > 0 && g.ID >= listed[n-1].ID {
			t.w.Errorf("%s is listed behind %s", g.ID, listed[n-1].ID)
		}
		there[g.ID] = true
		t.mu.Lock()
		o := t.byPrompt[g.Prompt]
		t.mu.Unlock()
		if o == nil || o.User != u {
			t.w.Errorf("user %s was shown %q of another, or of nobody", u, g.Prompt)
			continue
		}
		t.hear(o, began, g)
	}
	for _, o := range t.all() {
		o.mu.Lock()
		if o.User == u && o.ID != "" && o.idAt < began && o.Erasure == witness.Standing && !there[o.ID] {
			t.complain(o, "it is not listed")
		}
		o.mu.Unlock()
	}
}
