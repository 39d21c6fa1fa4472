package movetest

import (
	"context"
	"errors"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/s3"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// place is somewhere to move to and from.
type place interface {
	// end opens it for a move.
	end(t *testing.T, into bool) (transfer.End, func())
	// open opens it for use.
	open(t *testing.T) (house, error)
}

// house is a storage in use.
type house interface {
	imagegen.TxStore
	imagegen.CreditAdmin
	account.LoginStore
	account.OperatorKeyStore
	account.TrailStore
	imagegen.Inspector
	imagegen.ImageStore
	imagegen.Spool
	Close() error
}

type directory string

func (d directory) end(t *testing.T, into bool) (transfer.End, func()) {
	is := is.New(t)
	e, err := storage.OpenTransferEndpoint(string(d), into)
	is.NoErr(err)
	return transfer.End{Name: string(d), Database: e, Images: e.Images(), Spool: e.Spool()}, func() {
		is.NoErr(e.Close())
	}
}

func (d directory) open(*testing.T) (house, error) { return storage.Open(string(d), nil) }

// cluster is a database and an object store.
type cluster struct {
	url     string
	objects s3.Config
}

// newCluster is empty. Without the programs for one the test is skipped.
func newCluster(t *testing.T) place {
	is, server := is.New(t), postgrestest.Start(t)
	objects, err := s3.ParseURL(s3test.Start(t).Address())
	is.NoErr(err)
	return cluster{server.Database(t), objects}
}

func (c cluster) store(t *testing.T) *s3.Store {
	c.objects.Dir = t.TempDir()
	store, err := s3.Open(t.Context(), c.objects)
	is.New(t).NoErr(err)
	return store
}

func (c cluster) end(t *testing.T, _ bool) (transfer.End, func()) {
	is, objects := is.New(t), c.store(t)
	e, err := postgres.OpenTransferEndpoint(t.Context(), postgres.Config{Migrate: true, URL: c.url, Images: objects})
	is.NoErr(err)
	return transfer.End{Name: "the cluster", Database: e, Images: objects, Spool: objects}, func() {
		is.NoErr(errors.Join(e.Close(), objects.Close()))
	}
}

type sharedHouse struct {
	*postgres.DB
	*s3.Store
}

func (s sharedHouse) Close() error { return errors.Join(s.DB.Close(), s.Store.Close()) }

func (c cluster) open(t *testing.T) (house, error) {
	objects := c.store(t)
	db, err := postgres.Open(t.Context(), postgres.Config{Migrate: true, URL: c.url, Images: objects})
	if err != nil {
		return nil, errors.Join(err, objects.Close())
	}
	return sharedHouse{db, objects}, nil
}

var errKilled = errors.New("killed")

// mortal is an end whose process dies at one of its writes: before it is done, or after.
type mortal struct {
	transfer.Database
	life  *int // writes that are left
	after bool
}

func (m mortal) lives(write func() error) error {
	*m.life--
	if *m.life > 0 || *m.life == 0 && m.after {
		if err := write(); err != nil || *m.life > 0 {
			return err
		}
	}
	return errKilled
}

func (m mortal) SetMark(ctx context.Context, former, mark transfer.Mark) error {
	return m.lives(func() error { return m.Database.SetMark(ctx, former, mark) })
}

func (m mortal) Take(ctx context.Context, rows []transfer.Row, former, mark transfer.Mark) error {
	return m.lives(func() error { return m.Database.Take(ctx, rows, former, mark) })
}
