package memory

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/feed"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// store implements imagegen.TxStore, except Joins, account.LoginStore and account.OperatorKeyStore in plain maps. The
// transactions of the ledger's rows guard them: they are read in any transaction, and changed at the end of one that
// writes, when nothing can fail any more. A *generation belongs to the store; callers get clones of its record.
type store struct {
	rows  *ledger.Memory
	books *ledger.Ledger

	generations map[imagegen.GenerationID]*generation
	open        map[imagegen.GenerationID]*generation // those that have not ended, or are being erased
	listed      map[imagegen.UserID][]*generation     // all of a user's, sorted by identifier
	// in the order in which they came with the key; the last one holds it
	reserved map[reservation][]*generation
	queue    queue
	totals   map[imagegen.TotalsKey]imagegen.Totals
	currency string // of their costs; "": none is noted
	feed     events

	users  map[imagegen.UserID]imagegen.User
	keys   map[imagegen.KeyID]imagegen.Key
	hashes map[[32]byte]imagegen.KeyID // of keys

	operatorKeys map[imagegen.OperatorKeyID]account.OperatorKey
	logins       map[imagegen.UserID]account.Login
	signIns      map[[32]byte]account.SignIn
	invitations  map[[32]byte]account.Invitation
	passkeys     map[account.PasskeyID]account.Passkey
	identities   map[subject]account.Identity // each of them is in ofUsers too
	ofUsers      map[member]subject
	secret       [32]byte
	marks        map[[32]byte]time.Time // until when they are kept
}

// generation is a record, with what the queue and the leases need.
type generation struct {
	imagegen.Record
	joint bool      // charged in the commit that accepted it
	due   time.Time // of a queued record that is delayed, by the steady clock; zero: it is due
	until time.Time // the end of its lease, by the steady clock; counts only while it runs
}

// reservation is an idempotency key of a user, by its hash: more than that is not left after an erasure.
type reservation struct {
	user imagegen.UserID
	hash [32]byte
}

func newStore(rows *ledger.Memory, books *ledger.Ledger) *store {
	s := &store{rows: rows, books: books,
		generations: make(map[imagegen.GenerationID]*generation), open: make(map[imagegen.GenerationID]*generation),
		listed: make(map[imagegen.UserID][]*generation), reserved: make(map[reservation][]*generation),
		totals: make(map[imagegen.TotalsKey]imagegen.Totals), queue: newQueue(),
		users: make(map[imagegen.UserID]imagegen.User), keys: make(map[imagegen.KeyID]imagegen.Key),
		hashes: make(map[[32]byte]imagegen.KeyID), operatorKeys: make(map[imagegen.OperatorKeyID]account.OperatorKey),
		logins: make(map[imagegen.UserID]account.Login), signIns: make(map[[32]byte]account.SignIn),
		invitations: make(map[[32]byte]account.Invitation), passkeys: make(map[account.PasskeyID]account.Passkey),
		identities: make(map[subject]account.Identity), ofUsers: make(map[member]subject),
		marks: make(map[[32]byte]time.Time)}
	rand.Read(s.secret[:]) // never fails
	books.Granted = func(_ ledger.Tx, u imagegen.UserID) error { return rules.Granted(lookup{s}, u) }
	books.Wrote = s.tellEntry
	return s
}

// writeRecord runs f in a transaction that writes, and returns a copy of the record that f returns.
func (s *store) writeRecord(ctx context.Context, f func(tx ledger.Tx, at clock.Reading) (imagegen.Record, error)) (
	r imagegen.Record, err error) {
	at := s.books.Read()
	err = s.rows.Update(ctx, func(tx ledger.Tx) (err error) {
		r, err = f(tx, at)
		r = rules.Clone(r)
		return err
	})
	return r, err
}

// view runs f while nothing is written. What f returns to callers it must clone.
func (s *store) view(ctx context.Context, f func() error) error {
	return s.rows.View(ctx, func(ledger.Tx) error { return f() })
}

// read returns what f reads while nothing is written. What can change f must clone.
func read[V any](ctx context.Context, s *store, f func() (V, error)) (v V, err error) {
	err = s.view(ctx, func() (err error) {
		v, err = f()
		return err
	})
	return v, err
}

// Create implements [imagegen.Store].
func (s *store) Create(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := rules.New(r); err != nil {
		return imagegen.Record{}, err
	}
	return s.writeRecord(ctx, func(_ ledger.Tx, at clock.Reading) (imagegen.Record, error) {
		if stands := s.generations[r.ID]; stands != nil {
			return stands.Record, nil
		}
		if err := rules.Asked(lookup{s}, r, at); err != nil {
			return imagegen.Record{}, err
		}
		if err := rules.Unlimited(lookup{s}, r); err != nil {
			return imagegen.Record{}, err
		}
		return s.put(&generation{}, r, at, at.Steady.Add(lease)), nil
	})
}

// CreateCharged implements [imagegen.TxStore]. It makes the charge before it changes the maps: if the charge is
// refused, nothing has to be undone.
func (s *store) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := rules.New(r); err != nil {
		return imagegen.Record{}, err
	}
	return s.writeRecord(ctx, func(tx ledger.Tx, at clock.Reading) (imagegen.Record, error) {
		g := s.generations[r.ID]
		switch {
		case g == nil:
			if err := rules.Asked(lookup{s}, r, at); err != nil {
				return imagegen.Record{}, err
			}
			g = &generation{Record: r, joint: true}
		case g.State != imagegen.StateCharging:
			return g.Record, nil
		}
		to, _, err := g.Apply(r.Attempt, imagegen.AcceptChange{})
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
	return s.writeRecord(ctx, func(tx ledger.Tx, at clock.Reading) (imagegen.Record, error) {
		g, to, changed, err := s.applyChange(f, c)
		if err != nil || !changed {
			return g.Record, err
		}
		done, act := rules.Act(c, g.Record, to)
		r, err := s.change(tx, g, to, at, time.Time{})
		if err == nil && act {
			done.Time, done.Actor = at.Now, account.ActorOf(ctx)
			err = tx.Note(done)
		}
		return r, err
	})
}

// FinishSettled implements [imagegen.TxStore]. It returns a record that has ended unchanged.
func (s *store) FinishSettled(ctx context.Context, f imagegen.Fence,
	o imagegen.OutcomeChange) (imagegen.Record, error) {
	return s.writeRecord(ctx, func(tx ledger.Tx, at clock.Reading) (imagegen.Record, error) {
		g, to, _, err := s.applyChange(f, o)
		if err != nil || to.Terminal() {
			return g.Record, err
		}
		if to, err = rules.Settle(lookup{s}, s.books.At(tx, at), to, o.AccountType); err != nil {
			return g.Record, err
		}
		return s.change(tx, g, to, at, time.Time{})
	})
}

// applyChange computes a change to a generation without making it. imagegen.ErrStale: there is no such generation, or
// another attempt owns it. g is never nil, so that its record can be returned.
func (s *store) applyChange(f imagegen.Fence, c imagegen.Change) (g *generation, to imagegen.Record, changed bool,
	err error) {
	if g = s.generations[f.ID]; g == nil {
		return &generation{}, to, false, imagegen.ErrStale
	}
	to, changed, err = g.Apply(f.Attempt, c)
	return g, to, changed, err
}

// change is put, after it has checked that the record fits its charge, if that was made in the same commit.
func (s *store) change(tx ledger.Tx, g *generation, to imagegen.Record, at clock.Reading,
	until time.Time) (imagegen.Record, error) {
	if g.joint {
		if err := rules.Charged(tx, to, true); err != nil {
			return g.Record, err
		}
	}
	if e, some := feed.OfRecord(g.Record, to, at.Now); some {
		s.happened(tx, e)
	}
	return s.put(g, to, at, until), nil
}

// put makes a generation what to says, in all maps: it adds a new one, and removes one that is gone. until is the end
// of a new lease. Zero: the generation keeps the lease that it has, or gets a short one when it begins to run.
func (s *store) put(g *generation, to imagegen.Record, at clock.Reading, until time.Time) imagegen.Record {
	former, waited := g.Record, g.waits()
	if s.generations[to.ID] == nil {
		former = imagegen.Record{}
		s.generations[to.ID] = g
		s.list(g, to)
	}
	// What has been forgotten, or was abandoned, does not hold its idempotency key any more.
	if former.IdempotencyKey != "" && to.IdempotencyKey == "" || to.State == imagegen.StateGone {
		s.release(g, former)
	}
	g.lease(former, to, at.Steady, until)
	if change := to.Totals().Minus(former.Totals()); change != (imagegen.Totals{}) {
		s.totals[to.TotalsKey()] = s.totals[to.TotalsKey()].Plus(change)
	}
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
	s.queue.moved(s.open, waited, g) // last, for it looks at what is open now
	return to
}

// list adds a new generation to those of its user, and to those of its idempotency key.
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

// forget removes a generation that was abandoned before it was charged.
func (s *store) forget(g *generation, former imagegen.Record) {
	delete(s.generations, former.ID)
	s.listed[former.User] = slices.DeleteFunc(s.listed[former.User], func(o *generation) bool { return o == g })
}

// release removes a generation from those of its idempotency key. An earlier one may hold the key then.
func (s *store) release(g *generation, former imagegen.Record) {
	key := reservation{former.User, imagegen.IdempotencyHash(former.IdempotencyKey)}
	s.reserved[key] = slices.DeleteFunc(s.reserved[key], func(o *generation) bool { return o == g })
	if len(s.reserved[key]) == 0 {
		delete(s.reserved, key)
	}
}

// Currency implements [imagegen.TotalsKeeper].
func (s *store) Currency(ctx context.Context, code string, replace bool) (noted string, err error) {
	err = s.rows.Update(ctx, func(ledger.Tx) error {
		if s.currency == "" || replace {
			s.currency = code
		}
		noted = s.currency
		return nil
	})
	return noted, err
}

// EachTotals implements [imagegen.TotalsKeeper].
func (s *store) EachTotals(ctx context.Context, from, to time.Time, f func(imagegen.TotalsRow)) error {
	return s.view(ctx, func() error {
		for k, t := range s.totals {
			if !k.Day.Before(from) && !k.Day.After(to) {
				f(imagegen.TotalsRow{TotalsKey: k, Totals: t})
			}
		}
		return nil
	})
}
