package crash_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

const (
	alice, bob = imagegen.UserID("alice"), imagegen.UserID("bob")
	granted    = 100 // to each
)

// world is what outlives a process: the databases, the files and the upstream. It runs one process
// at a time.
type world struct {
	*testing.T
	scenario
	setup
	dir          string     // of the database, if it is in one
	url          string     // of the database, if it has one
	files        *memory.DB // beside that
	db           database
	books        database // db itself, if they commit together
	shelf        *witness.Shelf
	upstream     *upstream
	clientOrders []*clientOrder // with the answers of all processes
	keys         keyring
	class        class
	faults       []fault                // that were met
	feed         storagetest.FeedReader // of a program that reads beside all processes
	ahead        atomic.Int64
	refusing     atomic.Bool // the ledger refuses to settle, for good

	steps  *steps // of the process that runs
	engine *engine.Engine
}

func newWorld(t *testing.T, s scenario, p setup) *world {
	w := &world{T: t, scenario: s, setup: p, upstream: newUpstream()}
	w.Cleanup(w.explain)
	w.mount()
	w.grant()
	if w.members {
		w.enrol()
	}
	return w
}

func (w *world) grant() {
	for _, u := range []imagegen.UserID{alice, bob} {
		g := imagegen.Grant{User: u, Credits: granted}
		if w.expiring > 0 {
			g.Expires = time.Now().Add(w.expiring)
		}
		_, err := w.books.Grant(context.Background(), g)
		w.fact(err == nil, "granting: %v", err)
	}
}

// now is the time of the processes, which may have gone ahead.
func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

// pass has so much time gone by since the beginning. The clock is confirmed, for nothing else tells a day that has
// passed at once from a leap.
func (w *world) pass(d time.Duration) {
	w.ahead.Store(int64(d))
	if err := w.db.ConfirmClock(context.Background()); err != nil && !w.steps.gone() {
		w.Error(err)
	}
}

// boot starts a process.
func (w *world) boot(s *steps) *engine.Engine {
	db, books := w.node(), w.books
	if w.joins() {
		books = db
	}
	model := engine.Model{ID: "m", Provider: &provider{w.upstream, s, w.order, w.charged, w.Errorf},
		Credits: map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: 1}}
	service, err := engine.New(engine.Config{
		Store:     store{db, s, w.joins()},
		Ledger:    ledger{books, s, &w.refusing},
		Images:    images{w.shelf, s},
		Spool:     spool{w.shelf, s},
		Models:    []engine.Model{model},
		Retention: engine.Retention{Generations: w.retain, FailedPrompts: w.forget},

		LedgerCalls: engine.LedgerCalls{Tries: 1}, // so that each step that fails counts
		Now:         w.now,
	})
	if err == nil {
		err = service.Start()
	}
	if err != nil {
		w.Fatal(err)
	}
	return service
}

// standIn starts another process if the one that runs stands still.
func (w *world) standIn(over <-chan struct{}) {
	select {
	case <-w.steps.halted:
		other := w.boot(newSteps(0, ""))
		<-over
		if err := other.Stop(context.Background()); err != nil {
			w.Error(err)
		}
	case <-over:
	}
}

// halt ends the process: at once if it has died, else when its work is done.
func (w *world) halt(patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if w.steps.gone() {
		cancel()
	}
	if err := w.engine.Stop(ctx); err != nil && !w.steps.stood() { // for its work stands still too
		w.Error(err)
	}
}

// live runs a process while clients play, until nothing is open any more or it has died. reached
// reports whether it came to the step at which something happens.
func (w *world) live(s *steps, play func(*world)) (reached bool) {
	if w.steps != nil {
		w.remount()
	}
	w.steps, w.engine = s, w.boot(s)
	over := make(chan struct{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		w.standIn(over)
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		w.readFeed(over)
	}()
	go func() {
		defer close(over)
		play(w)
		w.settle()
	}()
	<-over
	<-read
	if reached = s.seal(); reached {
		w.faults = append(w.faults, s.kind)
	}
	if !s.gone() {
		time.Sleep(10 * time.Minute) // what is left behind is seen to
	}
	w.halt(time.Hour)
	<-gone
	return reached
}

// readFeed reads the feed once a minute.
func (w *world) readFeed(over <-chan struct{}) {
	for {
		err := w.feed.Read(context.Background(), w.db)
		w.fact(err == nil, "the feed cannot be read: %v", err)
		select {
		case <-time.After(time.Minute):
		case <-over:
			return
		}
	}
}

// settle waits until no generation is open, or the process has died.
func (w *world) settle() {
	for range 3600 {
		if w.steps.gone() || w.unfinished() == 0 {
			return
		}
		time.Sleep(time.Second)
	}
	w.Errorf("%d generations are still open after an hour", w.unfinished())
}

// unfinished is how many generations have not ended.
func (w *world) unfinished() (n int) {
	for _, r := range w.records() {
		if !r.Terminal() && r.State != imagegen.StateErased {
			n++
		}
	}
	return n
}

// records are all generations of which anybody has ever heard, or could have.
func (w *world) records() []imagegen.Record { return w.service().Records(context.Background(), w.fact) }
