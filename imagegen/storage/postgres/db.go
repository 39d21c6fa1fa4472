package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Config says which database, and how it is used.
type Config struct {
	// URL is the database's address: postgres://user:password@host:5432/name?sslmode=verify-full. Several hosts
	// may be named, and target_session_attrs=read-write finds the primary among them. Without
	// default_query_exec_mode no statement stays prepared, so that PgBouncer may stand between in transaction
	// mode; default_query_exec_mode=cache_statement saves the database some work where nothing stands between.
	URL string
	// Connections are the most that are open at once; 0: 16.
	Connections int
	// Images is where images lie, for Audit; nil: it looks at none.
	Images imagegen.ImageStore
	// Now is the wall clock, for tests; nil: the database's.
	Now func() time.Time
	// KeepFor is how long users and keys are believed that were read before; 0: a second, below 0: not at all.
	KeepFor time.Duration
	// Poll is how often whoever waits for work looks for what other processes have brought; 0: each second.
	Poll time.Duration
	// Observer is told of each commit ([imagegen.EventCommitted]), with the time that it took. nil: nobody is.
	Observer imagegen.Observer
	Log      *slog.Logger // nil: silent
}

// DB is an open database. It is an [imagegen.JointStore], which holds users and keys too, and the
// [imagegen.CreditAdmin] that commits with it. It is an [account.LoginStore], [account.OperatorKeyStore],
// [imagegen.Inspector], [account.TrailStore] and [imagegen.Timekeeper] as well. It is safe for concurrent use, in any number of processes.
//
// Where a write comes back with [imagegen.ErrNotApplied], it changed nothing; with [ErrOutcomeUnknown], nobody knows.
type DB struct {
	accounts
	logins
	opkeys
	trails

	pool      *pgxpool.Pool
	books     *ledger.Ledger
	tables    *tables.Tables
	failures  *trail.Failures
	clock     databaseClock
	committer *committer
	images    imagegen.ImageStore
	observer  imagegen.Observer // nil: there is none
	log       *slog.Logger
	wake      wake
	turns     turns

	acting chan struct{} // who acts

	trips, commits atomic.Int64 // so far

	state      sync.RWMutex // guards closed against calls that begin
	closed     bool
	calls      sync.WaitGroup
	background sync.WaitGroup
	quit       context.CancelFunc
}

// The embedded interfaces have lower-case names: what DB is made of is nobody else's business.
type (
	accounts = imagegen.AccountStore
	logins   = account.LoginStore
	opkeys   = account.OperatorKeyStore
	trails   = account.TrailStore
)

var (
	_ imagegen.JointStore = (*DB)(nil)
	_ imagegen.Inspector  = (*DB)(nil)
	_ account.LoginStore  = (*DB)(nil)

	_ account.OperatorKeyStore = (*DB)(nil)

	_ imagegen.CreditAdmin = (*DB)(nil)
	_ account.TrailStore   = (*DB)(nil)
	_ imagegen.Timekeeper  = (*DB)(nil)
)

const (
	defaultConnections = 16
	defaultKeepFor     = time.Second
	defaultPoll        = time.Second
)

// Open connects to a database, and brings its schema to this version. Whoever opens closes. It ends nobody's
// leases.
//
// ErrNewerSchema. ErrUnsafe: the database may lose what it has acknowledged. [transfer.ErrMoved]: see [OpenEnd].
func Open(ctx context.Context, c Config) (*DB, error) {
	db, err := connect(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := db.refuseMoved(ctx); err != nil {
		db.pool.Close()
		return nil, err
	}
	db.start(cmp.Or(c.KeepFor, defaultKeepFor))
	return db, nil
}

// connect opens the books of a database, and has nobody work on them.
func connect(ctx context.Context, c Config) (*DB, error) {
	settings, err := configure(c.URL)
	if err != nil {
		return nil, err
	}
	settings.MaxConns = int32(cmp.Or(c.Connections, defaultConnections))
	log := cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", withoutPassword(err))
	}
	db := &DB{pool: pool, images: c.Images, observer: c.Observer, log: log, clock: databaseClock{given: c.Now}, wake: wake{every: cmp.Or(c.Poll, defaultPoll)}, quit: func() {}, acting: make(chan struct{}, 1)}
	if err := db.prepare(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	if db.books, err = ledger.New(rowsDB{db}, db.clock.now); err != nil {
		pool.Close()
		return nil, err
	}
	return db, nil
}

// start begins to work.
func (db *DB) start(keepFor time.Duration) {
	db.tables = tables.New(keptDB{db}, db.books)
	db.tables.KeepFor(keepFor)
	db.accounts, db.logins, db.opkeys = db.tables, db.tables, db.tables
	t := trail.New(keptDB{db}, func() time.Time { return db.books.Read().Wall })
	db.trails, db.failures = t, t.Failures
	db.committer = newCommitter(db)
	background, quit := context.WithCancel(context.Background())
	db.quit = quit
	db.background.Go(func() { db.upkeep(background) })
}

// prepare looks at the database, and makes its schema that of this version.
func (db *DB) prepare(ctx context.Context) error {
	all, err := readMigrations()
	if err != nil {
		return err
	}
	c, err := db.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("postgres: the database cannot be reached: %w", withoutPassword(err))
	}
	defer c.Release()
	if err := checkDatabase(ctx, c.Conn()); err != nil {
		return err
	}
	if _, err := migrate(ctx, c.Conn(), all); err != nil {
		return err
	}
	var at time.Time
	if err := c.QueryRow(ctx, now).Scan(&at); err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	db.clock.saw(at)
	return nil
}

// upkeepEvery is how often what is in no hurry is looked after.
const upkeepEvery = time.Minute

// upkeep writes off expired credits. Each process tries; what one has written off the others do not find.
func (db *DB) upkeep(ctx context.Context) {
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := db.books.ExpireAll(ctx); err != nil && ctx.Err() == nil {
			db.log.Warn("expired credits were not written off", "error", err)
		}
	}
}

var errClosed = fmt.Errorf("%w: postgres: the database is closed", imagegen.ErrNotApplied)

// enter notes a write that begins; calls.Done ends it.
func (db *DB) enter() error {
	db.state.RLock()
	defer db.state.RUnlock()
	if db.closed {
		return errClosed
	}
	db.calls.Add(1)
	return nil
}

// Close waits for writes that have begun and ends the connections; writes that come later are refused with
// [imagegen.ErrNotApplied]. It may be called again. Close after [engine.Engine.Stop].
func (db *DB) Close() error {
	db.quit()
	db.background.Wait()
	err := db.writeLast()
	db.state.Lock()
	was := db.closed
	db.closed = true
	db.state.Unlock()
	if was {
		return nil
	}
	db.calls.Wait()
	db.committer.stop()
	db.wake.all()
	db.pool.Close()
	if err != nil {
		return fmt.Errorf("postgres: closing: %w", err)
	}
	return nil
}

// writeLast writes down what is known in memory alone.
func (db *DB) writeLast() error {
	ctx, cancel := context.WithTimeout(context.Background(), longestBegin)
	defer cancel()
	err := errors.Join(db.failures.WriteCounts(ctx), db.books.Remember(ctx))
	if errors.Is(err, errClosed) {
		return nil
	}
	return err
}

// UserPage implements [imagegen.Inspector].
func (db *DB) UserPage(ctx context.Context, q imagegen.UserQuery) (imagegen.UserPage, error) {
	return db.tables.UserPage(ctx, q)
}
