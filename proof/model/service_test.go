package model_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/proof/internal/figures"
)

// Whatever clients, the provider, the operator and the clock do, the service answers as the model
// does, and no credit and no image is lost or doubled.
func TestService(t *testing.T) {
	for name, s := range map[string]setup{
		"memory":  {open: inMemory},
		"storage": {open: onDisk},
		"outside": {open: inMemory, outside: true},
	} {
		t.Run(name, func(t *testing.T) {
			prove(t, "model-service-"+name, func(t *rapid.T, met *figures.Figures) { newService(t, s, met).run() })
		})
	}
}

func TestServiceOnPostgres(t *testing.T) {
	s := setup{open: onPostgres(postgrestest.Start(t))}
	proveOnPostgres(t, "model-service-postgres", func(t *rapid.T, met *figures.Figures) { newService(t, s, met).run() })
}

// setup is what the engine stands on.
type setup struct {
	open    opener
	outside bool // the ledger shares no transaction with the store
}

// service is an engine, from process to process, with the model of all that it was asked.
type service struct {
	*rapid.T
	*storeHandle
	*process
	books         *books
	outsideLedger *outsideLedger // nil: the ledger is the storage's own
	shelf         *shelf
	diary         *diary
	met           *figures.Figures

	keys     map[imagegen.UserID]limitedKey
	class    class
	orders   []*order
	byID     map[imagegen.GenerationID]*order
	holders  map[holder][]*order // of idempotency keys, the last one last
	calls    []*upcall           // under way
	latest   time.Time           // of the service's time; it falls when the clock is confirmed
	grants   int
	pictures int
}

type holder struct {
	user imagegen.UserID
	key  string
}

func newService(t *rapid.T, s setup, met *figures.Figures) *service {
	w := &service{T: t, books: newBooks(), shelf: &shelf{images: map[imagegen.ImageKey]bool{}}, diary: &diary{},
		met: met, byID: map[imagegen.GenerationID]*order{}, holders: map[holder][]*order{}}
	w.storeHandle = s.open(t, w.wall)
	if s.outside {
		w.books.outside = true
		w.outsideLedger = newOutsideLedger()
	}
	if w.durable() {
		w.books.opened()
	}
	t.Cleanup(func() { // also of a run that failed
		if w.process != nil {
			w.crash(t)
		}
	})
	w.start(t)
	w.mint(t)
	w.enrol(t)
	return w
}

// wall is the wall clock of the service.
func (w *service) wall() time.Time { return time.Now().Add(w.books.clock.ahead()) }

// at is a moment as the service writes it down.
func (w *service) at(real time.Time) time.Time {
	return w.books.clock.now(real).Truncate(time.Millisecond)
}

func (w *service) ledger() imagegen.Ledger {
	if w.outsideLedger != nil {
		return w.outsideLedger
	}
	return w.database
}

func (w *service) run() {
	w.Repeat(w.actions())
	w.met.Add("steps", -1) // verify ran once before the first
	w.finish()
}

func (w *service) actions() map[string]func(*rapid.T) {
	actions := map[string]func(*rapid.T){"": w.verify}
	step := func(weight int, name string, do func(*rapid.T)) {
		weighted(actions, weight, name, func(t *rapid.T) {
			time.Sleep(time.Millisecond) // no two steps at one moment
			w.quiet()
			do(t)
			w.quiet()
		})
	}
	step(8, "generate", w.generate)
	step(8, "end", w.end)
	step(4, "grant", w.grant)
	step(2, "deliver", w.deliver)
	step(1, "again", w.repeat)
	step(2, "sleep", w.sleep)
	step(1, "save a job", w.saveJob)
	step(1, "hang up", w.hangUp)
	step(1, "look", w.look)
	step(1, "erase", w.erase)
	step(1, "cancel", w.cancel)
	step(1, "jump", w.jump)
	step(1, "confirm", w.confirm)
	step(2, "sponsor", w.sponsor)
	step(1, "fill", w.fill)
	if w.outsideLedger != nil {
		step(1, "close the ledger", w.turnOutsideLedger)
		step(3, "resolve", w.resolve)
	}
	step(1, "drain", w.drain)
	step(1, "crash", w.die)
	step(1, "verify", func(t *rapid.T) { w.audit(t) })
	step(12, "make room", w.makeRoom)
	step(14, "restart", w.restart)
	return actions
}

// quiet lets the engine do all that it can at this moment, and reads what it did.
func (w *service) quiet() {
	w.Helper()
	synctest.Wait()
	lines := inOrder(w.diary.read())
	for i := range lines {
		w.read(w.refundedFirst(lines[i:]))
	}
	for _, o := range w.orders {
		if o.phase != concluding {
			continue
		}
		w.Fatalf("%s came to its end, and was not settled", o.request.Prompt)
	}
}

// refundedFirst takes a refund of the same moment before an order that was accepted after it. Who
// settles work that waited too long tells of it once that is done, and others go on meanwhile: which
// was first, the journal knows.
func (w *service) refundedFirst(lines []happening) happening {
	first := lines[0]
	if first.kind != accepted || first.order == nil || w.outsideLedger != nil {
		return first
	}
	journal, err := w.History(w.Context(), first.order.account(), 0, len(lines)+mostExpired) // newest first
	if err != nil {
		w.Fatal(err)
	}
	place := func(k imagegen.EntryKind, id imagegen.GenerationID) int {
		return slices.IndexFunc(journal, func(e imagegen.Entry) bool {
			return e.Kind == k && e.Charge == imagegen.ChargeID(id)
		})
	}
	charged := place(imagegen.EntryCharge, first.id)
	for i, h := range lines {
		if charged >= 0 && h.kind == settled && h.at.Equal(first.at) && place(imagegen.EntrySettle, h.id) > charged {
			copy(lines[1:i+1], lines[:i])
			return h
		}
	}
	return first
}

// mostExpired is more than what can have been written off beside the entries of one moment.
const mostExpired = 50
