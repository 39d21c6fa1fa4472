package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// shop is a program with a table and a pool of its own, in whose transactions images are ordered.
type shop struct {
	t     *testing.T
	is    *is.I
	url   string
	files *memory.DB // of all nodes
	pool  *pgxpool.Pool
	db    *postgres.DB
	web   *engine.Engine // does no work
}

// openShop opens a shop in which nobody works yet. Alice has 100 credits, Bob 3.
func openShop(t *testing.T, url string, change ...func(*engine.Config)) *shop {
	t.Helper()
	s := &shop{t: t, is: is.New(t), url: url, files: memory.New(nil)}
	s.pool, s.db, s.web = s.node(append(change, func(c *engine.Config) {
		can := (&provider.Fake{}).Capabilities()
		c.Work, c.Models[0].Provider = engine.WorkNone, provider.Declared{Name: "fake", Capabilities: can}.Provider()
	})...)
	_, err := s.pool.Exec(t.Context(), `create table orders (item text primary key, generation text not null)`)
	s.is.NoErr(err)
	t.Cleanup(func() {
		_, err := s.pool.Exec(context.Background(), `drop table orders`)
		s.is.NoErr(err)
	})
	for u, n := range map[imagegen.UserID]imagegen.Credits{"alice": 100, "bob": 3} {
		_, err := s.db.Grant(t.Context(), imagegen.Grant{User: u, Credits: n})
		s.is.NoErr(err)
	}
	return s
}

// node is an engine of the shop, over a pool of its own.
func (s *shop) node(change ...func(*engine.Config)) (*pgxpool.Pool, *postgres.DB, *engine.Engine) {
	s.t.Helper()
	return s.nodeOf(func(*postgres.Config) {}, change...)
}

func (s *shop) nodeOf(of func(*postgres.Config), change ...func(*engine.Config)) (*pgxpool.Pool, *postgres.DB,
	*engine.Engine) {
	s.t.Helper()
	pool := postgrestest.Hosted(s.t, s.url)
	db := open(s.t, "", func(c *postgres.Config) {
		c.Pool, c.Schema, c.Connections, c.Images = pool, postgrestest.Unusual, 0, s.files
		c.Poll = 20 * time.Millisecond
		of(c)
	})
	whole := &postgrestest.Storage{DB: db, ImageStore: s.files, Spool: s.files}
	cfg := engine.Config{Store: whole, Ledger: whole, Models: []engine.Model{{ID: "m", Provider: &provider.Fake{},
		Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 2, "4K": 4}}}}
	for _, f := range change {
		f(&cfg)
	}
	e, err := engine.New(cfg)
	s.is.NoErr(err)
	s.is.NoErr(e.Start())
	s.t.Cleanup(func() { s.is.NoErr(e.Stop(context.Background())) })
	return pool, db, e
}

// work starts a worker.
func (s *shop) work(change ...func(*engine.Config)) *engine.Engine {
	s.t.Helper()
	_, _, e := s.node(change...)
	return e
}

func ask(key string) imagegen.GenerateRequest {
	return imagegen.GenerateRequest{Model: "m", Prompt: "a fox", Size: imagegen.Size{Width: 64, Height: 64},
		IdempotencyKey: key}
}

func (s *shop) prepare(u imagegen.UserID, q imagegen.GenerateRequest) *engine.Prepared {
	s.t.Helper()
	p, err := s.web.As(u).Prepare(s.t.Context(), q)
	s.is.NoErr(err)
	return p
}

func (s *shop) begin(o ...pgx.TxOptions) pgx.Tx {
	s.t.Helper()
	tx, err := s.pool.BeginTx(s.t.Context(), append(o, pgx.TxOptions{})[0])
	s.is.NoErr(err)
	s.t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	return tx
}

// order is what the shop does for a customer in one transaction.
func (s *shop) order(tx pgx.Tx, u imagegen.UserID, item string, p *engine.Prepared) imagegen.GenerationID {
	s.t.Helper()
	r, err := s.web.As(u).GenerateTx(s.t.Context(), s.db.In(tx), p)
	s.is.NoErr(err)
	var top bool // no savepoint stands
	s.is.NoErr(tx.QueryRow(s.t.Context(), `insert into orders values ($1, $2)
 returning xmin::text = (pg_current_xact_id()::text::bigint % 4294967296)::text`, item, string(r.ID)).Scan(&top))
	s.is.True(top)
	return r.ID
}

func (s *shop) commit(tx pgx.Tx) {
	s.t.Helper()
	s.is.NoErr(tx.Commit(s.t.Context()))
}

func (s *shop) balance(u imagegen.UserID) imagegen.Credits {
	s.t.Helper()
	b, err := s.db.Balance(s.t.Context(), u)
	s.is.NoErr(err)
	return b.Credits
}

func (s *shop) queued() int {
	s.t.Helper()
	n, err := s.db.Queued(s.t.Context(), "")
	s.is.NoErr(err)
	return n.All
}

func (s *shop) orders() (n int) {
	s.t.Helper()
	s.is.NoErr(s.pool.QueryRow(s.t.Context(), `select count(*) from orders`).Scan(&n))
	return n
}

// ended waits for the end of a generation in the web process.
func (s *shop) ended(u imagegen.UserID, id imagegen.GenerationID) imagegen.Generation {
	s.t.Helper()
	for {
		g, err := s.web.As(u).Await(s.t.Context(), id, imagegen.MaxAwait)
		s.is.NoErr(err)
		if g.Status.Terminal() {
			return g
		}
	}
}

// An order, its charge and its queued image come with one commit, and a worker in another process makes the image, from
// the reference that the web process was sent.
func TestGenerateTx(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	q := ask("order-1")
	q.References = []imagegen.Reference{picture(16)}
	p := s.prepare("alice", q)
	s.is.Equal(s.balance("alice"), imagegen.Credits(100))
	tx := s.begin()
	id := s.order(tx, "alice", "poster", p)
	s.is.Equal(s.balance("alice"), imagegen.Credits(100)) // nobody else sees it
	s.is.Equal(s.queued(), 0)
	s.commit(tx)
	s.is.Equal(s.balance("alice"), imagegen.Credits(99))
	s.is.Equal(s.queued(), 1)
	s.work()
	g := s.ended("alice", id)
	s.is.Equal(g.Status, imagegen.StatusSucceeded)
	image, err := s.web.As("alice").OpenImage(t.Context(), g.Images[0].ID)
	s.is.NoErr(err)
	n, err := io.Copy(io.Discard, image)
	s.is.NoErr(err)
	s.is.True(n > 0)
	s.is.NoErr(image.Close())
	s.is.Equal(len(s.files.References()), 0)
}

// With the rollback everything is gone.
func TestGenerateTxRollback(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	tx := s.begin()
	s.order(tx, "alice", "poster", s.prepare("alice", ask("order-1")))
	s.is.NoErr(tx.Rollback(t.Context()))
	s.is.Equal([]int{int(s.balance("alice")), s.queued(), s.orders()}, []int{100, 0, 0})
}

// refusedIn expects that a request is refused in a transaction, which goes on as if nothing had happened.
func (s *shop) refusedIn(u *engine.Session, p *engine.Prepared, want error) {
	s.t.Helper()
	before := s.orders()
	tx := s.begin()
	_, err := tx.Exec(s.t.Context(), `insert into orders values ('refused', '')`)
	s.is.NoErr(err)
	_, err = u.GenerateTx(s.t.Context(), s.db.In(tx), p)
	if !errors.Is(err, want) {
		s.t.Fatalf("got %v, want %v", err, want)
	}
	_, err = tx.Exec(s.t.Context(), `delete from orders where item = 'refused'`)
	s.is.NoErr(err)
	s.commit(tx)
	s.is.Equal(s.orders(), before)
}

// Once it is committed, the same request is answered with its generation, whatever has become of its model.
func TestGenerateTxOnceMore(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	p, late := s.prepare("alice", ask("")), s.prepare("alice", ask(""))
	tx := s.begin()
	id := s.order(tx, "alice", "poster", p)
	s.commit(tx)
	s.is.NoErr(s.web.SetModels(t.Context(), []engine.Model{{ID: "m", Retired: true,
		Provider: provider.Declared{Name: "fake", Capabilities: (&provider.Fake{}).Capabilities()}.Provider(),
		Credits:  map[imagegen.Tier]imagegen.Credits{"1K": 1}}}))
	tx = s.begin()
	again, err := s.web.As("alice").GenerateTx(t.Context(), s.db.In(tx), p)
	s.is.NoErr(err)
	s.is.Equal(again.ID, id)
	s.commit(tx)
	s.refusedIn(s.web.As("alice"), late, imagegen.ErrInvalidRequest)
	s.is.Equal(s.balance("alice"), imagegen.Credits(99))
}

// Whom nobody has ever granted anything has no account, and a refusal makes none.
func TestGenerateTxWithoutAccount(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	accounts := func() (n int) {
		s.is.NoErr(s.pool.QueryRow(t.Context(), `select count(*) from `+
			pgx.Identifier{postgrestest.Unusual, "accounts"}.Sanitize()).Scan(&n))
		return n
	}
	before := accounts()
	s.refusedIn(s.web.As("carol"), s.prepare("carol", ask("")), imagegen.ErrInsufficientCredits)
	s.is.Equal(accounts(), before)
}

// An equal request with the same key gets the same generation, whether the first one is committed before it is
// prepared, before its transaction or while that waits; after a rollback it is charged itself. Another request is
// refused.
func TestGenerateTxAgain(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	bear := ask("order-1")
	bear.Prompt = "a bear"
	first, meanwhile, other := s.prepare("alice", ask("order-1")), s.prepare("alice", ask("order-1")),
		s.prepare("alice", bear)
	tx := s.begin()
	rolledBack := s.order(tx, "alice", "poster", first)
	waits := s.waiting(meanwhile)
	s.is.NoErr(tx.Rollback(t.Context()))
	made := <-waits
	s.is.NoErr(made.err)
	s.is.True(!made.Replayed && made.ID != rolledBack)
	s.is.Equal(s.balance("alice"), imagegen.Credits(99))

	tx = s.begin()
	r, err := s.web.As("alice").GenerateTx(t.Context(), s.db.In(tx), first)
	s.is.NoErr(err)
	s.is.True(r.Replayed && r.ID == made.ID)
	s.commit(tx)
	late := s.prepare("alice", ask("order-1"))
	tx = s.begin()
	r, err = s.web.As("alice").GenerateTx(t.Context(), s.db.In(tx), late)
	s.is.NoErr(err)
	s.is.True(r.Replayed && r.ID == made.ID)
	s.commit(tx)
	s.refusedIn(s.web.As("alice"), other, imagegen.ErrIdempotencyKeyReused)
	_, err = s.web.As("alice").Prepare(t.Context(), bear)
	s.is.True(errors.Is(err, imagegen.ErrIdempotencyKeyReused))
	s.is.Equal([]int{int(s.balance("alice")), s.queued()}, []int{99, 1})

	next, waited := s.prepare("alice", ask("order-2")), s.prepare("alice", ask("order-2"))
	tx = s.begin()
	id := s.order(tx, "alice", "postcard", next)
	twice, err := s.web.As("alice").GenerateTx(t.Context(), s.db.In(tx), waited) // in the same transaction
	s.is.NoErr(err)
	s.is.True(twice.Replayed && twice.ID == id)
	waits = s.waiting(waited)
	s.commit(tx)
	made = <-waits
	s.is.NoErr(made.err)
	s.is.True(made.Replayed && made.ID == id)
	s.is.Equal([]int{int(s.balance("alice")), s.queued()}, []int{98, 2})
}

type outcome struct {
	imagegen.Result
	err error
}

// waiting begins a transaction that waits for another one of the same user, and commits it once that has ended.
func (s *shop) waiting(p *engine.Prepared) <-chan outcome {
	s.t.Helper()
	tx, done := s.begin(), make(chan outcome, 1)
	go func() {
		r, err := s.web.As("alice").GenerateTx(context.Background(), s.db.In(tx), p)
		if err == nil {
			err = tx.Commit(context.Background())
		}
		done <- outcome{r, err}
	}()
	s.awaited(1)
	return done
}

// awaited waits until so many transactions of this database wait for a lock.
func (s *shop) awaited(waiting int) {
	s.t.Helper()
	eventually(s.t, "transactions wait for a lock", func() bool {
		var n int
		s.is.NoErr(s.pool.QueryRow(context.Background(),
			`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`).Scan(&n))
		return n >= waiting
	})
}

// Every limit holds in the transaction, and none of them ends it.
func TestGenerateTxLimits(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	accounts := s.web.Accounts()
	key := func(name string, l imagegen.KeyLimits) (*engine.Session, imagegen.KeyID) {
		u, err := accounts.CreateUser(t.Context(), name, "PRO")
		s.is.NoErr(err)
		_, err = s.db.Grant(t.Context(), imagegen.Grant{User: u.ID, Credits: 100})
		s.is.NoErr(err)
		raw, k, err := accounts.MintLimitedKey(t.Context(), u.ID, "shop", time.Time{}, l)
		s.is.NoErr(err)
		session, err := s.web.Authenticate(t.Context(), raw.Reveal())
		s.is.NoErr(err)
		return session, k.ID
	}
	prepared := func(u *engine.Session, n int) *engine.Prepared {
		q := ask("")
		q.N = n
		p, err := u.Prepare(t.Context(), q)
		s.is.NoErr(err)
		return p
	}
	s.refusedIn(s.web.As("bob"), prepared(s.web.As("bob"), 4), imagegen.ErrInsufficientCredits)
	for name, l := range map[string]imagegen.KeyLimits{"in all": {Credits: 3}, "a day": {Daily: 3},
		"a month": {Monthly: 3}} {
		u, _ := key(name, l)
		s.refusedIn(u, prepared(u, 4), imagegen.ErrInsufficientCredits)
		first, second := prepared(u, 2), prepared(u, 2)
		tx := s.begin()
		_, err := u.GenerateTx(t.Context(), s.db.In(tx), first)
		s.is.NoErr(err)
		_, err = u.GenerateTx(t.Context(), s.db.In(tx), second) // it counts what the transaction has charged
		s.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
		s.commit(tx)
	}
	u, _ := key("one at once", imagegen.KeyLimits{Concurrent: 1})
	first, second := prepared(u, 1), prepared(u, 1)
	tx := s.begin()
	_, err := u.GenerateTx(t.Context(), s.db.In(tx), first)
	s.is.NoErr(err)
	s.commit(tx)
	s.refusedIn(u, second, imagegen.ErrRateLimited)

	u, id := key("revoked", imagegen.KeyLimits{})
	p := prepared(u, 1)
	_, err = accounts.RevokeKey(t.Context(), id)
	s.is.NoErr(err)
	s.refusedIn(u, p, imagegen.ErrInvalidKey)
	u, id = key("other models", imagegen.KeyLimits{})
	p = prepared(u, 1)
	_, err = accounts.SetKeyLimits(t.Context(), id, imagegen.KeyLimits{Models: []string{"other"}})
	s.is.NoErr(err)
	s.refusedIn(u, p, imagegen.ErrChargeRefused)
	u, _ = key("suspended", imagegen.KeyLimits{})
	p = prepared(u, 1)
	s.is.NoErr(s.db.SuspendUser(t.Context(), u.User(), time.Now()))
	s.refusedIn(u, p, imagegen.ErrChargeRefused)
	u, _ = key("disabled", imagegen.KeyLimits{})
	p = prepared(u, 1)
	s.is.NoErr(s.db.DisableUser(t.Context(), u.User(), time.Now()))
	s.refusedIn(u, p, imagegen.ErrInvalidKey)
	u, _ = key("sponsor", imagegen.KeyLimits{})
	member, err := accounts.CreateUser(t.Context(), "member", "")
	s.is.NoErr(err)
	p = prepared(s.web.As(member.ID), 1) // before anybody pays for them
	s.is.NoErr(s.web.SetSponsor(t.Context(), member.ID, u.User(), imagegen.KeyLimits{Credits: 3}))
	s.refusedIn(s.web.As(member.ID), p, imagegen.ErrOverloaded)
	s.refusedIn(s.web.As(member.ID), prepared(s.web.As(member.ID), 4), imagegen.ErrInsufficientCredits)
	tx = s.begin()
	s.order(tx, member.ID, "poster", prepared(s.web.As(member.ID), 3))
	s.commit(tx)
	s.is.Equal(s.balance(u.User()), imagegen.Credits(97))
}

// Nothing is left behind in the transaction but rows: neither a setting nor a savepoint. At any isolation level but the
// lowest, what was changed since the transaction began is a failed serialization, which comes as the database said it.
func TestGenerateTxIsolated(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	s.is.NoErr(s.db.CreateUser(t.Context(), imagegen.User{ID: "alice", Name: "alice", CreatedAt: time.Now()}))
	for _, level := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable} {
		tx := s.begin(pgx.TxOptions{IsoLevel: level})
		settings := func() (all string) {
			s.is.NoErr(tx.QueryRow(t.Context(), `select string_agg(name || '=' || setting, ' ' order by name)
 from pg_settings where name <> 'transaction_isolation'`).Scan(&all))
			return all
		}
		before := settings()
		s.order(tx, "alice", string(level), s.prepare("alice", ask("")))
		s.is.Equal(settings(), before)
		s.commit(tx)
	}
	for name, change := range map[string]func(){
		"charged": func() {
			_, err := s.db.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 1})
			s.is.NoErr(err)
		},
		"suspended": func() { s.is.NoErr(s.db.SuspendUser(t.Context(), "alice", time.Now())) },
	} {
		p, tx := s.prepare("alice", ask("")), s.begin(pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		_, err := tx.Exec(t.Context(), `select from orders`)
		s.is.NoErr(err)
		change()
		_, err = s.web.As("alice").GenerateTx(t.Context(), s.db.In(tx), p)
		if code := codeOf(err); code != "40001" {
			t.Errorf("%s: %v", name, err)
		}
		s.is.NoErr(tx.Rollback(t.Context()))
		s.is.NoErr(s.db.ResumeUser(t.Context(), "alice"))
	}
}

func codeOf(err error) string {
	e, _ := errors.AsType[*pgconn.PgError](err)
	if e == nil {
		return ""
	}
	return e.Code
}

// Of two transactions that charge the same users in another order one is a deadlock, which the host repeats.
func TestGenerateTxDeadlock(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	one, other := s.begin(), s.begin()
	for tx, u := range map[pgx.Tx]imagegen.UserID{one: "alice", other: "bob"} {
		_, err := s.web.As(u).GenerateTx(t.Context(), s.db.In(tx), s.prepare(u, ask("")))
		s.is.NoErr(err)
	}
	ends := make(chan error, 2)
	for tx, u := range map[pgx.Tx]imagegen.UserID{one: "bob", other: "alice"} {
		p := s.prepare(u, ask(""))
		go func() {
			_, err := s.web.As(u).GenerateTx(context.Background(), s.db.In(tx), p)
			if err == nil {
				err = tx.Commit(context.Background())
			}
			ends <- err
		}()
	}
	failed := codeOf(<-ends)
	s.is.Equal(failed+codeOf(<-ends), "40P01")
	_ = one.Rollback(t.Context())
	_ = other.Rollback(t.Context())
	s.is.Equal([]int{int(s.balance("alice")), int(s.balance("bob")), s.queued()}, []int{99, 2, 2})
}

// While a transaction of the host's is open for long, others are charged and served, the user's waiting work begins,
// and nobody else's claims are held up. What the user wants charged waits.
func TestGenerateTxOpenForLong(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	begun := make(chan string, 10)
	_, err := s.db.Grant(t.Context(), imagegen.Grant{User: "bob", Credits: 100})
	s.is.NoErr(err)
	s.work(func(c *engine.Config) {
		c.Models = append(c.Models, c.Models[0])
		c.Models[1].ID = "m2"
		c.Models[0].Provider = &provider.Fake{Script: func(r imagegen.ProviderRequest) provider.Faults {
			begun <- r.Prompt
			return provider.Faults{}
		}}
	})
	before, err := s.web.As("alice").Prepare(t.Context(), ask("before"))
	s.is.NoErr(err)
	tx := s.begin()
	s.order(tx, "alice", "poster", before)
	waits := s.waiting(s.prepare("alice", ask("after")))
	for n := range 40 { // each of which takes several commits of every kind, and more than there are parts of lengths
		q := ask("")
		q.Async, q.Prompt = true, fmt.Sprint("of bob's ", n)
		r, err := s.web.As("bob").Generate(t.Context(), q)
		s.is.NoErr(err)
		s.is.Equal(<-begun, q.Prompt)
		s.is.Equal(s.ended("bob", r.ID).Status, imagegen.StatusSucceeded)
	}
	select {
	case <-waits:
		t.Error("it did not wait")
	case p := <-begun:
		t.Errorf("%q began before the commit", p)
	default:
	}
	s.commit(tx)
	made := <-waits
	s.is.NoErr(made.err)
	s.is.Equal(s.ended("alice", made.ID).Status, imagegen.StatusSucceeded)
	s.is.Equal(s.balance("alice"), imagegen.Credits(98))
}

// Work that waits begins while its user's account is locked by the host, also of another model.
func TestClaimBesideGenerateTx(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	for id, model := range map[imagegen.GenerationID]string{"gen_1": "other", "gen_2": "m"} { // alice is in both lines
		_, err := s.db.CreateCharged(t.Context(), queuedAs(id, model), time.Minute)
		s.is.NoErr(err)
	}
	tx := s.begin()
	id := s.order(tx, "alice", "poster", s.prepare("alice", ask("")))
	s.is.Equal(claim(t, s.db, 10), []imagegen.GenerationID{"gen_1", "gen_2"})
	s.is.Equal(len(claim(t, s.db, 10)), 0)
	s.commit(tx)
	s.is.Equal(claim(t, s.db, 10), []imagegen.GenerationID{id})
}

func queuedAs(id imagegen.GenerationID, model string) imagegen.Record {
	r := record(1)
	r.ID, r.Model, r.Async, r.Attempt, r.IdempotencyKey = id, model, true, 0, ""
	return r
}

// A process in which the host itself works looks at once when it is asked to.
func TestWakeAfterGenerateTx(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	pool, db, e := s.nodeOf(func(c *postgres.Config) { c.Poll = time.Hour })
	p, err := e.As("alice").Prepare(t.Context(), ask(""))
	s.is.NoErr(err)
	tx, err := pool.Begin(t.Context())
	s.is.NoErr(err)
	r, err := e.As("alice").GenerateTx(t.Context(), db.In(tx), p)
	s.is.NoErr(err)
	s.commit(tx)
	e.As("alice").Wake()
	s.is.Equal(s.ended("alice", r.ID).Status, imagegen.StatusSucceeded)
}

// A transaction of another database, or of nobody's, is refused.
func TestGenerateTxElsewhere(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	_, other, _ := s.node()
	p, tx := s.prepare("alice", ask("")), s.begin()
	for _, in := range []imagegen.HostTx{nil, other.In(tx)} {
		_, err := s.web.As("alice").GenerateTx(t.Context(), in, p)
		s.is.True(err != nil)
	}
	s.is.Equal(s.balance("alice"), imagegen.Credits(100))
}

// picture is a reference image of so many pixels a side.
type picture int

func (p picture) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(imagegentest.PNG(int(p), int(p)))), nil
}

// While the clock is in doubt, which the next commit writes down in a row for all, the host's transaction holds up
// nobody.
func TestGenerateTxInDoubt(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	var ahead atomic.Int64
	pool, db, e := s.nodeOf(func(c *postgres.Config) {
		c.Now = func() time.Time { return time.Now().Round(0).Add(time.Duration(ahead.Load())) }
	})
	db.Now() // so that there is something to compare with
	ahead.Store(int64(2 * time.Hour))
	_, doubt := db.ClockInDoubt()
	s.is.True(doubt)
	p, err := e.As("alice").Prepare(t.Context(), ask(""))
	s.is.NoErr(err)
	tx, err := pool.Begin(t.Context())
	s.is.NoErr(err)
	defer tx.Rollback(context.Background())
	_, err = e.As("alice").GenerateTx(t.Context(), db.In(tx), p)
	s.is.NoErr(err)
	s.is.NoErr(db.Charge(t.Context(), imagegen.Charge{ID: "c", User: "bob", Credits: 1, N: 1}))
	s.commit(tx)
	_, err = db.Grant(t.Context(), imagegen.Grant{User: "carol", Credits: 1})
	s.is.NoErr(err)
}
