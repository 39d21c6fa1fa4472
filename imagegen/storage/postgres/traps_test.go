package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// soon is how long is waited for what must happen.
const soon = time.Minute

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, soon)
		}
	}
}

// fund gives alice credits.
func fund(t *testing.T, db *postgres.DB) {
	t.Helper()
	_, err := db.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 1000})
	is.New(t).NoErr(err)
}

func record(n int) imagegen.Record {
	return imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)), User: "alice", Model: "m",
			Prompt: "a fox", N: 1, Price: 1, IdempotencyKey: fmt.Sprint(n), CreatedAt: time.Now()},
		Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1},
	}
}

// databaseOf is the name of the database that an address leads to.
func databaseOf(t *testing.T, url string) string {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	is.New(t).NoErr(err)
	return config.Database
}

func failed() imagegen.OutcomeChange {
	return imagegen.OutcomeChange{Failure: &imagegen.Failure{Class: imagegen.ClassUnknown, Detail: "no image"},
		At: time.Now()}
}

// A batch takes two round trips, whatever it does.
func TestTwoRoundTrips(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	db := open(t, s.Database(t))
	fund(t, db)
	is.NoErr(db.CreateUser(t.Context(), imagegen.User{ID: "alice", Name: "alice"}))
	is.NoErr(db.CreateKey(t.Context(), imagegen.Key{ID: "key_1", User: "alice", Hash: [32]byte{1}}))
	trips, transactions := db.Trips()
	for n := range 5 {
		r := record(n)
		r.KeyID = "key_1"
		r, err := db.CreateCharged(t.Context(), r, time.Minute)
		is.NoErr(err)
		_, err = db.FinishSettled(t.Context(), r.Fence(), failed())
		is.NoErr(err)
	}
	is.NoErr(db.Charge(t.Context(), imagegen.Charge{ID: "apart", User: "alice", Credits: 5, N: 1}))
	is.NoErr(db.Settle(t.Context(), "apart", 3))
	after, all := db.Trips()
	is.Equal(all-transactions, int64(12))
	is.Equal(after-trips, 2*(all-transactions))
}

// Limits of waits and settings of the planner are set in each transaction, not in the session: a pooler
// hands out another one each time.
func TestSettingsHoldInTransactions(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	c, err := pgx.Connect(t.Context(), s.Address("postgres"))
	is.NoErr(err)
	defer c.Close(context.Background())
	value := func(of string) (v string) { is.NoErr(c.QueryRow(t.Context(), "show "+of).Scan(&v)); return v }
	_, err = c.Exec(t.Context(), postgres.Settings, pgx.QueryExecModeSimpleProtocol)
	is.NoErr(err)
	is.Equal(value("idle_in_transaction_session_timeout"), "2s")
	is.Equal(value("statement_timeout"), "8s")
	is.Equal(value("enable_seqscan"), "off")
	is.Equal(value("transaction_isolation"), "read committed")
	_, err = c.Exec(t.Context(), "commit")
	is.NoErr(err)
	is.Equal(value("enable_seqscan"), "on")
	is.Equal(value("idle_in_transaction_session_timeout"), "0")
	_, err = c.Exec(t.Context(), postgres.SettingsAt, pgx.QueryExecModeSimpleProtocol)
	is.NoErr(err)
	is.Equal(value("idle_in_transaction_session_timeout"), "0") // virtual time does not pass meanwhile
	is.Equal(value("statement_timeout"), "8s")
}

// A database that does not flush before it acknowledges is refused; one without a standby is warned of.
func TestUnsafeDatabases(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	database := databaseOf(t, url)
	url = s.Address(database) // a pooler's sessions have begun before
	for _, value := range []string{"off", "local", "remote_write"} {
		is.NoErr(s.Exec(database, "alter database "+database+" set synchronous_commit = "+value))
		_, err := postgres.Open(t.Context(), postgres.Config{Migrate: true, URL: url})
		is.True(errors.Is(err, postgres.ErrUnsafe))
	}
	is.NoErr(s.Exec(database, "alter database "+database+" reset synchronous_commit"))
	db := open(t, url)
	is.NoErr(db.Ready(t.Context()))
	warnings := db.Warnings(t.Context())
	is.Equal(len(warnings), 1)
	is.Equal(warnings[0].Code, "standby")
}

// withoutStandby has every commit wait for a standby that is not there.
func withoutStandby(t *testing.T, s *postgrestest.Server) (waiting func() bool) {
	t.Helper()
	is := is.New(t)
	standbys := func(names string) {
		is.NoErr(s.Exec("postgres", "alter system set synchronous_standby_names = '"+names+"'"))
		is.NoErr(s.Exec("postgres", "select pg_reload_conf()"))
	}
	standbys("nobody")
	t.Cleanup(func() { standbys("") })
	c, err := pgx.Connect(t.Context(), s.Address("postgres"))
	is.NoErr(err)
	t.Cleanup(func() { c.Close(context.Background()) })
	eventually(t, "the standby is asked for", func() (set bool) {
		is.NoErr(c.QueryRow(context.Background(), "select current_setting('synchronous_standby_names') = 'nobody'").
			Scan(&set))
		return set
	})
	return func() (waits bool) {
		is.NoErr(c.QueryRow(context.Background(),
			"select exists(select from pg_stat_activity where wait_event = 'SyncRep')").Scan(&waits))
		return waits
	}
}

const cancelWaits = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"

// PostgreSQL reports a cancelled wait for a standby as success, though a failover may take the commit back.
func TestCancelledWait(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	db := openHosted(t, s.Database(t))
	fund(t, db)
	waiting := withoutStandby(t, s)
	charge := imagegen.Charge{ID: "c", User: "alice", Credits: 5, N: 1}
	for range 2 { // the second finds it there, but it may be taken back all the same
		done := make(chan error, 1)
		go func() { done <- db.Charge(context.Background(), charge) }()
		eventually(t, "the commit waits", waiting)
		is.NoErr(s.Exec("postgres", cancelWaits))
		err := <-done
		is.True(errors.Is(err, postgres.ErrOutcomeUnknown))
		is.True(!imagegen.Definite(err))
	}
}

// A process that stands still in a transaction keeps others from its rows for two seconds.
func TestPausedProcess(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	db := open(t, url)
	fund(t, db)
	paused, err := pgx.Connect(t.Context(), s.Address(databaseOf(t, url)))
	is.NoErr(err)
	defer paused.Close(context.Background())
	_, err = paused.Exec(t.Context(), postgres.Settings+"; select from imagegend.accounts for update",
		pgx.QueryExecModeSimpleProtocol)
	is.NoErr(err)
	is.NoErr(db.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 5, N: 1}))
	_, err = paused.Exec(t.Context(), "commit")
	is.True(err != nil)
}

// A connection that is lost before anything was written has changed nothing.
func TestLostBeforeTheCommit(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	db := open(t, url)
	fund(t, db)
	other, err := pgx.Connect(t.Context(), s.Address(databaseOf(t, url)))
	is.NoErr(err)
	defer other.Close(context.Background())
	_, err = other.Exec(t.Context(), "begin; select from imagegend.accounts for update",
		pgx.QueryExecModeSimpleProtocol)
	is.NoErr(err)
	done := make(chan error, 1)
	go func() {
		done <- db.Charge(context.Background(), imagegen.Charge{ID: "c", User: "alice", Credits: 5, N: 1})
	}()
	eventually(t, "the call waits and is cut off", func() (cut bool) {
		is.NoErr(other.QueryRow(t.Context(),
			"select count(pg_terminate_backend(pid)) > 0 from pg_stat_activity where wait_event_type = 'Lock'").
			Scan(&cut))
		return cut
	})
	is.True(errors.Is(<-done, imagegen.ErrNotApplied))
	_, err = other.Exec(t.Context(), "commit")
	is.NoErr(err)
	b, err := db.Balance(t.Context(), "alice")
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(1000))
}

// A server that speaks another language says the same.
func TestSeverityInAnotherLanguage(t *testing.T) {
	is := is.New(t)
	is.True(postgres.Undone(&pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: "ERROR", Code: "23514"}))
	is.True(!postgres.Undone(&pgconn.PgError{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P01"}))
}

// A process does with one connection what it does with many.
func TestOneConnection(t *testing.T) {
	is := is.New(t)
	db := open(t, postgrestest.Start(t).Database(t), func(c *postgres.Config) { c.Connections = 1 })
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	err := db.Charge(ctx, imagegen.Charge{ID: "c", User: "alice", Credits: 5, N: 1}) // the account is opened first
	is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
}

// The address may say how many connections there are; what the program says goes before it.
func TestConnectionsOfTheAddress(t *testing.T) {
	url := postgrestest.Start(t).Database(t)
	for _, c := range []struct {
		address string
		given   int
		want    int32
	}{{url, 0, 16}, {url, 5, 5}, {url + "&pool_max_conns=3", 0, 3}, {url + "&pool_max_conns=3", 5, 5}} {
		db := open(t, c.address, func(to *postgres.Config) { to.Connections = c.given })
		is.New(t).Equal(db.MostConnections(), c.want)
	}
}

// A transaction that met a conflict runs again; it wrote nothing.
func TestRunAgain(t *testing.T) {
	for _, code := range []string{"40001", "40P01", "23505"} {
		t.Run(code, func(t *testing.T) {
			is, n := is.New(t), 0
			is.NoErr(postgres.Retried(func() error {
				if n++; n < 3 {
					return &pgconn.PgError{Severity: "ERROR", Code: code}
				}
				return nil
			}))
			is.Equal(n, 3)
			err := postgres.Retried(func() error { return &pgconn.PgError{Severity: "ERROR", Code: code} })
			is.True(errors.Is(err, imagegen.ErrNotApplied))
		})
	}
}

// A key that is revoked by another process is believed for a second at most, and charges nobody from then on.
func TestRevokedElsewhere(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	keeps := func(c *postgres.Config) { c.KeepFor = 0 }
	one, other := open(t, url, keeps), open(t, url, keeps)
	fund(t, one)
	is.NoErr(one.CreateUser(t.Context(), imagegen.User{ID: "alice", Name: "alice"}))
	is.NoErr(one.CreateKey(t.Context(), imagegen.Key{ID: "key_1", User: "alice", Hash: [32]byte{1}}))
	_, err := other.KeyByHash(t.Context(), [32]byte{1})
	is.NoErr(err)
	_, err = one.RevokeKey(t.Context(), "key_1", time.Now())
	is.NoErr(err)
	r := record(1)
	r.KeyID = "key_1"
	_, err = other.CreateCharged(t.Context(), r, time.Minute)
	is.True(errors.Is(err, imagegen.ErrInvalidKey))
	eventually(t, "the key is read anew", func() bool {
		k, err := other.KeyByHash(t.Context(), [32]byte{1})
		is.NoErr(err)
		return !k.RevokedAt.IsZero()
	})
}

// reopen does what a program does that starts and ends.
func reopen(t *testing.T, url string) {
	t.Helper()
	is := is.New(t)
	db, err := postgres.Open(t.Context(), postgres.Config{Migrate: true, URL: url})
	is.NoErr(err)
	is.NoErr(db.Close())
}

// A program is refused by a database that asks for a later one, and works beside one that is later and does not.
func TestNewerSchema(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	database := databaseOf(t, url)
	reopen(t, url)
	is.NoErr(s.Exec(database, "update imagegend.schema set version = 1000"))
	reopen(t, url)
	is.NoErr(s.Exec(database, "update imagegend.schema set program = 1000"))
	_, err := postgres.Open(t.Context(), postgres.Config{Migrate: true, URL: url})
	is.True(errors.Is(err, postgres.ErrNewerSchema))
}

// Processes that start at once make one schema.
func TestOpenAtOnce(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	const processes = 4
	opened := make(chan error, processes)
	for range processes {
		go func() {
			db, err := postgres.Open(context.Background(), postgres.Config{Migrate: true, URL: url})
			if err == nil {
				err = db.Close()
			}
			opened <- err
		}()
	}
	for range processes {
		is.NoErr(<-opened)
	}
}

// An address that cannot be read shows no password.
func TestAddressShowsNoPassword(t *testing.T) {
	is := is.New(t)
	_, err := postgres.Open(t.Context(), postgres.Config{Migrate: true, URL: "postgres://alice:hunter2@host:port/db"})
	is.True(err != nil)
	for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err)} {
		is.True(!strings.Contains(text, "hunter2"))
	}
}

// A page costs what it shows, also before the next vacuum, when every generation that was under way has left its
// entries in the indexes behind; and also where the database plans for any page at once.
func TestPageAmongMany(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	db := open(t, url)
	fund(t, db)
	var all sync.WaitGroup
	for n := range 300 { // share commits
		all.Go(func() {
			r, err := db.CreateCharged(t.Context(), record(n), time.Minute)
			if err == nil {
				_, err = db.FinishSettled(t.Context(), r.Fence(), failed())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	conn, err := pgx.Connect(t.Context(), s.Address(databaseOf(t, url)))
	is.NoErr(err)
	defer conn.Close(context.Background())
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		_, err = conn.Exec(t.Context(), "set plan_cache_mode = "+mode)
		is.NoErr(err)
		for name, q := range map[string]imagegen.Query{
			"newest": {}, "oldest": {After: record(10).ID}, "failed": {Status: imagegen.StatusFailed,
				After: record(10).ID}, "favourites": {Favourites: true},
		} {
			q.Limit = 5
			sql, args := postgres.PageQuery("alice", q)
			if blocks := blocksOf(t, conn, sql, args); blocks > 50 {
				t.Errorf("%s, %s: %v blocks", mode, name, blocks)
			}
		}
	}
}

// blocksOf is how many blocks a statement looks at.
func blocksOf(t *testing.T, conn *pgx.Conn, sql string, args []any) float64 {
	t.Helper()
	var plans []map[string]any
	is.New(t).NoErr(conn.QueryRow(t.Context(), "explain (analyze, buffers, format json) "+sql, args...).Scan(&plans))
	plan := plans[0]["Plan"].(map[string]any)
	return plan["Shared Hit Blocks"].(float64) + plan["Shared Read Blocks"].(float64)
}
