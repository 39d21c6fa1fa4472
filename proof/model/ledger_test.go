package model_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/proof/internal/figures"
)

// After any operations in any order, the ledger answers as the books do, and both are equal.
func TestLedger(t *testing.T) {
	for name, open := range storages {
		t.Run(name, func(t *testing.T) {
			prove(t, "model-ledger-"+name, func(t *rapid.T, met *figures.Figures) { newLedgerRun(t, open, met).run() })
		})
	}
}

func TestLedgerOnPostgres(t *testing.T) {
	open := onPostgres(postgrestest.Start(t))
	proveOnPostgres(t, "model-ledger-postgres", func(t *rapid.T, met *figures.Figures) {
		newLedgerRun(t, open, met).run()
	})
}

var users = []imagegen.UserID{"alice", "bob", "bobby"}

// members are paid for by any user.
var members = []imagegen.UserID{"carol", "dora"}

// ledgerRun does the same to the ledger and to the books.
type ledgerRun struct {
	*rapid.T
	*storeHandle
	books *books
	met   *figures.Figures
	again func() // repeats the last operation
}

func newLedgerRun(t *rapid.T, open opener, met *figures.Figures) *ledgerRun {
	b := newBooks()
	w := &ledgerRun{T: t, books: b, met: met, again: func() {}}
	w.storeHandle = open(t, func() time.Time { return time.Now().Add(b.clock.ahead()) })
	if w.durable() {
		b.opened()
	}
	return w
}

func (w *ledgerRun) run() {
	actions := map[string]func(*rapid.T){"": w.compare}
	weighted(actions, 5, "grant", w.grant)
	weighted(actions, 6, "charge", w.charge)
	weighted(actions, 6, "settle", w.settle)
	weighted(actions, 1, "revoke", w.revoke)
	weighted(actions, 1, "hurry", w.hurry)
	weighted(actions, 3, "repeat", func(*rapid.T) { w.again() })
	weighted(actions, 1, "history", w.page)
	weighted(actions, 1, "sleep", w.sleep)
	weighted(actions, 1, "jump", w.jump)
	weighted(actions, 1, "verify", func(t *rapid.T) { w.audit(t) })
	weighted(actions, 1, "confirm", w.confirm)
	if w.durable() {
		weighted(actions, 1, "reopen", w.reopen)
	}
	w.Repeat(actions)
	w.met.Add("steps", -1) // compare ran once before the first
	w.met.Add("entries", len(w.books.journal))
	for _, u := range users {
		w.samePage(u, 0, 1000)
	}
	report := w.audit(w.T)
	if report.Entries != len(w.books.journal) || report.Lots != len(w.books.lots) ||
		report.Charges != len(w.books.charges) {
		w.Fatalf("the audit went over %+v; there are %d entries, %d lots and %d charges", report,
			len(w.books.journal), len(w.books.lots), len(w.books.charges))
	}
}

// do does something to both, remembers how to do it again, and holds the answers against each other.
// It reports whether anything changed.
func (w *ledgerRun) do(what string, ledger, books func() (any, error)) (changed bool) {
	w.Helper()
	entries := len(w.books.journal)
	w.books.look(time.Now())
	got, err := ledger()
	want, refusal := books()
	w.Logf("%v %s: %v", w.books.now, what, err)
	switch {
	case (err == nil) != (refusal == nil) || !errors.Is(err, refusal):
		w.Fatalf("%s: got %v, want %v", what, err, refusal)
	case err != nil && !imagegen.Definite(err):
		w.Fatalf("%s: %v does not say that nothing changed", what, err)
	case err == nil && !reflect.DeepEqual(want, got):
		w.Fatalf("%s: %s", what, cmp.Diff(want, got))
	case errors.Is(err, imagegen.ErrInsufficientCredits):
		w.met.Add("refused", 1)
	case err == nil && entries == len(w.books.journal):
		w.met.Add("replayed", 1)
	}
	w.again = func() { w.do(what+", again", ledger, books) }
	return err == nil && entries < len(w.books.journal)
}

func (w *ledgerRun) page(t *rapid.T) {
	before := uint64(rapid.IntRange(0, len(w.books.journal)+1).Draw(t, "before"))
	w.samePage(someUser(t), before, pick(t, "limit", 3, 1, 10, 0, 1000))
}

func (w *ledgerRun) samePage(u imagegen.UserID, before uint64, limit int) {
	w.Helper()
	w.books.look(time.Now())
	got, err := w.History(w.Context(), u, before, limit)
	if err != nil {
		w.Fatal(err)
	}
	if u == "" && len(got) > 0 {
		w.Fatalf("nobody has entries: %v", got)
	}
	if want := w.books.history(u, before, limit); u != "" && !slices.Equal(want, got) {
		w.Fatalf("history of %s: %s", u, cmp.Diff(want, got))
	}
}

func (w *ledgerRun) sleep(t *rapid.T) {
	time.Sleep(pick(t, "sleep", time.Second, 40*time.Second, 10*time.Minute, time.Hour, 3*time.Hour, time.Minute,
		time.Millisecond))
	synctest.Wait() // the upkeep may be due at this very moment
	w.books.catchUp(time.Now())
}

// jump moves the wall clock: back, ahead, and ahead so far that it is not believed.
func (w *ledgerRun) jump(t *rapid.T) {
	w.books.look(time.Now())
	w.books.clock.jump(pick(t, "jump", time.Hour, -time.Minute, 5*time.Hour, -2*time.Hour, 40*time.Hour, 20*time.Hour,
		-41*time.Hour, -20*time.Minute, 25*time.Hour, -25*time.Hour))
	w.Now() // the next leap counts from here
	w.books.look(time.Now())
}

func (w *ledgerRun) reopen(t *rapid.T) {
	w.books.closed()
	w.close(t)
	w.open(t)
	w.books.opened()
}

func (w *ledgerRun) confirm(*rapid.T) {
	if err := w.ConfirmClock(w.Context()); err != nil {
		w.Fatal(err)
	}
	w.books.confirmClock()
}

// compare holds all answers against the books.
func (w *ledgerRun) compare(t *rapid.T) {
	t.Helper()
	w.met.Add("steps", 1)
	w.books.look(time.Now())
	for _, u := range users {
		balance, err := w.Balance(t.Context(), u)
		if want := w.books.balance(u); err != nil || !reflect.DeepEqual(want, balance) {
			t.Fatalf("balance of %s: %v %s", u, err, cmp.Diff(want, balance))
		}
		lots, err := w.Lots(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		w.books.adopt(t, u, lots)
		if want := w.books.list(u); !slices.Equal(want, lots) {
			t.Fatalf("lots of %s: %s", u, cmp.Diff(want, lots))
		}
	}
	w.sameUse(t)
	if _, doubt := w.ClockInDoubt(); doubt != w.books.doubt || !w.Now().Equal(w.books.now) {
		t.Fatalf("the clock is in doubt: %t, and tells %v; want %t, %v, wall %v", doubt, w.Now(), w.books.doubt,
			w.books.now, w.now())
	}
}

// sameUse compares what users paid for members.
func (w *ledgerRun) sameUse(t *rapid.T) {
	t.Helper()
	for _, u := range users {
		for _, m := range members {
			use, err := w.MemberUse(t.Context(), u, m)
			use.Daily, use.Monthly = 0, 0
			if want := w.books.memberUse(u, m); err != nil || use != want {
				t.Fatalf("%s paid for %s: %v %s", u, m, err, cmp.Diff(want, use))
			}
		}
	}
}
