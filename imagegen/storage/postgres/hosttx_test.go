package postgres_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
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
	pool := postgrestest.Hosted(s.t, s.url)
	db := open(s.t, "", func(c *postgres.Config) {
		c.Pool, c.Schema, c.Connections, c.Images = pool, postgrestest.Unusual, 0, s.files
		c.Poll = 20 * time.Millisecond
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
	_, err = tx.Exec(s.t.Context(), `insert into orders values ($1, $2)`, item, string(r.ID))
	s.is.NoErr(err)
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

func (s *shop) reference() imagegen.Reference {
	s.t.Helper()
	r, err := s.web.As("alice").StageReference(s.t.Context(), bytes.NewReader(imagegentest.PNG(16, 16)), "photo")
	s.is.NoErr(err)
	return r
}

// An order, its charge and its queued image come with one commit, and a worker in another process makes the image, from
// the reference that the web process was sent.
func TestGenerateTx(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	q := ask("order-1")
	q.References = []imagegen.Reference{s.reference()}
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
