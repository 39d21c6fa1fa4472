package storage_test

import (
	"os"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// open opens a new directory, and closes it at the end. What it is for is not about the disk, so
// it lies in memory where that can be had.
func open(t *testing.T, o *storage.Options) *storage.DB {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "imagegend-")
	if err != nil {
		return openDir(t, t.TempDir(), o)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return openDir(t, dir, o)
}

func openDir(t *testing.T, dir string, o *storage.Options) *storage.DB {
	t.Helper()
	is := is.New(t)
	db, err := storage.Open(dir, o)
	is.NoErr(err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestStore(t *testing.T) {
	storagetest.Store(t, func(t *testing.T) imagegen.Store { return open(t, nil) })
}

func TestCurrency(t *testing.T) {
	db := open(t, nil)
	storagetest.Currency(t, db, db)
}

func TestFeed(t *testing.T) {
	storagetest.Feed(t, func(t *testing.T, now func() time.Time) storagetest.FeedStore {
		return open(t, &storage.Options{Now: now})
	})
}

func TestImages(t *testing.T) {
	storagetest.Images(t, func(t *testing.T) imagegen.ImageStore { return open(t, nil) })
}

func TestSpool(t *testing.T) {
	storagetest.Spool(t, func(t *testing.T) imagegen.Spool { return open(t, nil) })
}

func TestOperatorKeys(t *testing.T) {
	storagetest.OperatorKeys(t, func(t *testing.T) account.OperatorKeyStore { return open(t, nil) })
}

func TestLogins(t *testing.T) {
	storagetest.Logins(t, func(t *testing.T) account.LoginStore { return open(t, nil) })
}

func TestTrail(t *testing.T) {
	storagetest.Trail(t, func(t *testing.T, now func() time.Time) storagetest.Trailed {
		return open(t, &storage.Options{Now: now})
	})
}

func TestAging(t *testing.T) {
	storagetest.Aging(t, func(t *testing.T, wall func() time.Time) storagetest.AgingStore {
		return open(t, &storage.Options{Now: wall})
	})
}

func TestJoint(t *testing.T) {
	storagetest.Joint(t, func(t *testing.T) (imagegen.TxStore, imagegen.CreditAdmin) {
		db := open(t, nil)
		return db, db
	})
}

// The suite of the CreditAdmin includes that of the Ledger.
func TestCreditAdmin(t *testing.T) {
	storagetest.CreditAdmin(t, func(t *testing.T, now func() time.Time) imagegen.CreditAdmin {
		return open(t, &storage.Options{Now: now})
	})
}

// One process has a directory at a time: both handles are the DB.
func TestSharedStore(t *testing.T) {
	storagetest.SharedStore(t, func(t *testing.T) (one, other imagegen.Store) {
		db := open(t, nil)
		return db, db
	})
}

func TestSharedCreditAdmin(t *testing.T) {
	storagetest.SharedCreditAdmin(t, func(t *testing.T, now func() time.Time) (one, other imagegen.CreditAdmin) {
		db := open(t, &storage.Options{Now: now})
		return db, db
	})
}

func TestSharedFiles(t *testing.T) {
	storagetest.SharedImages(t, func(t *testing.T) (one, other imagegen.ImageStore) {
		db := open(t, nil)
		other, _, err := db.OtherFiles()
		is.New(t).NoErr(err)
		return db, other
	})
	storagetest.SharedSpool(t, func(t *testing.T) (one, other imagegen.Spool) {
		db := open(t, nil)
		_, other, err := db.OtherFiles()
		is.New(t).NoErr(err)
		return db, other
	})
}
