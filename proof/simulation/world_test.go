package simulation_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
	"github.com/imagegend/imagegend/proof/internal/figures"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// plan is what a seed decides about a world as a whole.
type plan struct {
	joint       bool // the ledger commits with the store; else it shares no transaction with it
	overHTTP    bool
	hosts       int // processes of the service at once, over one storage
	concurrency int
	maxQueued   int
	rushes      int     // times at which all clients come
	faults      float64 // share of the calls to the storage that fail; 0: there are no outages either
	misdeed     float64 // share of the calls of the provider that are not good
}

const (
	users       = 4
	customers   = 20
	betweenRush = 30 * time.Minute
)

func newPlan(seed uint64) plan {
	d := newDice(seed, "plan")
	return plan{
		joint:       d.chance(0.5),
		overHTTP:    d.chance(0.4),
		hosts:       1 + d.below(2),
		concurrency: 2 + d.below(3),
		maxQueued:   4 + d.below(12),
		rushes:      4 + d.below(6),
		faults:      pick(d, []float64{0, 0.002, 0.01, 0.02}),
		misdeed:     pick(d, []float64{0.2, 0.4, 0.6}),
	}
}

// world is one run of the simulation.
type world struct {
	*testing.T
	is   *is.I
	seed uint64
	plan plan
	dice *dice
	met  *figures.Figures

	db, books *memory.DB // the same where they are joint
	shelf     *witness.Shelf
	excuse    *excuses
	listener  *listener
	upstream  *upstream
	hosts     []*host
	keys      map[imagegen.UserID]string // of the API
	transport *http.Transport
	granted   []witness.Grant
	class     *class
	feed      storagetest.FeedReader // of a program that reads beside all this

	skew   atomic.Int64   // of the clock of the service, in nanoseconds
	outage atomic.Bool    // most calls fail
	full   atomic.Bool    // there is no space for images
	calm   atomic.Bool    // nothing fails any more
	late   sync.WaitGroup // what is still on its way; the world's own part is done when it is calm
}

func newWorld(t *testing.T, seed uint64, met *figures.Figures) *world {
	w := &world{T: t, is: is.New(t), seed: seed, plan: newPlan(seed), dice: newDice(seed, "world"), met: met,
		excuse: newExcuses(), keys: map[imagegen.UserID]string{}}
	w.late.Add(1)
	w.db = memory.New(&memory.Options{Now: w.now})
	w.is.NoErr(w.db.KeepFeed(context.Background(), true))
	w.books = w.db
	if !w.plan.joint {
		w.books = memory.New(&memory.Options{Now: w.now})
	}
	w.shelf = witness.NewShelf(w.db, &spool{})
	w.listener = newListener(w)
	w.upstream = &upstream{world: w, calls: map[string]int{}}
	w.transport = &http.Transport{DialContext: w.dial}
	for n := range w.plan.hosts {
		w.hosts = append(w.hosts, &host{w: w, name: fmt.Sprintf("host%d", n)})
	}
	return w
}

// now is the clock of the service.
func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.skew.Load())) }

func (w *world) faultRate() float64 {
	if w.outage.Load() {
		return 0.6
	}
	return w.plan.faults
}

// run is the whole history.
func (w *world) run() {
	began := time.Now()
	w.settle()
	ctx, end := context.WithCancel(w.Context())
	var hosts, clients sync.WaitGroup
	for _, h := range w.hosts {
		hosts.Go(func() { h.run(ctx) })
	}
	for n := range customers {
		c := newCustomer(w, n)
		clients.Go(c.run)
	}
	hosts.Go(func() { w.readFeed(ctx) })
	clients.Go(w.operate)
	clients.Go(w.class.run)
	clients.Wait()
	end()
	hosts.Wait()
	w.calmDown()
	w.judge()
	w.met.Add("minutes", int(time.Since(began).Minutes()))
}

// settle makes users and keys, by a process of its own.
func (w *world) settle() {
	w.calm.Store(true)
	defer w.calm.Store(false)
	e := w.hosts[0].boot()
	defer e.drain(time.Minute)
	for n := range users {
		u, err := e.engine.Accounts().CreateUser(w.Context(), fmt.Sprintf("user%d", n), "")
		w.is.NoErr(err)
		raw, _, err := e.engine.Accounts().MintKey(w.Context(), u.ID, "", time.Time{})
		w.is.NoErr(err)
		w.keys[u.ID] = raw.Reveal()
		w.listener.users = append(w.listener.users, u.ID)
	}
	w.class = newClass(w, e.engine)
}

// operate grants credits, lets the clock jump and things go wrong for a while.
func (w *world) operate() {
	for n := range w.plan.rushes {
		for _, u := range w.listener.users {
			w.grant(u, n)
		}
		switch w.dice.weighted(4, 3, 3, 2) {
		case 1:
			if w.plan.faults > 0 {
				w.during(&w.outage)
			}
		case 2:
			w.during(&w.full)
		case 3:
			w.jump()
		}
		time.Sleep(betweenRush)
	}
}

// readFeed reads the feed once a minute, until ctx ends.
func (w *world) readFeed(ctx context.Context) {
	for ctx.Err() == nil {
		w.is.NoErr(w.feed.Read(context.WithoutCancel(ctx), w.db))
		sleep(ctx, time.Minute)
	}
}

func (w *world) during(trouble *atomic.Bool) {
	time.Sleep(w.dice.between(0, time.Minute))
	trouble.Store(true)
	time.Sleep(w.dice.between(5*time.Second, 3*time.Minute))
	trouble.Store(false)
}

// jump moves the clock ahead, so that credits expire, or a little back.
func (w *world) jump() {
	d := w.dice.between(time.Minute, longestJump)
	if w.dice.chance(0.3) {
		d = -w.dice.between(time.Second, longestBack)
	}
	w.skew.Add(int64(d))
}

const (
	longestJump = 5 * time.Hour
	longestBack = 10 * time.Minute
)

// grant gives a user, or who pays for it, about what the next rush will cost, in lots of which some expire. As
// operators do, it asks twice when in doubt.
func (w *world) grant(u imagegen.UserID, n int) {
	g := imagegen.Grant{User: w.class.payer(u), Credits: imagegen.Credits(10 + w.dice.below(45)),
		Promo: w.dice.chance(0.2), Ref: fmt.Sprint(u, n)}
	if w.dice.chance(0.5) {
		g.Expires = w.now().Add(time.Hour + w.dice.between(time.Minute, 12*time.Hour))
	}
	for range 1 + w.dice.below(2) {
		if _, err := w.books.Grant(w.Context(), g); err != nil {
			w.Error(err)
		}
	}
	w.granted = append(w.granted, witness.Grant{User: g.User, Ref: g.Ref, Credits: g.Credits,
		Answer: witness.Succeeded})
}

// calmDown ends all faults and gives recovery the time that it needs at most.
func (w *world) calmDown() {
	w.calm.Store(true)
	w.full.Store(false)
	w.late.Done()
	w.late.Wait()
	last := w.hosts[0].boot()
	time.Sleep(time.Duration(w.plan.rushes)*longestBack + time.Hour)
	last.drain(time.Minute)
	w.transport.CloseIdleConnections()
}
