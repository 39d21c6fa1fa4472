package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// mostTries is how often a transaction is run that others are in the way of.
const mostTries = 20

// failure is what a session panics with where the database fails it.
type failure struct{ error }

// spared runs f and returns the failure, or the damage, that it meets.
func spared(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.error
		case kv.Damage:
			err = p
		default:
			panic(p)
		}
	}()
	return f()
}

// retried runs a transaction until others are not in its way.
func retried(run func() error) (err error) {
	for try := range mostTries {
		if err = run(); !again(err) {
			return err
		}
		// In whole microseconds, as all times here are: a proof in virtual time compares them.
		time.Sleep(time.Duration(rand.Int64N(1000<<min(try, 6))) * time.Microsecond)
	}
	return contended(err)
}

// errContended: a transaction was run as often as it may be, and something was in its way each time.
var errContended = errors.New("postgres: it was run too often in vain")

func contended(err error) error {
	return fmt.Errorf("%w: %w: %v", imagegen.ErrNotApplied, errContended, err)
}

// work runs f in a transaction of its own, beside those of the committer. ctx counts until the transaction begins. f
// may run several times; with an error nothing that it wrote stands.
func (db *DB) work(ctx context.Context, f func(*session) error) error {
	return db.workAfter(ctx, nil, f)
}

// workAfter is work in a transaction that first does what first adds, such as to take a lock; nil: nothing.
func (db *DB) workAfter(ctx context.Context, first func(*pgx.Batch), f func(*session) error) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.calls.Done()
	return retried(func() error {
		s, err := db.alone(f, first)
		if err == nil {
			s.committed()
		}
		return err
	})
}

// worked is work by an f that returns something. With an error there is nothing: f may have run in vain before.
func worked[V any](ctx context.Context, db *DB, f func(*session) (V, error)) (v V, err error) {
	err = db.work(ctx, func(s *session) error {
		v, err = f(s)
		return err
	})
	if err != nil {
		v = *new(V)
	}
	return v, err
}

// update is work in which nobody else acts. Those of this process wait for each other here, and hold no connection
// meanwhile.
func (db *DB) update(ctx context.Context, f func(*session) error) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	within, cancel := db.patiently(ctx)
	defer cancel()
	select {
	case db.acting <- struct{}{}:
		defer func() { <-db.acting }()
	case <-within.Done():
		return unread(ctx, errQueue)
	}
	return db.workAfter(ctx, lockActs, f)
}

// errQueue: those who came before take too long.
var errQueue = errors.New("earlier writes are still waiting for the database")

// alone runs f in one transaction. first adds to what the transaction begins with; nil: nothing.
func (db *DB) alone(f func(*session) error, first func(*pgx.Batch)) (*session, error) {
	ctx, cancel := context.WithTimeout(context.Background(), longestTransaction)
	defer cancel()
	c, err := db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer c.release()
	s := newSession(ctx, db, c, true)
	var b pgx.Batch
	b.Queue(begin)
	b.Queue(db.settings(0))
	if first != nil {
		first(&b)
	}
	s.prefetch(&b, need{})
	if err := s.send(&b); err != nil {
		return nil, s.abandon(err)
	}
	if err := spared(func() error { return f(s) }); err != nil {
		return nil, s.abandon(err)
	}
	return s, s.commit(1)
}

// lockActs takes the lock of all acts.
func lockActs(b *pgx.Batch) { b.Queue(`select from imagegend.acts for update`) }

var readOnly = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// view runs f over a snapshot. imagegen.ErrNotApplied: the database cannot be reached, or was lost on the way.
func (db *DB) view(ctx context.Context, f func(*session) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := db.snapshot(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	err = spared(func() error { return f(s.session) })
	if err != nil && s.conn.Conn.Conn().IsClosed() && !imagegen.Definite(err) {
		return unread(ctx, err)
	}
	return err
}

// send does a batch in one round trip.
func (s *session) send(b *pgx.Batch) error {
	ctx, cancel := s.trip()
	defer cancel()
	return s.conn.SendBatch(ctx, b).Close()
}

// abandon rolls the transaction back, which has written nothing that stands.
func (s *session) abandon(why error) error {
	ctx, cancel := s.db.patiently(s.ctx)
	defer cancel()
	if _, err := s.conn.Exec(ctx, "rollback"); err != nil {
		s.conn.Conn.Conn().Close(ctx)
	} else if codeOf(why) == codeReadOnly {
		s.leaveStandby(ctx)
	}
	if again(why) {
		return why
	}
	if codeOf(why) != "" || s.conn.Conn.Conn().IsClosed() || s.ctx.Err() != nil {
		if !imagegen.Definite(why) {
			return notBegun(why)
		}
	}
	return why
}

// leaveStandby closes all connections of the pool if this one leads to a standby. A pooler between keeps a connection
// open while the server behind it falls over and comes back as the standby of another: nothing but a refused write
// tells. The next connection is made to a server that takes writes, if the database's address asks for one
// (target_session_attrs). A primary that takes no writes for a while is not left, since it still answers reads.
func (s *session) leaveStandby(ctx context.Context) {
	var standby bool
	if err := s.conn.QueryRow(ctx, "select pg_is_in_recovery()").Scan(&standby); err == nil && standby {
		s.db.pool.Reset()
	}
}

// commit commits what some calls want written, and reports it to the Observer.
func (s *session) commit(calls int) error {
	began := time.Now()
	err := s.flushAndCommit()
	kv.Observe(s.db.observer, "Config.Observer", s.db.log, time.Since(began), calls, err)
	return err
}

// flushAndCommit writes what is to be written and commits, in one round trip.
func (s *session) flushAndCommit() error {
	var b pgx.Batch
	s.flush(&b)
	b.Queue("commit")
	s.db.trips.Add(int64(s.trips) + 1)
	s.db.commits.Add(1)
	err := s.send(&b)
	switch {
	case err == nil && s.conn.warned.Load():
		return fmt.Errorf("%w: no standby has confirmed it", ErrOutcomeUnknown)
	case err == nil:
		return nil
	case s.conn.warned.Load() || !undone(err):
		ctx, cancel := s.db.patiently(s.ctx)
		defer cancel()
		s.conn.Conn.Conn().Close(ctx)
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return s.abandon(err)
}
