package model_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
)

// grant gives somebody credits; with the storage's own ledger, some of them expire.
func (w *service) grant(t *rapid.T) {
	w.grants++
	g := imagegen.Grant{User: pick(t, "user", alice, "bob"),
		Credits: pick[imagegen.Credits](t, "credits", 30, 12, 50, 4), Priority: imagegen.DefaultPriority,
		Ref: fmt.Sprint("grant ", w.grants)}
	w.books.look(time.Now())
	if w.outsideLedger != nil {
		w.outsideLedger.deposit(g.User, g.Credits)
	} else {
		g.Promo, g.Priority = pick(t, "promo", false, true), pick(t, "priority", imagegen.DefaultPriority, 1)
		if lives := pick(t, "lives", 0, 5*time.Hour, time.Hour, 30*time.Hour); lives > 0 {
			g.Expires = w.books.now.Truncate(time.Hour).Add(lives)
		}
		if g.Expires.Equal(w.books.now) {
			g.Expires = g.Expires.Add(time.Hour)
		}
		if _, err := w.Grant(w.Context(), g); err != nil {
			w.Fatal(err)
		}
	}
	if _, err := w.books.grant(g); err != nil {
		w.Fatal(err)
	}
}

func (w *service) sleep(t *rapid.T) {
	time.Sleep(pick(t, "sleep", time.Second, 7*time.Second, time.Minute, 31*time.Second, 3*time.Minute))
}

// jump moves the wall clock. No lease ends by it, and nothing waits longer or shorter.
func (w *service) jump(t *rapid.T) {
	w.books.look(time.Now())
	w.books.clock.jump(pick(t, "jump", time.Hour, 5*time.Second, 3*time.Hour, 25*time.Hour, -25*time.Hour, -2*time.Hour,
		12*time.Hour))
	w.storeHandle.Now() // the next leap counts from here
	w.books.look(time.Now())
}

// confirm says that the wall clock is right.
func (w *service) confirm(*rapid.T) {
	if err := w.storeHandle.ConfirmClock(w.Context()); err != nil {
		w.Fatal(err)
	}
	w.books.confirmClock()
}

// recovered is how long it takes at most until a lease that has ended is noticed on both sides.
const recovered = lease/2 + lease/3 + time.Second + time.Millisecond

// fill leaves the store no space for new work.
func (w *service) fill(*rapid.T) { w.gate.full.Store(true) }

func (w *service) makeRoom(t *rapid.T) {
	if !w.gate.full.Swap(false) {
		t.SkipNow()
	}
}

func (w *service) drain(t *rapid.T) {
	if !w.up {
		t.SkipNow()
	}
	w.stop(t, pick(t, "patience", 0, 5*time.Second))
}

func (w *service) die(t *rapid.T) {
	if !w.up {
		t.SkipNow()
	}
	w.crash(t)
}

// restart begins another process, over a directory that was closed and opened.
func (w *service) restart(t *rapid.T) {
	if w.up {
		t.SkipNow()
	}
	w.start(t)
}

func (w *service) start(t *rapid.T) {
	if w.durable() && w.process != nil {
		w.books.closed()
		w.storeHandle.close(t)
		w.storeHandle.open(t)
		w.books.opened()
		w.reopened()
	}
	full := w.process != nil && w.gate.full.Load()
	w.process = newProcess(t, w.database, w.ledger(), w.shelf, w.diary)
	w.gate.full.Store(full)
}

// reopened is what a store that is opened again makes of delays: what is left of them by the service's
// time. None takes longer than it was to take, wherever the clock was set.
func (w *service) reopened() {
	real := time.Now()
	now := w.books.clock.now(real)
	for _, o := range w.orders {
		o.notBefore = real.Add(max(0, min(o.wait, o.due.Sub(now))))
	}
}

// longestWait is how long a provider may ask to wait at most.
const longestWait = time.Minute
