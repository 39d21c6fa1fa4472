package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/matryer/is"
	"golang.org/x/sync/errgroup"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// The reads of a generation do not grow with the rows of others, also where the planner's statistics are older than all
// keys and this day.
func TestPlansWithOldStatistics(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	database := databaseOf(t, url)
	db := open(t, url)
	const users = 40
	is.NoErr(s.Exec(database, `alter table imagegend.api_keys set (autovacuum_enabled = off);
alter table imagegend.usage set (autovacuum_enabled = off);
insert into imagegend.api_keys select int8send(n), 'former ' || n, 'former', '', '', null, null, null, null, 0, 0, 0, 0, 0 from generate_series(1, 10000) n;
insert into imagegend.usage select n::text, '', '2000-01-01', '', 0, 0, 0, 0, 0, 0, 0 from generate_series(1, 10000) n;
analyze imagegend.api_keys;
analyze imagegend.usage`))
	defer func() {
		is.NoErr(s.Exec(database,
			"delete from imagegend.api_keys where usr = 'former'; delete from imagegend.usage where day = '2000-01-01'"))
	}()
	of := func(n int) imagegen.UserID { return imagegen.UserID(fmt.Sprint("user_", n)) }
	for n := range users {
		is.NoErr(db.CreateUser(t.Context(), imagegen.User{ID: of(n), Name: string(of(n))}))
		is.NoErr(db.CreateKey(t.Context(), imagegen.Key{ID: keyNo(n), User: of(n), Hash: [32]byte{1, byte(n)}}))
		_, err := db.Grant(t.Context(), imagegen.Grant{User: of(n), Credits: 10})
		is.NoErr(err)
	}
	begin := 1
	turn := func() {
		db, err := postgres.Open(t.Context(), postgres.Config{Migrate: true, URL: url})
		is.NoErr(err)
		var g errgroup.Group
		for n := range users {
			g.Go(func() error { return generateWith(db, begin+n, of(n), keyNo(n)) })
		}
		is.NoErr(g.Wait())
		is.NoErr(db.Close())
		begin += users
	}
	turn() // from now on each has usage
	before := readSoFar(t, s, database)
	turn()
	after := readSoFar(t, s, database)
	eventually(t, "the database is reached again, whose sessions were ended", func() bool {
		return db.Ready(t.Context()) == nil
	})
	if each := (after - before) / users; each > 20 {
		t.Errorf("%d rows were read for a generation", each)
	}
}

func keyNo(n int) imagegen.KeyID { return imagegen.KeyID(fmt.Sprintf("key_%026d", n)) }

// readSoFar counts the rows of users, keys and usage that were read. What sessions have read counts once they have
// ended.
func readSoFar(t *testing.T, s *postgrestest.Server, database string) (rows int64) {
	t.Helper()
	is := is.New(t)
	c, err := pgx.Connect(t.Context(), s.Address(database))
	is.NoErr(err)
	defer c.Close(context.Background())
	const others = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'"
	_, err = c.Exec(t.Context(),
		"select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'")
	is.NoErr(err)
	eventually(t, "sessions end", func() bool {
		var n int
		is.NoErr(c.QueryRow(t.Context(), others).Scan(&n))
		return n == 0
	})
	is.NoErr(c.QueryRow(t.Context(),
		"select sum(idx_tup_fetch)::bigint from pg_stat_user_tables where relname in ('users', 'api_keys', 'usage')").Scan(&rows))
	return rows
}

// generateWith is generate by way of a key.
func generateWith(db *postgres.DB, n int, u imagegen.UserID, key imagegen.KeyID) error {
	r := record(n)
	r.User, r.KeyID = u, key
	r, err := db.CreateCharged(context.Background(), r, time.Minute)
	if err == nil {
		_, err = db.FinishSettled(context.Background(), r.Fence(), failed())
	}
	return err
}

// No statement of a transaction that writes is compiled before it runs: that takes longer than the transaction. It
// would be, where PostgreSQL was built with LLVM, for each that reads a table without an index, such as the clock's
// single row.
func TestNoStatementIsCompiled(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	c, err := pgx.Connect(t.Context(), s.Address("postgres"))
	is.NoErr(err)
	defer c.Close(context.Background())
	_, err = c.Exec(t.Context(), "set jit = on; "+postgres.Settings)
	is.NoErr(err)
	var jit string
	is.NoErr(c.QueryRow(t.Context(), "select current_setting('jit')").Scan(&jit))
	is.Equal(jit, "off")
}

// What requests and upkeep ask costs as much in a database of any size: no plan reads more rows than a page has, sorts
// more, or goes over a table that grows.
func TestPlansAtSize(t *testing.T) {
	s, is, ctx := postgrestest.Start(t), is.New(t), t.Context()
	url := s.Database(t)
	pool := filled(t, url, 400, 40_000, 2000)
	_, err := pool.Exec(ctx, "insert into imagegend.sign_ins select sha256(int4send(n)), 'user_1', now(), now(), now(), '' from generate_series(1, 3000) n")
	is.NoErr(err)
	_, err = pool.Exec(ctx, "update imagegend.generations set usr = 'user_1' where usr = 'user_0' and id > $1",
		fmt.Sprintf("gen_%026d", 3000))
	is.NoErr(err)
	notes := new(statements)
	c := pool.Config()
	c.ConnConfig.Tracer = notes
	traced, err := pgxpool.NewWithConfig(ctx, c)
	is.NoErr(err)
	t.Cleanup(traced.Close)
	db, err := postgres.Open(ctx, postgres.Config{Pool: traced})
	is.NoErr(err)
	defer db.Close()
	const most = 1100 // rows that a plan may read of a table: those of a sweep, and some
	page := func(u imagegen.UserID, q imagegen.Query) error { _, _, err := db.Generations(ctx, u, q); return err }
	of := func(n int) imagegen.GenerationID { return imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)) }
	for name, do := range map[string]func() error{
		"charge": func() error {
			return generateWith(db, 1_000_000, "user_7", keyNo(7))
		},
		"page":        func() error { return page("user_1", imagegen.Query{}) },
		"next page":   func() error { return page("user_1", imagegen.Query{After: of(30_000)}) },
		"failed ones": func() error { return page("user_1", imagegen.Query{Status: imagegen.StatusFailed}) },
		// The statistics say that a tenth is of user_0, and not that all of those are old.
		"page of one who was away": func() error { return page("user_0", imagegen.Query{}) },
		"failed ones of one who was away": func() error {
			return page("user_0", imagegen.Query{Status: imagegen.StatusFailed})
		},
		"favourites": func() error { return page("user_1", imagegen.Query{Favourites: true}) },
		"poll":       func() error { _, err := db.Generation(ctx, of(5)); return err },
		"repetition": func() error {
			_, err := db.GenerationByIdempotencyKey(ctx, "user_0", "order 10")
			return err
		},
		"claim": func() error {
			got, _, err := db.Claim(ctx, imagegen.ClaimRequest{Most: 3, Lease: time.Minute})
			if len(got) != 3 {
				t.Errorf("%d were claimed", len(got))
			}
			return err
		},
		"claim of old ones":   func() error { _, err := db.ClaimAged(ctx, time.Hour, 3, time.Minute); return err },
		"recovery":            func() error { _, err := db.Recover(ctx, 3, time.Minute); return err },
		"length of the queue": func() error { _, err := db.Queued(ctx, "user_3"); return err },
		"balance":             func() error { _, err := db.Balance(ctx, "user_0"); return err },
		"history":             func() error { _, err := db.History(ctx, "user_0", 0, 50); return err },
		"key use":             func() error { _, err := db.KeyUse(ctx, "user_0", keyNo(0)); return err },
		"overview of a day": func() error {
			return db.EachUsage(ctx, time.Now(), time.Now(), func(imagegen.UserID, imagegen.Usage) {})
		},
		"overview's costs": func() error {
			// of days that have fewer rows in all than a plan may read: a page has 10,000
			return db.EachTotals(ctx, time.Now().AddDate(0, 0, -21), time.Now(), func(imagegen.TotalsRow) {})
		},
		"expiry":       func() error { return db.ExpireAll(ctx) },
		"to be erased": func() error { _, err := db.Ended(ctx, 24*time.Hour, 100); return err },
		"to be forgotten": func() error {
			_, err := db.Forgettable(ctx, imagegen.StateFailed, 24*time.Hour, 100)
			return err
		},
		"hashes to be forgotten": func() error {
			_, err := db.Forgettable(ctx, imagegen.StateErased, 24*time.Hour, 100)
			return err
		},
		"end of sign-ins": func() error { return db.EndSignInsAged(ctx, time.Hour, 24*time.Hour) },
		"sweep": func() error {
			var keys []imagegen.ImageKey
			for n := range 1000 {
				keys = append(keys, imagegen.ImageKey{Generation: of(n * 37), Attempt: 1})
			}
			_, err := db.NamedImages(ctx, keys)
			return err
		},
		"trail": func() error { return db.TidyTrail(ctx, time.Now().AddDate(-1, 0, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			notes.take()
			is.New(t).NoErr(do())
			writes := false
			for _, st := range notes.take() {
				writes = writes || strings.HasPrefix(st.sql, "begin isolation level read committed")
				explain(t, pool, st, writes, most)
			}
		})
	}
}

// filled is a database that bench/populate would fill, with its statements.
func filled(t *testing.T, url string, users, generations, queued int) *pgxpool.Pool {
	t.Helper()
	is := is.New(t)
	fill, err := os.ReadFile("../../../bench/populate/fill.sql")
	is.NoErr(err)
	pool := postgrestest.Hosted(t, url)
	is.NoErr(postgres.Migrate(t.Context(), pool, ""))
	for _, sql := range []string{fmt.Sprintf("set fill.users = %d; set fill.generations = %d; set fill.queued = %d; set fill.days = 365; ",
		users, generations, queued) + string(fill) + "; reset all", "vacuum analyze"} {
		_, err = pool.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		is.NoErr(err)
	}
	return pool
}

// sent is a statement that was sent.
type sent struct {
	sql  string
	args []any
}

// statements notes what is sent. It is a [pgx.QueryTracer] and a [pgx.BatchTracer].
type statements struct {
	mu  sync.Mutex
	all []sent
}

func (s *statements) add(sql string, args []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, sent{sql, args})
}

func (s *statements) take() (all []sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, s.all = s.all, nil
	return all
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.add(d.SQL, d.Args)
	return ctx
}
func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	s.add(d.SQL, d.Args)
}
func (s *statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// plan is a step of a plan as EXPLAIN has it.
type plan struct {
	Node     string  `json:"Node Type"`
	Table    string  `json:"Relation Name"`
	Expected float64 `json:"Plan Rows"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Plans    []plan
}

// explain holds the plan of a statement against what it may read. One that only reads is run again for that.
func explain(t *testing.T, pool *pgxpool.Pool, st sent, writes bool, most float64) {
	t.Helper()
	is, ctx := is.New(t), t.Context()
	sql := strings.ToLower(st.sql)
	if !strings.Contains(sql, " imagegend.") {
		return
	}
	how := "explain (format json, analyze) "
	for _, verb := range []string{"insert ", "update imagegend", "delete ", "update set"} {
		if strings.Contains(sql, verb) {
			how = "explain (format json) "
		}
	}
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if writes {
			if _, err := tx.Exec(ctx, strings.TrimPrefix(postgres.Settings, "begin isolation level read committed; "),
				pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		var stored []byte
		if err := tx.QueryRow(ctx, how+st.sql, st.args...).Scan(&stored); err != nil {
			return fmt.Errorf("%w: %s", err, st.sql)
		}
		var found []struct{ Plan plan }
		if err := json.Unmarshal(stored, &found); err != nil {
			return err
		}
		found[0].Plan.check(t, st.sql, most)
		return errExplained
	})
	if err != errExplained {
		is.NoErr(err)
	}
}

var errExplained = fmt.Errorf("rolled back")

func (p plan) check(t *testing.T, sql string, most float64) {
	t.Helper()
	rows := p.Expected
	if p.Loops > 0 {
		rows = (p.Rows + p.Removed) * p.Loops
	}
	grows := map[string]bool{"generations": true, "images": true, "attempts": true, "entries": true, "charges": true,
		"usage": true, "generation_totals": true, "waiting": true, "sign_ins": true}
	if p.Node == "Seq Scan" && grows[p.Table] || (p.Table != "" || strings.Contains(p.Node, "Sort")) && rows > most {
		t.Errorf("%s of %s, %.0f rows: %s", p.Node, p.Table, rows, sql)
	}
	for _, part := range p.Plans {
		part.check(t, sql, most)
	}
}
