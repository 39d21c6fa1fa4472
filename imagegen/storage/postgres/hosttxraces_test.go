package postgres_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

const (
	hostTransactions = 1000
	hostsAtOnce      = 2 // of each node
)

// customers are few, so that transactions meet.
var customers = func() (all []imagegen.UserID) {
	for n := range 12 {
		all = append(all, imagegen.UserID(fmt.Sprintf("customer_%02d", n)))
	}
	return all
}()

// A thousand transactions of three nodes, which end in every way at once, leave the host's table, the queue, the books,
// the feed and the spool as if they had come one after the other.
func TestGenerateTxRaces(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	s.is.NoErr(s.db.KeepFeed(t.Context(), true))
	feed, stop := followFeed(t, s.db)
	for _, u := range customers {
		_, err := s.db.Grant(t.Context(), imagegen.Grant{User: u, Credits: 5000})
		s.is.NoErr(err)
	}
	_, err := s.pool.Exec(t.Context(), "alter database "+databaseOf(t, s.url)+" set deadlock_timeout = '20ms'")
	s.is.NoErr(err)
	t.Cleanup(func() {
		_, err := s.pool.Exec(context.Background(), "alter database "+databaseOf(t, s.url)+" reset deadlock_timeout")
		s.is.NoErr(err)
	})
	s.work()
	r := &races{t: t, files: new(atomic.Int64)}
	var all sync.WaitGroup
	for range 3 {
		pool, db, e := s.node()
		for range hostsAtOnce {
			all.Go(func() {
				for r.begun.Add(1) <= hostTransactions && !t.Failed() {
					r.transaction(pool, db, e)
				}
			})
		}
	}
	all.Wait()
	is := is.New(t)
	eventually(t, "all work has ended", func() bool { return s.queued() == 0 && unsettled(t, s.db) == 0 })
	var generations, orders, both int
	is.NoErr(s.pool.QueryRow(t.Context(), fmt.Sprintf(`select count(g.id), count(o.generation), count(g.id || o.generation)
 from orders o full join %s.generations g on g.id = o.generation`, pgx.Identifier{postgrestest.Unusual}.Sanitize())).
		Scan(&generations, &orders, &both))
	is.Equal([]int{generations, orders}, []int{both, both})
	is.Equal(orders, int(r.committed.Load()))
	is.Equal(len(s.files.References()), int(r.files.Load())) // of what was prepared and never accepted, for an hour
	var left imagegen.Credits
	for _, u := range customers {
		left += s.balance(u)
	}
	is.Equal(left, imagegen.Credits(5000*len(customers))-imagegen.Credits(r.spent.Load()))
	stop()
	compareFeed(t, s.db, feed, customers)
	t.Logf("%d orders committed, %d transactions repeated, %d files left", orders, r.repeated.Load(), r.files.Load())
}

func unsettled(t *testing.T, db *postgres.DB) int {
	t.Helper()
	_, n, err := db.Unsettled(context.Background(), "", 1)
	is.New(t).NoErr(err)
	return n
}

// races counts what its transactions have done.
type races struct {
	t                          *testing.T
	begun                      atomic.Int64
	committed, spent, repeated atomic.Int64
	files                      *atomic.Int64 // references that belong to no generation
}

// wanted is one request of a transaction.
type wanted struct {
	user     imagegen.UserID
	prepared *engine.Prepared
	credits  imagegen.Credits
	file     bool
}

// transaction orders for one to three users, and ends in one of several ways. One that failed for the sake of others is
// repeated with the same prepared requests, as is one that was rolled back, half of the time.
func (r *races) transaction(pool *pgxpool.Pool, db *postgres.DB, e *engine.Engine) {
	ctx := context.Background()
	var all []wanted
	for range 1 + rand.IntN(3) {
		all = append(all, r.want(ctx, e))
	}
	if rand.IntN(10) > 0 { // else deadlocks are to be expected
		slices.SortFunc(all, func(a, b wanted) int { return cmp.Compare(a.user, b.user) })
	}
	for {
		made, err := r.attempt(ctx, pool, db, e, all)
		if code := codeOf(err); code == "40P01" || code == "40001" || errors.Is(err,
			errRolledBack) && rand.IntN(2) == 0 {
			r.repeated.Add(1)
			continue
		}
		if err != nil && !errors.Is(err, errRolledBack) {
			r.t.Error(err)
		}
		for i, w := range all {
			switch {
			case err == nil && made[i]:
				r.committed.Add(1)
				r.spent.Add(int64(w.credits))
			case w.file:
				r.files.Add(1)
			}
		}
		return
	}
}

var keysOfRaces atomic.Int64

// want prepares a request. Some have the key of one that somebody else may have asked for just now.
func (r *races) want(ctx context.Context, e *engine.Engine) wanted {
	w := wanted{user: customers[rand.IntN(len(customers))]}
	q := ask("")
	q.N = 1 + rand.IntN(3)
	w.credits = imagegen.Credits(q.N)
	switch rand.IntN(3) {
	case 0:
		q.IdempotencyKey = fmt.Sprint(keysOfRaces.Add(1))
	case 1:
		q.IdempotencyKey, q.N, w.credits = fmt.Sprint("shared ", keysOfRaces.Load()/20), 1, 1
	}
	if q.IdempotencyKey != "" {
		q.IdempotencyKey = fmt.Sprintf("%x", q.IdempotencyKey)
	}
	if w.file = q.N > 1 && rand.IntN(2) == 0; w.file {
		q.References = []imagegen.Reference{picture(16)}
	}
	var err error
	if w.prepared, err = e.As(w.user).Prepare(ctx, q); err != nil {
		r.t.Error(err)
	}
	return w
}

var errRolledBack = errors.New("the host has thought better of it")

// attempt runs the transaction once. made says which of the requests were not answered with another one's generation.
func (r *races) attempt(ctx context.Context, pool *pgxpool.Pool, db *postgres.DB, e *engine.Engine,
	all []wanted) (made []bool, err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: []pgx.TxIsoLevel{pgx.RepeatableRead,
		pgx.Serializable, pgx.ReadCommitted}[min(2, rand.IntN(16))]})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(ctx)
	for _, w := range all {
		got, err := e.As(w.user).GenerateTx(ctx, db.In(tx), w.prepared)
		if err != nil {
			return nil, err
		}
		if made = append(made, !got.Replayed); got.Replayed {
			continue
		}
		if _, err = tx.Exec(ctx, `insert into orders values ($1, $1)`, string(got.ID)); err != nil {
			return nil, err
		}
	}
	switch rand.IntN(10) {
	case 0:
		return nil, errRolledBack
	case 1: // the process is killed
		_ = conn.Conn().Close(ctx)
		return nil, errRolledBack
	}
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	e.As("alice").Wake()
	return made, nil
}
