package memory

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// store implements imagegen.JointStore, but for Joins, in plain maps. They are guarded by the transactions of
// the ledger's rows, and changed as the last thing in one, when nothing can be refused any more.
type store struct {
	rows  *ledger.Memory
	books *ledger.Ledger

	generations map[imagegen.GenerationID]*generation
	open        map[imagegen.GenerationID]*generation // those that have not ended, or are being erased
	listed      map[imagegen.UserID][]*generation     // all of a user's, by identifier
	reserved    map[reservation][]*generation         // in the order in which they came by an idempotency key
	queue       queue

	users  map[imagegen.UserID]imagegen.User
	keys   map[imagegen.KeyID]imagegen.Key
	hashes map[[32]byte]imagegen.KeyID // of keys
}

// generation is a record, and what its queue and its lease need.
type generation struct {
	imagegen.Record
	joint bool      // charged in the commit that accepted it
	due   time.Time // of a queued record that is delayed
	until time.Time // the end of its lease
}

type reservation struct {
	user imagegen.UserID
	hash [32]byte
}

func newStore(rows *ledger.Memory, books *ledger.Ledger) *store {
	return &store{rows: rows, books: books,
		generations: make(map[imagegen.GenerationID]*generation), open: make(map[imagegen.GenerationID]*generation),
		listed: make(map[imagegen.UserID][]*generation), reserved: make(map[reservation][]*generation), queue: newQueue(),
		users: make(map[imagegen.UserID]imagegen.User), keys: make(map[imagegen.KeyID]imagegen.Key), hashes: make(map[[32]byte]imagegen.KeyID)}
}

// write runs f in a transaction and returns a copy of what it returns.
func (s *store) write(ctx context.Context, f func(tx ledger.Tx, at clock.Reading) (imagegen.Record, error)) (r imagegen.Record, err error) {
	at := s.books.Read()
	err = s.rows.Update(ctx, func(tx ledger.Tx) (err error) {
		r, err = f(tx, at)
		r = rules.Clone(r)
		return err
	})
	return r, err
}

// read runs f while nothing is written.
func (s *store) read(ctx context.Context, f func() error) error {
	return s.rows.View(ctx, func(ledger.Tx) error { return f() })
}

// Create implements [imagegen.Store].
func (s *store) Create(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := rules.New(r); err != nil {
		return imagegen.Record{}, err
	}
	return s.write(ctx, func(_ ledger.Tx, at clock.Reading) (imagegen.Record, error) {
		if stands := s.generations[r.ID]; stands != nil {
			return stands.Record, nil
		}
		if err := rules.Asked(lookup{s}, r); err != nil {
			return imagegen.Record{}, err
		}
		if err := rules.Unlimited(lookup{s}, r); err != nil {
			return imagegen.Record{}, err
		}
		return s.put(&generation{}, r, at, at.Steady.Add(lease)), nil
	})
}

// CreateCharged implements [imagegen.JointStore].
func (s *store) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := rules.New(r); err != nil {
		return imagegen.Record{}, err
	}
	return s.write(ctx, func(tx ledger.Tx, at clock.Reading) (imagegen.Record, error) {
		g := s.generations[r.ID]
		switch {
		case g == nil:
			if err := rules.Asked(lookup{s}, r); err != nil {
				return imagegen.Record{}, err
			}
			g = &generation{Record: r, joint: true}
		case g.State != imagegen.StateCharging:
			return g.Record, nil
		}
		to, _, err := g.Apply(r.Attempt, imagegen.Accept{})
		if err != nil {
			return g.Record, err
		}
		if err := rules.Charge(lookup{s}, s.books.At(tx, at), to); err != nil {
			return imagegen.Record{}, err
		}
		return s.change(tx, g, to, at, at.Steady.Add(lease))
	})
}

// Update implements [imagegen.Store].
func (s *store) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	return s.write(ctx, func(tx ledger.Tx, at clock.Reading) (imagegen.Record, error) {
		g, to, changed, err := s.apply(f, c)
		if err != nil || !changed {
			return g.Record, err
		}
		done, act := rules.Act(c, g.Record, to)
		r, err := s.change(tx, g, to, at, time.Time{})
		if err == nil && act {
			done.Time, done.Actor = at.Wall, account.ActorOf(ctx)
			err = tx.Note(done)
		}
		return r, err
	})
}

// FinishSettled implements [imagegen.JointStore].
func (s *store) FinishSettled(ctx context.Context, f imagegen.Fence, o imagegen.Outcome) (imagegen.Record, error) {
	return s.write(ctx, func(tx ledger.Tx, at clock.Reading) (imagegen.Record, error) {
		g, to, _, err := s.apply(f, o)
		if err != nil || to.Terminal() {
			return g.Record, err
		}
		if to, err = rules.Settle(s.books.At(tx, at), to, o.AccountType); err != nil {
			return g.Record, err
		}
		return s.change(tx, g, to, at, time.Time{})
	})
}

// apply is the change to a generation. imagegen.ErrStale if there is none, or another attempt owns it.
func (s *store) apply(f imagegen.Fence, c imagegen.Change) (g *generation, to imagegen.Record, changed bool, err error) {
	if g = s.generations[f.ID]; g == nil {
		return &generation{}, to, false, imagegen.ErrStale
	}
	to, changed, err = g.Apply(f.Attempt, c)
	return g, to, changed, err
}

// change is put of a record that fits its charge, where that was made with it.
func (s *store) change(tx ledger.Tx, g *generation, to imagegen.Record, at clock.Reading, until time.Time) (imagegen.Record, error) {
	if g.joint {
		if err := rules.Charged(tx, to, true); err != nil {
			return g.Record, err
		}
	}
	return s.put(g, to, at, until), nil
}

// put writes down what a generation has become, in all maps. until is the end of a new lease; zero: it
// keeps the one that it has, or gets a short one when it begins to run.
func (s *store) put(g *generation, to imagegen.Record, at clock.Reading, until time.Time) imagegen.Record {
	former, waited := g.Record, g.waits()
	if s.generations[to.ID] == nil {
		former = imagegen.Record{}
		s.generations[to.ID] = g
		s.list(g, to)
	}
	if former.IdempotencyKey != "" && to.IdempotencyKey == "" || to.State == imagegen.StateGone {
		s.release(g, former)
	}
	g.lease(former, to, at.Steady, until)
	g.Record, g.due = rules.Clone(to), time.Time{}
	if to.State == imagegen.StateQueued && to.Delay > 0 {
		g.due = at.Steady.Add(to.Delay)
	}
	delete(s.open, to.ID)
	if to.Unsettled() || to.Running() {
		s.open[to.ID] = g
	}
	if to.State == imagegen.StateGone {
		s.forget(g, former)
	}
	s.queue.moved(s.open, waited, g)
	return to
}

// list puts a generation among its user's, and where its idempotency key is looked for.
func (s *store) list(g *generation, r imagegen.Record) {
	i, _ := slices.BinarySearchFunc(s.listed[r.User], r.ID, byID)
	s.listed[r.User] = slices.Insert(s.listed[r.User], i, g)
	if r.IdempotencyKey != "" {
		key := reservation{r.User, imagegen.IdempotencyHash(r.IdempotencyKey)}
		s.reserved[key] = append(s.reserved[key], g)
	}
}

func byID(g *generation, id imagegen.GenerationID) int {
	return strings.Compare(string(g.ID), string(id))
}

// forget drops a generation that was never charged.
func (s *store) forget(g *generation, former imagegen.Record) {
	delete(s.generations, former.ID)
	s.listed[former.User] = slices.DeleteFunc(s.listed[former.User], func(o *generation) bool { return o == g })
}

// release has nobody find a generation by its idempotency key any more.
func (s *store) release(g *generation, former imagegen.Record) {
	key := reservation{former.User, imagegen.IdempotencyHash(former.IdempotencyKey)}
	s.reserved[key] = slices.DeleteFunc(s.reserved[key], func(o *generation) bool { return o == g })
	if len(s.reserved[key]) == 0 {
		delete(s.reserved, key)
	}
}
