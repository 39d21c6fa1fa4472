package memory_test

import (
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

func TestStore(t *testing.T) {
	storagetest.Store(t, func(*testing.T) imagegen.Store { return memory.New(nil) })
}

func TestCurrency(t *testing.T) {
	db := memory.New(nil)
	storagetest.Currency(t, db, db)
}

func TestFeed(t *testing.T) {
	storagetest.Feed(t, func(t *testing.T, now func() time.Time) storagetest.FeedStore {
		return memory.New(&memory.Options{Now: now})
	})
}

func TestImages(t *testing.T) {
	storagetest.Images(t, func(*testing.T) imagegen.ImageStore { return memory.New(nil) })
}

func TestSpool(t *testing.T) {
	storagetest.Spool(t, func(*testing.T) imagegen.Spool { return memory.New(nil) })
}

func TestOperatorKeys(t *testing.T) {
	storagetest.OperatorKeys(t, func(*testing.T) account.OperatorKeyStore { return memory.New(nil) })
}

func TestLogins(t *testing.T) {
	storagetest.Logins(t, func(*testing.T) account.LoginStore { return memory.New(nil) })
}

func TestTrail(t *testing.T) {
	storagetest.Trail(t, func(_ *testing.T, now func() time.Time) storagetest.Trailed {
		return memory.New(&memory.Options{Now: now})
	})
}

func TestAging(t *testing.T) {
	storagetest.Aging(t, func(_ *testing.T, wall func() time.Time) storagetest.AgingStore {
		return memory.New(&memory.Options{Now: wall})
	})
}

func TestJoint(t *testing.T) {
	storagetest.Joint(t, func(*testing.T) (imagegen.TxStore, imagegen.CreditAdmin) {
		db := memory.New(nil)
		return db, db
	})
}

func TestCreditAdmin(t *testing.T) {
	storagetest.CreditAdmin(t, func(_ *testing.T, now func() time.Time) imagegen.CreditAdmin {
		return memory.New(&memory.Options{Now: now})
	})
}

// Memory belongs to one process: both handles are the DB.
func TestShared(t *testing.T) {
	storagetest.SharedStore(t, func(*testing.T) (one, other imagegen.Store) {
		db := memory.New(nil)
		return db, db
	})
	storagetest.SharedImages(t, func(*testing.T) (one, other imagegen.ImageStore) {
		db := memory.New(nil)
		return db, db
	})
	storagetest.SharedSpool(t, func(*testing.T) (one, other imagegen.Spool) {
		db := memory.New(nil)
		return db, db
	})
}
