package simulation_test

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/go-cmp/cmp"
	"github.com/imagegend/imagegend/imagegen"
)

// witness keeps what clients were told, and complains of what contradicts it.
type witness struct {
	w     *world
	users []imagegen.UserID
	clock atomic.Uint64

	mu       sync.Mutex
	orders   []*order
	byPrompt map[string]*order
	sums     map[imagegen.ImageID][32]byte
}

func newWitness(w *world) *witness {
	return &witness{w: w, byPrompt: map[string]*order{}, sums: map[imagegen.ImageID][32]byte{}}
}

func (t *witness) add(o *order) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.orders = append(t.orders, o)
	t.byPrompt[o.request.Prompt] = o
}

func (t *witness) all() []*order {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.orders)
}

// now is a moment. What was heard before a call began binds its answer.
func (t *witness) now() moment { return moment(t.clock.Add(1)) }

func (t *witness) complain(o *order, format string, args ...any) {
	t.w.Errorf("order %q (%s, key %q): "+format, append([]any{o.request.Prompt, o.id, o.request.IdempotencyKey}, args...)...)
}

// hearResult takes the answer to a Generate. A repeated asynchronous call is answered as the first
// was, so that its status says nothing.
func (t *witness) hearResult(o *order, began moment, r imagegen.Result) {
	if r.Replayed {
		t.w.met.Add("replayed", 1)
	}
	if !o.request.Async {
		if r.Balance == nil || r.Balance.Credits < 0 || !r.Status.Terminal() {
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
func (t *witness) same(o *order, g imagegen.Generation) {
	q := o.request
	if g.Prompt != q.Prompt || g.Model != q.Model || g.N != q.N || g.Size != q.Size || g.Quality != q.Quality ||
		g.ReferenceCount != len(q.References) || g.CreditsRequested != o.price()*imagegen.Credits(q.N) {
		t.complain(o, "another one was shown: %+v", g)
	}
	t.name(o, g.ID)
}

// name notes its identifier. The order is locked.
func (t *witness) name(o *order, id imagegen.GenerationID) {
	if o.id == "" {
		o.id, o.idAt = id, t.now()
	}
	if o.id != id || id == "" {
		t.complain(o, "it has another identifier, too: %q", id)
	}
}

// hear takes how an order stands.
func (t *witness) hear(o *order, began moment, g imagegen.Generation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t.same(o, g)
	at := stageOf(g.Status)
	for later := at + 1; later < stages; later++ {
		if told := o.stages[later]; told != 0 && told < began {
			t.complain(o, "it is %s, and had come further", g.Status)
		}
	}
	if o.stages[at] == 0 {
		o.stages[at] = t.now()
	}
	t.hearShown(o, began, g)
	switch {
	case !g.Status.Terminal() && (len(g.Images) > o.request.N || g.Credits != 0 || g.Failure != nil):
		t.complain(o, "it is %s with %d images and %d credits", g.Status, len(g.Images), g.Credits)
	case g.Status.Terminal():
		t.hearEnd(o, g)
	}
}

// hearShown takes which images are there: one that was heard of before the call began stays. The order is locked.
func (t *witness) hearShown(o *order, began moment, g imagegen.Generation) {
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

// hearEnd takes the end of an order, which is the same whoever tells it. The order is locked.
func (t *witness) hearEnd(o *order, g imagegen.Generation) {
	if g.Credits != o.price()*imagegen.Credits(len(g.Images)) || (g.Failure == nil) != (len(g.Images) > 0) ||
		len(g.Images) > o.request.N || g.CompletedAt.IsZero() {
		t.complain(o, "it ended as %+v", g)
	}
	g = bare(g)
	if o.final == nil {
		o.final = &g
	}
	if !reflect.DeepEqual(*o.final, g) { // cmp takes its time
		t.complain(o, "its end has changed: %s", cmp.Diff(*o.final, g))
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

// hearError takes the error of a Generate, and reports whether asking again makes sense.
func (t *witness) hearError(o *order, began moment, err error) (again bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e, coded := errors.AsType[*imagegen.Error](err)
	if !coded || e.Code == imagegen.CodeInternal { // nobody can know
		o.doubt = true
		return true
	}
	if e.Replayed {
		t.w.met.Add("replayed", 1)
	}
	known := o.id != "" && o.idAt < began && o.request.IdempotencyKey != ""
	switch e.Code {
	case imagegen.CodeOverloaded:
		t.w.met.Add("unavailable", 1)
		return true
	case imagegen.CodeIdempotencyKeyInUse:
		if e.Generation != "" {
			t.name(o, e.Generation)
		}
		return true
	case imagegen.CodeGenerationFailed:
		t.name(o, e.Generation)
		return false
	case imagegen.CodeInsufficientCredits:
		t.w.met.Add("refused", 1)
	case imagegen.CodeIdempotencyKeyReused:
		t.w.met.Add("key reused", 1)
	case imagegen.CodeNotFound:
		known = o.erase == standing && !o.shared
	default:
		t.complain(o, "it was answered with %v", err)
	}
	if known {
		t.complain(o, "it was accepted, and then answered with %v", err)
	}
	return false
}

// missing is told that there is no such order.
func (t *witness) missing(o *order) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.erase == standing {
		t.complain(o, "it was there, and is not any more")
	}
}

// hearImage takes what the bytes of an image are.
func (t *witness) hearImage(id imagegen.ImageID, sum [32]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if former, ok := t.sums[id]; ok && former != sum {
		t.w.Errorf("image %s has changed", id)
	}
	t.sums[id] = sum
}

// hearList takes all of a user's generations, as they were listed.
func (t *witness) hearList(u imagegen.UserID, began moment, listed []imagegen.Generation) {
	there := map[imagegen.GenerationID]bool{}
	for n, g := range listed {
		if n > 0 && g.ID >= listed[n-1].ID {
			t.w.Errorf("%s is listed behind %s", g.ID, listed[n-1].ID)
		}
		there[g.ID] = true
		t.mu.Lock()
		o := t.byPrompt[g.Prompt]
		t.mu.Unlock()
		if o == nil || o.user != u {
			t.w.Errorf("user %s was shown %q of another, or of nobody", u, g.Prompt)
			continue
		}
		t.hear(o, began, g)
	}
	for _, o := range t.all() {
		o.mu.Lock()
		if o.user == u && o.id != "" && o.idAt < began && o.erase == standing && !there[o.id] {
			t.complain(o, "it is not listed")
		}
		o.mu.Unlock()
	}
}
