package storage_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// What the console's overview reads: the usage of all users in 30 days, on each of which so many of them had
// images made, each with a key and a model, so that there is a row for each.
func BenchmarkEachUsage(b *testing.B) {
	for _, users := range []int{100, 3000} {
		b.Run(fmt.Sprintf("rows=%d", 30*users), func(b *testing.B) {
			db, last := withUsage(b, users)
			for b.Loop() {
				rows := 0
				err := db.EachUsage(b.Context(), last.AddDate(0, 0, -29), last, func(imagegen.UserID, imagegen.Usage) {
					rows++
				})
				if err != nil || rows != 30*users {
					b.Fatal(rows, err)
				}
			}
		})
	}
}

// withUsage has users charged on each of 30 days; it returns the last.
func withUsage(b *testing.B, users int) (*storage.DB, time.Time) {
	b.Helper()
	var day atomic.Pointer[time.Time]
	day.Store(&epoch)
	db, err := storage.Open(b.TempDir(), &storage.Options{Now: func() time.Time { return *day.Load() }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	user := func(n int) imagegen.UserID { return imagegen.UserID(fmt.Sprintf("user-%d", n)) }
	atOnce(b, 256, users, func(n int) error {
		_, err := db.Grant(b.Context(), imagegen.Grant{User: user(n), Credits: 1000})
		return err
	})
	for n := range 30 {
		at := epoch.AddDate(0, 0, n)
		day.Store(&at)
		if err := db.ConfirmClock(b.Context()); err != nil {
			b.Fatal(err)
		}
		atOnce(b, 256, users, func(n int) error {
			id := imagegen.ChargeID(fmt.Sprintf("charge-%d-%d", at.Unix(), n))
			return db.Charge(b.Context(), imagegen.Charge{ID: id, User: user(n), Credits: 1, Model: "m",
				Key: imagegen.KeyID("key-" + user(n)), N: 1})
		})
	}
	return db, *day.Load()
}
