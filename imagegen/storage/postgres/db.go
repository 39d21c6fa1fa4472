package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Config says which database, and how it is used.
type Config struct {
	// URL is the database's address: postgres://user:password@host:5432/name?sslmode=verify-full. It may name
	// several hosts; target_session_attrs=read-write then finds the primary among them. Unless it sets
	// default_query_exec_mode, no statement stays prepared, so that PgBouncer may stand between in transaction
	// mode. Where nothing stands between, default_query_exec_mode=cache_statement saves the database some work.
	URL string
	// Pool is a pool of the host program's, in the place of URL and Connections. The DB takes connections out of it,
	// gives them back as they were, and never closes it; close the DB first. Statements are sent as the pool says
	// (default_query_exec_mode). If the database has a synchronous standby, Watch has to know the pool's configuration.
	// The DB uses up to eight connections at once for what requests write, and one for each read and each claim. It
	// waits at most ten seconds for one, and then for each answer.
	Pool *pgxpool.Pool
	// Schema is the name of the schema in which everything lies, whatever it is, without quotes; "": DefaultSchema.
	// Each schema is a database of its own, and needs images of its own.
	Schema string
	// Migrate has Open bring the schema to this version, which takes the rights of its owner, see [Migrate]. Otherwise
	// it refuses one that is behind, or is not there: a program inside another changes no tables unasked.
	Migrate bool
	// Connections is how many may be open at once; 0: what pool_max_conns in the URL says, or 16.
	Connections int
	// Images is where the images lie that Audit compares with their records; nil: Audit compares none.
	Images imagegen.ImageStore
	// Now replaces the database's clock, in tests; nil: the database's clock.
	Now func() time.Time
	// KeepFor is how long users and keys that were read before are believed, and so how long a change that
	// another process makes may go unnoticed; a charge always reads them in its own transaction. 0: a second;
	// below 0: not at all.
	KeepFor time.Duration
	// Poll is how soon a channel of DB.Wake is closed when nothing happens in this process, so that work which
	// other processes bring is found; 0: a second.
	Poll time.Duration
	// Observer observes each commit ([imagegen.EventCommitted]) with the time that it took; nil: there is none. A
	// panic of the Observer is logged and changes nothing.
	Observer imagegen.Observer
	Log      *slog.Logger // nil: silent
}

// DB is an open database. It is an [imagegen.TxStore], which holds users and keys too, and the
// [imagegen.CreditAdmin] that commits with it. It is also an [account.LoginStore], [account.OperatorKeyStore],
// [account.TrailStore], [imagegen.Inspector] and [imagegen.Timekeeper]. It is safe for concurrent use, in any number
// of processes.
//
// A write that returns [imagegen.ErrNotApplied] changed nothing. After [ErrOutcomeUnknown] nobody knows whether it
// did; as every write is idempotent, the caller may repeat it.
type DB struct {
	accounts
	trails
	credits // but Charge and Settle, which go through the committer
	// the database's clock, as this process knows it, and judged as package clock judges it; it asks the database
	// nothing
	timekeeper

	pool      *pgxpool.Pool
	sql       inSchema      // sends statements over any connection of the pool
	hosted    bool          // the pool is the host's, which closes it
	watched   bool          // see Watch
	patience  time.Duration // longestAnswer; tests shorten it
	books     *ledger.Ledger
	tables    *tables.Tables
	failures  *trail.Failures
	clock     databaseClock
	committer *committer
	taken     *taken
	images    imagegen.ImageStore
	observer  imagegen.Observer // nil: there is none
	log       *slog.Logger
	wake      wake
	turns     turns

	// acting is held by the one transaction of this process that acts, see update; it has room for one. The lock
	// in the database would do for correctness, but a transaction that waits for that one holds a connection.
	acting chan struct{}

	unchained chan struct{} // has a value if this process has added rows to the trail

	trips, commits atomic.Int64 // round trips and commits of transactions that write, so far

	// state guards closed, and keeps calls.Add apart from calls.Wait: no call enters once closed is set.
	state      sync.RWMutex
	closed     bool
	calls      sync.WaitGroup     // writes under way
	background sync.WaitGroup     // upkeep
	marking    chan struct{}      // holds a value for each call of Mark
	quit       context.CancelFunc // ends it
}

// The embedded interfaces have lower-case names, so that they add methods to DB and no exported fields.
type (
	trails     = account.TrailStore
	credits    = imagegen.CreditAdmin
	timekeeper = imagegen.Timekeeper

	accounts interface { // what package tables does over the rows in kept
		imagegen.AccountStore
		account.LoginStore
		account.OperatorKeyStore
		UserPage(context.Context, imagegen.UserQuery) (imagegen.UserPage, error)
		Currency(ctx context.Context, code string, replace bool) (string, error)
		SetNotifyBelow(context.Context, imagegen.UserID, imagegen.Credits) error
		Tell(context.Context, imagegen.FeedEvent) error
	}
)

var (
	_ imagegen.TxStore      = (*DB)(nil)
	_ imagegen.HostTxStore  = (*DB)(nil)
	_ imagegen.Inspector    = (*DB)(nil)
	_ imagegen.TotalsKeeper = (*DB)(nil)
	_ imagegen.FeedKeeper   = (*DB)(nil)
	_ account.LoginStore    = (*DB)(nil)

	_ account.OperatorKeyStore = (*DB)(nil)

	_ imagegen.CreditAdmin = (*DB)(nil)
	_ account.TrailStore   = (*DB)(nil)
	_ imagegen.Timekeeper  = (*DB)(nil)

	_ imagegen.ReadinessChecker = (*DB)(nil)
	_ imagegen.Warner           = (*DB)(nil)
	_ imagegen.TurnTaker        = (*DB)(nil)
	_ imagegen.ChargeLister     = (*DB)(nil)
	_ imagegen.UsageWalker      = (*DB)(nil)
)

const (
	defaultConnections = 16
	defaultKeepFor     = time.Second
	defaultPoll        = time.Second
)

// Open connects to a database and, with Config.Migrate, brings its schema to this version; several processes may do so
// at once. ctx counts only until Open returns. The caller closes the DB. Open ends no leases: those of a process that
// died are recovered by others once they are over.
//
// ErrNewerSchema: the database needs a later program. ErrOlderSchema: it is behind, and Config.Migrate is not set, or
// the role may not change it. ErrUnsafe: the database may lose what it has acknowledged. [transfer.ErrMoved]:
// everything in it was moved, or is being moved, see [OpenTransferEndpoint].
func Open(ctx context.Context, c Config) (*DB, error) {
	db, err := connect(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := db.refuseMoved(ctx); err != nil {
		db.hangUp()
		return nil, err
	}
	db.start(cmp.Or(c.KeepFor, defaultKeepFor))
	if err := db.readFeed(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// connect opens a database as far as an audit or a move needs it: the schema, the ledger and its clock. It starts no
// goroutine, neither committer nor upkeep, and looks at no mark of a move; start does the rest.
func connect(ctx context.Context, c Config) (*DB, error) {
	schema, err := newSchema(c.Schema)
	if err != nil {
		return nil, err
	}
	log := cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	pool := c.Pool
	if pool == nil {
		pool, err = NewPool(ctx, c)
	} else if c.URL != "" || c.Connections != 0 {
		err = errors.New("postgres: Config has a Pool, which comes without URL and Connections")
	}
	if err != nil {
		return nil, err
	}
	db := &DB{pool: pool, sql: inSchema{pool, schema}, hosted: c.Pool != nil, patience: longestAnswer, images: c.Images,
		observer: c.Observer, log: log, clock: databaseClock{given: c.Now},
		wake: wake{every: cmp.Or(c.Poll, defaultPoll)}, quit: func() {}, acting: make(chan struct{}, 1),
		marking: make(chan struct{}, marksAtOnce), taken: newTaken(pool.Config().MaxConns),
		unchained: make(chan struct{}, 1)}
	if err := db.prepare(ctx, c.Migrate); err != nil {
		db.hangUp()
		return nil, err
	}
	if db.books, err = ledger.New(rowsDB{db}, db.clock.now); err != nil {
		db.hangUp()
		return nil, err
	}
	db.credits, db.timekeeper = db.books, db.books
	return db, nil
}

// NewPool returns the pool that Open makes of URL and Connections: its sessions are watched (Watch), and keep nothing
// that PgBouncer in transaction mode would lose. The caller closes it.
func NewPool(ctx context.Context, c Config) (*pgxpool.Pool, error) {
	settings, err := configure(c.URL)
	if err != nil {
		return nil, err
	}
	if c.Connections != 0 || !hasSetting(c.URL, "pool_max_conns") {
		settings.MaxConns = int32(min(cmp.Or(c.Connections, defaultConnections), math.MaxInt32))
	}
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", withoutPassword(err))
	}
	return pool, nil
}

// hangUp ends the connections, but not those of a host.
func (db *DB) hangUp() {
	if !db.hosted {
		db.pool.Close()
	}
}

// start makes the parts that work on the books, and starts their goroutines, which Close ends. Users, keys and the
// trail are the tables of the default storage over the rows in kept; the trail is dated by the wall clock, since its
// dates are for people.
func (db *DB) start(keepFor time.Duration) {
	db.tables = tables.New(keptDB{db}, db.books)
	db.tables.KeepFor(keepFor)
	db.accounts = db.tables
	t := trail.New(keptDB{db}, db.books.Now)
	db.trails, db.failures = t, t.Failures
	db.committer = newCommitter(db)
	// Before anything is dated: after a kill, it shows that a clock ran fast.
	if err := db.books.Remember(context.Background()); err != nil {
		db.log.Warn("the time could not be written; the next start will not know of it", "error", err)
	}
	background, quit := context.WithCancel(context.Background())
	db.quit = quit
	db.background.Go(func() { db.upkeep(background) })
}

// prepare refuses a database that cannot keep what is promised, before it changes anything there. Then it brings the
// schema to this version, or refuses one that is behind, and reads the database's clock for the first time: nothing may
// ask for the time before.
func (db *DB) prepare(ctx context.Context, change bool) error {
	return acquired(ctx, db.pool, func(c *pgxpool.Conn) error {
		_, db.watched = c.Conn().PgConn().CustomData()[warnedKey]
		if err := checkSchema(ctx, c, db.sql.schema, db.watched, change); err != nil {
			return err
		}
		var at time.Time
		if err := c.QueryRow(ctx, now).Scan(&at); err != nil {
			return fmt.Errorf("postgres: %w", err)
		}
		db.clock.saw(at)
		return nil
	})
}

// upkeepEvery is how often expired credits are written off. Nobody waits for it: they no longer count in any case.
const upkeepEvery = time.Minute

// upkeep chains the trail and writes off expired credits until ctx ends. The latter, and to chain what other processes
// have added, is for one of all processes at a time.
func (db *DB) upkeep(ctx context.Context) {
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	var chain <-chan time.Time
	for {
		select {
		case <-tick.C:
		case <-db.unchained:
			if chain == nil {
				chain = time.After(chainEvery)
			}
			continue
		case <-chain:
			chain = nil
			_ = db.chain(ctx) // if it fails, a later one does it
			continue
		case <-ctx.Done():
			return
		}
		if mine, err := db.Turn(ctx, "expiry", upkeepEvery/2); err != nil || !mine {
			continue // an error means that the database is away, which readiness reports
		}
		_ = db.chain(ctx)
		if err := db.books.ExpireAll(ctx); err != nil && ctx.Err() == nil {
			db.log.Warn("expired credits were not written off", "error", err)
		}
	}
}

var errClosed = fmt.Errorf("%w: postgres: the database is closed", imagegen.ErrNotApplied)

// enter notes a write that begins, which Close then waits for; the caller ends it with calls.Done. errClosed: no
// write may begin any more.
func (db *DB) enter() error {
	db.state.RLock()
	defer db.state.RUnlock()
	if db.closed {
		return errClosed
	}
	db.calls.Add(1)
	return nil
}

// Close waits for writes that have begun and ends the connections, unless they are a host's; writes that come later
// are refused with [imagegen.ErrNotApplied]. It may be called again. Close after [engine.Engine.Stop]. An error says
// that counts of failed sign-ins, or a doubt about the clock, could not be written down; the DB is closed all the
// same.
//
// The order matters: what is known in memory is written while writes are still accepted, the committer stops when no
// call is left that it would have to answer, and the pool closes last.
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
	db.hangUp()
	if err != nil {
		return fmt.Errorf("postgres: closing: %w", err)
	}
	return nil
}

// writeLast writes down what is known in memory alone: sign-ins that failed, and a doubt about the clock. On a DB that
// is closed already there is nothing to do.
func (db *DB) writeLast() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*longestAnswer)
	defer cancel()
	err := errors.Join(db.failures.WriteCounts(ctx), db.books.Remember(ctx))
	if errors.Is(err, errClosed) {
		return nil
	}
	return err
}

// mostTouched is how many keys one transaction touches: an act that changes one of them waits no longer than for that.
const mostTouched = 2000

// TouchKeys implements [imagegen.AccountStore]. It takes a transaction for each mostTouched keys, and does not wait for
// the disk. A key that is being changed is waited for as any lock is, and then passed over: to lock the rows first
// would take half as long again.
func (db *DB) TouchKeys(ctx context.Context, used map[imagegen.KeyID]time.Time) error {
	for some := range slices.Chunk(slices.Sorted(maps.Keys(used)), mostTouched) {
		var ids []string
		var times []time.Time
		for _, id := range some {
			ids, times = append(ids, string(id)), append(times, used[id])
		}
		touch := touchKeys
		if err := db.workAfter(ctx, func(b *pgx.Batch) {
			b.Queue(hastily)
			b.Queue(waitFor(shortWait))
		}, func(s *session) error {
			sql := touch
			touch = touchFreeKeys
			s.exec(sql, ids, times)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

const (
	touchKeys = `update imagegend.api_keys k set last_used_at = x.at from unnest($1::text[], $2::timestamptz[]) x(id, at)
 where k.id = x.id`
	touchFreeKeys = `with used as (select hash, x.at from unnest($1::text[], $2::timestamptz[]) x(id, at)
 join imagegend.api_keys k on k.id = x.id order by hash for update of k skip locked)
 update imagegend.api_keys k set last_used_at = used.at from used where k.hash = used.hash`
)

// TouchSignIn implements [account.LoginStore]. The time only rises, whatever the order of concurrent calls.
func (db *DB) TouchSignIn(ctx context.Context, hash [32]byte, at time.Time) error {
	return db.work(ctx, func(s *session) error {
		s.exec(`update imagegend.sign_ins set seen_at = $2 where hash = $1 and (seen_at < $2 or seen_at > $3)`, hash[:], at,
			s.at.Latest())
		return nil
	})
}
