package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// open opens a database until the end of the test, when its books have to be clean, and its sessions as they began.
func open(t *testing.T, url string, change ...func(*postgres.Config)) *postgres.DB {
	t.Helper()
	c := postgres.Config{Migrate: true, URL: url, Connections: 8, KeepFor: -1}
	for _, f := range change {
		f(&c)
	}
	db, err := postgres.Open(context.Background(), c)
	is.New(t).NoErr(err)
	t.Cleanup(func() {
		if !t.Failed() {
			clean(t, db)
			left, err := db.Left(context.Background())
			is.New(t).NoErr(err)
			is.New(t).Equal(strings.Join(left, ", "), "") // a pooler would hand it to somebody else
		}
		is.New(t).NoErr(db.Close())
	})
	return db
}

// clean audits a database.
func clean(t *testing.T, db interface {
	Audit(context.Context) (imagegen.AuditReport, error)
}) {
	t.Helper()
	r, err := db.Audit(context.Background())
	is.New(t).NoErr(err)
	for _, v := range r.Violations {
		t.Error(v)
	}
}

// openWhole opens one with images and reference images in memory.
func openWhole(t *testing.T, url string, change ...func(*postgres.Config)) *postgrestest.Storage {
	files := memory.New(nil)
	db := openHosted(t, url, append(change, func(c *postgres.Config) { c.Images = files })...)
	return &postgrestest.Storage{DB: db, ImageStore: files, Spool: files}
}

// by has the clock of a test in the place of the database's.
func by(now func() time.Time) func(*postgres.Config) {
	return func(c *postgres.Config) { c.Now = now }
}

func TestStore(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.Store(t, func(t *testing.T) imagegen.Store { return openHosted(t, s.Database(t), by(time.Now)) })
}

func TestOperatorKeys(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.OperatorKeys(t, func(t *testing.T) account.OperatorKeyStore { return openHosted(t, s.Database(t)) })
}

func TestLogins(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.Logins(t, func(t *testing.T) account.LoginStore { return openHosted(t, s.Database(t)) })
}

// Two nodes have one secret and one currency, and see each other's marks.
func TestMarksOfTwoNodes(t *testing.T) {
	url := postgrestest.Start(t).Database(t)
	one, other := open(t, url), open(t, url)
	storagetest.SharedSecret(t, one, other)
	storagetest.MarksInTurn(t, one, other)
	storagetest.Currency(t, one, other)
}

func TestTrail(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.Trail(t, func(t *testing.T, now func() time.Time) storagetest.Trailed {
		return openHosted(t, s.Database(t), by(now))
	})
}

func TestAging(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.Aging(t, func(t *testing.T, wall func() time.Time) storagetest.AgingStore {
		return openHosted(t, s.Database(t), by(wall))
	})
}

func TestLeaps(t *testing.T) {
	s := postgrestest.Start(t)
	imagegentest.Leaps(t, func(t *testing.T, wall func() time.Time) func() imagegentest.TimedStore {
		url, files := s.Database(t), memory.New(&memory.Options{Now: wall})
		opened := func() *fewLooks {
			db, err := postgres.Open(context.Background(), postgres.Config{Migrate: true, URL: url, Now: wall,
				KeepFor: -1, Poll: time.Hour, Images: files})
			is.New(t).NoErr(err)
			t.Cleanup(func() { is.New(t).NoErr(db.Close()) })
			return &fewLooks{Storage: &postgrestest.Storage{DB: db, ImageStore: files, Spool: files}}
		}
		t.Cleanup(func() { clean(t, opened()) })
		return func() imagegentest.TimedStore { return opened() }
	})
}

// fewLooks looks for abandoned work once an hour: the engine does so every three seconds, and days of virtual time
// would be a hundred thousand transactions.
type fewLooks struct {
	*postgrestest.Storage
	looked time.Time
}

func (f *fewLooks) Recover(ctx context.Context, n int, lease time.Duration) ([]imagegen.Record, error) {
	if time.Since(f.looked) < time.Hour {
		return nil, nil
	}
	f.looked = time.Now()
	return f.Storage.Recover(ctx, n, lease)
}

func (f *fewLooks) Joins(l imagegen.Ledger) bool {
	return l == imagegen.Ledger(f) || f.Storage.Joins(l)
}

func TestCreditAdmin(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.CreditAdmin(t, func(t *testing.T, now func() time.Time) imagegen.CreditAdmin {
		return openHosted(t, s.Database(t), by(now))
	})
}

func TestService(t *testing.T) {
	s := postgrestest.Start(t)
	imagegentest.Service(t, func(t *testing.T) imagegentest.Fixture {
		db := openWhole(t, s.Database(t))
		e := imagegentest.StartOver(t, db)
		return imagegentest.Fixture{Alice: e.As(imagegentest.Alice), Bob: e.As(imagegentest.Bob)}
	})
}

func TestPrices(t *testing.T) {
	s := postgrestest.Start(t)
	imagegentest.Prices(t, func(t *testing.T) imagegentest.Fixture {
		e := imagegentest.StartOver(t, openWhole(t, s.Database(t)), func(c *engine.Config) {
			c.Models = []engine.Model{imagegentest.Priced()}
		})
		return imagegentest.Fixture{Alice: e.As(imagegentest.Alice), Bob: e.As(imagegentest.Bob)}
	})
}

func TestTotals(t *testing.T) {
	s := postgrestest.Start(t)
	imagegentest.Totals(t, func(t *testing.T) imagegentest.Storage { return openWhole(t, s.Database(t)) })
}

// One node has a database, or three share it.
func TestTeam(t *testing.T) {
	s := postgrestest.Start(t)
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			imagegentest.Team(t, func(t *testing.T) (all []imagegentest.Storage) {
				url, files := s.Database(t), memory.New(nil)
				for range nodes {
					db := open(t, url, func(c *postgres.Config) { c.Images = files })
					all = append(all, &postgrestest.Storage{DB: db, ImageStore: files, Spool: files})
				}
				return all
			})
		})
	}
}

func TestPayers(t *testing.T) {
	s := postgrestest.Start(t)
	imagegentest.Payers(t, func(t *testing.T) imagegentest.Storage { return openWhole(t, s.Database(t)) })
}

// Two processes share a database as one has it.
func TestShared(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.SharedStore(t, func(t *testing.T) (one, other imagegen.Store) {
		url := s.Database(t)
		return openHosted(t, url, by(time.Now)), openHosted(t, url, by(time.Now))
	})
	storagetest.SharedCreditAdmin(t, func(t *testing.T, now func() time.Time) (one, other imagegen.CreditAdmin) {
		url := s.Database(t)
		return openHosted(t, url, by(now)), openHosted(t, url, by(now))
	})
}

// The stand-in for a database with files beside it keeps what each of the two can do.
func TestStorageForwards(t *testing.T) {
	storagetest.Forwards(t, new(postgrestest.Storage), new(postgres.DB))
	storagetest.Forwards(t, new(postgrestest.Storage), new(memory.DB))
}

func TestFeed(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.Feed(t, func(t *testing.T, now func() time.Time) storagetest.FeedStore {
		return openWhole(t, s.Database(t), by(now))
	})
}

func TestTurn(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.Turns(t, func(t *testing.T, now func() time.Time) (one, other imagegen.TurnTaker) {
		url := s.Database(t)
		return open(t, url, by(now)), open(t, url, by(now))
	})
}

// How far a duty has come outlasts the process that had the turn.
func TestPlaceOfADuty(t *testing.T) {
	s, is, ctx := postgrestest.Start(t), is.New(t), t.Context()
	url := s.Database(t)
	one, other := open(t, url), open(t, url)
	has := func(want *string) {
		t.Helper()
		place, err := other.Place(ctx, "sweep")
		is.NoErr(err)
		is.Equal(place, want)
	}
	has(nil)
	mine, err := one.Turn(ctx, "sweep", time.Hour)
	is.NoErr(err)
	is.True(mine)
	has(nil)
	for _, place := range []*string{new(""), new("images/1"), nil} {
		is.NoErr(one.SetPlace(ctx, "sweep", place))
		has(place)
	}
}

// No file stays behind when its work has ended.
func TestTidy(t *testing.T) {
	s := postgrestest.Start(t)
	imagegentest.Tidy(t, func(t *testing.T) imagegentest.Tidied {
		db := openWhole(t, s.Database(t))
		return tidied{db, db.ImageStore.(*memory.DB)}
	})
}

// tidied lists the files beside a database.
type tidied struct {
	*postgrestest.Storage
	files *memory.DB
}

func (t tidied) Images() []imagegen.ImageKey        { return t.files.Images() }
func (t tidied) References() []imagegen.ReferenceID { return t.files.References() }
func (t tidied) Joins(l imagegen.Ledger) bool       { return l == imagegen.Ledger(t) || t.Storage.Joins(l) }

// What the feed costs, see storagetest.BenchmarkFeed.
func BenchmarkFeed(b *testing.B) {
	s := postgrestest.Start(b)
	for _, keep := range []bool{false, true} {
		b.Run(fmt.Sprint("keep=", keep), func(b *testing.B) {
			db, err := postgres.Open(b.Context(), postgres.Config{URL: s.Database(b), Migrate: true})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			storagetest.BenchmarkFeed(b, db, keep)
		})
	}
}
