package trail_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

const (
	rows kv.Bucket = "trail"
	ends kv.Bucket = "trail.ends"
)

// noted returns a trail of n rows.
func noted(t *testing.T, n int) (kv.DB, *trail.Trail) {
	t.Helper()
	db := kvtest.New()
	r := trail.New(db, time.Now)
	for range n {
		is.New(t).NoErr(r.Note(t.Context(), account.TrailRow{Act: "user.view", Target: "usr_1"}))
	}
	return db, r
}

// violations are what Check finds, and how many rows it went over.
func violations(t *testing.T, db kv.DB) (found []imagegen.Violation, n int) {
	t.Helper()
	is.New(t).NoErr(db.View(t.Context(), func(tx kv.Tx) (err error) {
		found = nil
		n, err = trail.Audit(t.Context(), tx, func(v imagegen.Violation) { found = append(found, v) })
		return err
	}))
	return found, n
}

func change(t *testing.T, db kv.DB, f func(tx kv.Tx)) {
	t.Helper()
	is.New(t).NoErr(db.Update(t.Context(), func(tx kv.Tx) error { f(tx); return nil }))
}

// A check finds a row that was changed, removed or inserted, and a newest row that was removed.
func TestCheck(t *testing.T) {
	row := func(tx kv.Tx, seq uint64) []byte { return bytes.Clone(tx.Get(rows, kv.Key(seq))) }
	for name, harm := range map[string]func(tx kv.Tx){
		"another target": func(tx kv.Tx) {
			tx.Put(rows, kv.Key(uint64(2)), bytes.Replace(row(tx, 2), []byte("usr_1"), []byte("usr_2"), 1))
		},
		"cut short":     func(tx kv.Tx) { tx.Put(rows, kv.Key(uint64(2)), row(tx, 2)[:8]) },
		"one taken out": func(tx kv.Tx) { tx.Delete(rows, kv.Key(uint64(2))) },
		"the oldest":    func(tx kv.Tx) { tx.Delete(rows, kv.Key(uint64(1))) },
		"the newest":    func(tx kv.Tx) { tx.Delete(rows, kv.Key(uint64(3))) },
		"all": func(tx kv.Tx) {
			tx.Delete(rows, kv.Key(uint64(1)))
			tx.Delete(rows, kv.Key(uint64(2)))
			tx.Delete(rows, kv.Key(uint64(3)))
		},
		"one put in":       func(tx kv.Tx) { tx.Put(rows, kv.Key(uint64(4)), row(tx, 3)) },
		"one in its place": func(tx kv.Tx) { tx.Put(rows, kv.Key(uint64(2)), row(tx, 1)) },
		"an end":           func(tx kv.Tx) { tx.Put(ends, []byte("newest"), []byte{1}) },
		"the other end":    func(tx kv.Tx) { tx.Put(ends, []byte("removed"), []byte{1}) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			db, _ := noted(t, 3)
			found, n := violations(t, db)
			is.Equal(len(found), 0)
			is.Equal(n, 3)
			change(t, db, harm)
			found, _ = violations(t, db)
			is.Equal(len(found), 1)
			is.Equal(found[0].Rule, "trail chain")
		})
	}
}

// A check does not miss rows that were removed by their age; it misses those that were removed with them.
func TestCheckOfTidiedTrail(t *testing.T) {
	is := is.New(t)
	db, r := noted(t, 3)
	is.NoErr(r.TidyTrail(t.Context(), time.Now().Add(time.Hour)))
	for range 2 {
		is.NoErr(r.Note(t.Context(), account.TrailRow{Act: "user.view"}))
	}
	found, n := violations(t, db)
	is.Equal(len(found), 0)
	is.Equal(n, 2)
	change(t, db, func(tx kv.Tx) { tx.Delete(rows, kv.Key(uint64(4))) })
	found, _ = violations(t, db)
	is.Equal(len(found), 1)
	is.True(strings.Contains(found[0].Detail, "row 5 follows"))
}

// While its row cannot be written nothing is done.
func TestNoActWithoutItsRow(t *testing.T) {
	is := is.New(t)
	db := kvtest.New()
	books, err := ledgerkv.New(db, time.Now)
	is.NoErr(err)
	s := tables.New(db, books)
	change(t, db, func(tx kv.Tx) { tx.Put(ends, []byte("newest"), []byte{1}) })
	ctx := context.Background()
	is.True(s.CreateUser(ctx, imagegen.User{ID: "usr_1", Name: "alice"}) != nil)
	_, err = s.User(ctx, "usr_1")
	is.Equal(err, imagegen.ErrNotFound)
	_, err = books.Grant(ctx, imagegen.Grant{User: "usr_1", Credits: 5})
	is.True(err != nil)
	b, err := books.Balance(ctx, "usr_1")
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(0))
	is.True(s.SetLogin(ctx, account.Login{User: "usr_1", Password: "p"}) != nil)
	_, err = s.Login(ctx, "usr_1")
	is.Equal(err, imagegen.ErrNotFound)
}
