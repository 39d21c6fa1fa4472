package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// open opens a database until the end of the test, when its books have to be clean.
func open(t *testing.T, url string, change ...func(*postgres.Config)) *postgres.DB {
	t.Helper()
	c := postgres.Config{URL: url, Connections: 8, KeepFor: -1}
	for _, f := range change {
		f(&c)
	}
	db, err := postgres.Open(context.Background(), c)
	is.New(t).NoErr(err)
	t.Cleanup(func() {
		if !t.Failed() {
			clean(t, db)
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
	db := open(t, url, append(change, func(c *postgres.Config) { c.Images = files })...)
	return &postgrestest.Storage{DB: db, ImageStore: files, Spool: files}
}

// by has the clock of a test in the place of the database's.
func by(now func() time.Time) func(*postgres.Config) {
	return func(c *postgres.Config) { c.Now = now }
}

func TestStore(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.Store(t, func(t *testing.T) imagegen.Store { return open(t, s.Database(t), by(time.Now)) })
}

func TestOperatorKeys(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.OperatorKeys(t, func(t *testing.T) account.OperatorKeyStore { return open(t, s.Database(t)) })
}

func TestLogins(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.Logins(t, func(t *testing.T) account.LoginStore { return open(t, s.Database(t)) })
}

func TestTrail(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.Trail(t, func(t *testing.T, now func() time.Time) storagetest.Trailed {
		return open(t, s.Database(t), by(now))
	})
}

func TestJoint(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.Joint(t, func(t *testing.T) (imagegen.JointStore, imagegen.CreditAdmin) {
		db := open(t, s.Database(t))
		return db, db
	})
}

func TestCreditAdmin(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.CreditAdmin(t, func(t *testing.T, now func() time.Time) imagegen.CreditAdmin {
		return open(t, s.Database(t), by(now))
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

// Two processes share a database as one has it.
func TestShared(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.SharedStore(t, func(t *testing.T) (one, other imagegen.Store) {
		url := s.Database(t)
		return open(t, url, by(time.Now)), open(t, url, by(time.Now))
	})
	storagetest.SharedCreditAdmin(t, func(t *testing.T, now func() time.Time) (one, other imagegen.CreditAdmin) {
		url := s.Database(t)
		return open(t, url, by(now)), open(t, url, by(now))
	})
}
