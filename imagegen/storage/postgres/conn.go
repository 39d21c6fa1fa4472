package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/imagegend/imagegend/imagegen"
)

// Codes of errors of PostgreSQL, see its appendix A.
const (
	codeWarning          = "01000"
	codeNoText           = "22021" // which the database cannot have, so nothing is called so
	codeDivisionByZero   = "22012" // of a statement that checks how many rows another has met
	codeUniqueViolation  = "23505"
	codeReadOnly         = "25006"
	codeIdleTransaction  = "25P03"
	codeSerialization    = "40001"
	codeDeadlock         = "40P01"
	codeNoRight          = "42501"
	codeNoTable          = "42P01" // nor a schema
	codeLockNotAvailable = "55P03"
)

// ErrOutcomeUnknown: the connection was lost under a commit, or a standby has not confirmed it. The call may be
// repeated.
var ErrOutcomeUnknown = errors.New("postgres: the outcome of a commit is unknown")

const (
	// longestIdle is how long the database lets a transaction stand that its process does not go on with: a
	// process that is paused keeps others from its rows for no longer.
	longestIdle = 2 * time.Second
	// longestStatement is how long one statement may take, waiting for rows and for a standby included. The database
	// ends it, and says so, before longestAnswer is over.
	longestStatement = 8 * time.Second
	// longestAnswer is how long a connection of the pool is waited for, and then each answer of the database. One that
	// hangs holds its connections open, so nothing else would end the wait.
	longestAnswer = 10 * time.Second
	// longestConnect is how long each server that the address names may take to accept a connection. It leaves time
	// for the second one.
	longestConnect = longestAnswer / 2
	// longestTransaction is how long a transaction is waited for, once it has begun.
	longestTransaction = 60 * time.Second
)

// settings hold in each transaction that writes, and end with it. The planner is kept from what is good for
// tables that are small and wrong as soon as they are not: its statistics may be old, or none. A plan that has to do
// the forbidden all the same counts as so expensive that PostgreSQL would compile it first, which takes 8 ms and more
// for each statement where it was built with LLVM, as Debian's is.
//
// A lock is waited for as long as lock; 0: as long as the statement may take. A transaction may stand for as long as it
// likes where Config.Now gives the time: the database would measure it by another.
func (db *DB) settings(lock time.Duration) string {
	idle := longestIdle
	if db.clock.given != nil {
		idle = 0
	}
	return limits(idle, longestStatement, lock)
}

// waitFor changes that in the middle of a transaction.
func waitFor(lock time.Duration) string {
	return fmt.Sprintf(`select set_config('lock_timeout','%d',true)`, lock.Milliseconds())
}

// hastily is for a transaction whose commit does not wait for the disk, nor for a standby.
const hastily = `select set_config('synchronous_commit', 'off', true)`

// unhurried is settings for a transaction that reads for long: it outlasts limits that an operator has set for others.
var unhurried = limits(0, 0, 0)

func limits(idle, statement, lock time.Duration) string {
	return fmt.Sprintf(`select set_config('idle_in_transaction_session_timeout','%d',true), set_config('statement_timeout','%d',true), set_config('lock_timeout','%d',true),
 set_config('enable_seqscan','off',true), set_config('enable_hashjoin','off',true), set_config('enable_mergejoin','off',true), set_config('jit','off',true)`,
		idle.Milliseconds(), statement.Milliseconds(), lock.Milliseconds())
}

const begin = "begin isolation level read committed"

// conn is a connection to the database, and what it has said besides. Its methods send statements; Conn would send them
// as they stand.
type conn struct {
	inSchema
	Conn   *pgxpool.Conn
	warned *warned
}

// warned notes that a wait for a standby was cancelled: PostgreSQL reports the commit as a success nevertheless.
type warned struct{ atomic.Bool }

const warnedKey = "imagegend.warned"

// configure makes the pool's connections do without what a pooler between would not keep for them.
func configure(url string) (*pgxpool.Config, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("postgres: the database's address cannot be read: %w", withoutPassword(err))
	}
	if c.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement &&
		!hasSetting(url, "default_query_exec_mode") {
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	c.ConnConfig.DialFunc = dial
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = longestConnect
	}
	if _, given := c.ConnConfig.RuntimeParams["application_name"]; !given {
		c.ConnConfig.RuntimeParams["application_name"] = "imagegend"
	}
	Watch(c)
	return c, nil
}

// Watch has the connections of a pool of the host's, see Config.Pool, notice when a wait for a standby was cancelled.
// Call it before the pool is made; what the configuration does on its own account stays.
func Watch(c *pgxpool.Config) {
	notice, connected := c.ConnConfig.OnNotice, c.AfterConnect
	c.ConnConfig.OnNotice = func(c *pgconn.PgConn, n *pgconn.Notice) {
		if w, ok := c.CustomData()[warnedKey].(*warned); ok && n.Code == codeWarning {
			w.Store(true)
		}
		if notice != nil {
			notice(c, n)
		}
	}
	c.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		c.PgConn().CustomData()[warnedKey] = new(warned)
		if connected != nil {
			return connected(ctx, c)
		}
		return nil
	}
}

// patiently returns a context for one wait for the database.
func (db *DB) patiently(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, db.patience)
}

// acquire takes a connection out of the pool. imagegen.ErrNotApplied.
func (db *DB) acquire(ctx context.Context) (conn, error) {
	within, cancel := db.patiently(ctx)
	defer cancel()
	c, err := db.pool.Acquire(within)
	if err != nil {
		return conn{}, unread(ctx, err)
	}
	w, watched := c.Conn().PgConn().CustomData()[warnedKey].(*warned)
	if !watched {
		w = new(warned) // stays silent; checkDatabase says where that will not do
	}
	w.Store(false)
	return conn{inSchema{c, db.sql.schema}, c, w}, nil
}

// release gives a connection back. One on which a transaction stands is closed.
func (c conn) release() { c.Conn.Release() }

// notBegun returns an imagegen.ErrNotApplied. A deadline in err is the database's or the pool's, and not the caller's,
// who must not take it for theirs: the message has err, which is not wrapped.
func notBegun(err error) error { return fmt.Errorf("%w: postgres: %v", imagegen.ErrNotApplied, err) }

// unread is notBegun for a read in the caller's own context, which may have ended.
func unread(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: postgres: %w", imagegen.ErrNotApplied, ctx.Err())
	}
	return notBegun(err)
}

func codeOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// errOvertaken: what was read first does not fit what was read later, since somebody has changed it in between.
var errOvertaken = errors.New("postgres: the transaction was overtaken by another")

// again reports whether a transaction that failed so is to be run again: others were in its way.
func again(err error) bool {
	if errors.Is(err, errOvertaken) {
		return true
	}
	switch codeOf(err) {
	case codeSerialization, codeDeadlock, codeUniqueViolation, codeDivisionByZero, codeLockNotAvailable:
		return true
	}
	return false
}

// undone reports whether the database has said that a transaction changed nothing.
func undone(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.SeverityUnlocalized == "ERROR" || e.Code == codeIdleTransaction)
}
