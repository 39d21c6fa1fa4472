//go:build unix

package nodes

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
)

// BenchmarkSize compares what a full database takes with what a small one does, by turns, one call after the other:
//
//	go run ./bench/populate -database "$FULL" -sql -users 50000 -generations 5000000 -queued 30000
//	go run ./bench/populate -database "$SMALL" -sql -users 1000 -generations 20000 -queued 1000
//	IMAGEGEN_BENCH_FULL=$FULL IMAGEGEN_BENCH_SMALL=$SMALL go test -run xxx -bench Size -benchtime 200x ./bench/nodes
//
// The small one has just enough for the same answers. full and small are medians, in microseconds.
func BenchmarkSize(b *testing.B) {
	made.Store(time.Now().Unix() * 1e5) // behind all that are there
	full, small := sized(b, "IMAGEGEN_BENCH_FULL"), sized(b, "IMAGEGEN_BENCH_SMALL")
	made := map[*postgres.DB]int{full: 5_000_000, small: 20_000}
	month := time.Now().AddDate(0, 0, -29)
	of := func(u imagegen.UserID, q imagegen.Query) func(context.Context, *postgres.DB) error {
		return func(ctx context.Context, db *postgres.DB) error { _, _, err := db.Generations(ctx, u, q); return err }
	}
	keys := func(db *postgres.DB) (all []imagegen.ImageKey) {
		for n := range 1000 {
			g := imagegen.GenerationID(fmt.Sprintf("gen_%026d", 1+made[db]/1000*n))
			all = append(all, imagegen.ImageKey{Generation: g, Attempt: 1, Image: imagegen.ImageID("image_" + g[4:])})
		}
		return all
	}
	for _, op := range []struct {
		name string
		do   func(context.Context, *postgres.DB) error
	}{
		{"charge and settle", func(ctx context.Context, db *postgres.DB) error { return generate(ctx, db, 1000) }},
		{"page, the newest", of("user_0", imagegen.Query{})},
		{"page, of a status", of("user_0", imagegen.Query{Status: imagegen.StatusFailed})},
		{"page, favourites", of("user_0", imagegen.Query{Favourites: true})},
		{"poll", func(ctx context.Context, db *postgres.DB) error {
			_, err := db.Generation(ctx, imagegen.GenerationID(fmt.Sprintf("gen_%026d", made[db]/2)))
			return err
		}},
		{"queue", func(ctx context.Context, db *postgres.DB) error { return queue(ctx, db) }},
		{"claim", func(ctx context.Context, db *postgres.DB) error {
			all, _, err := db.Claim(ctx, imagegen.ClaimRequest{Most: 1, Lease: time.Hour})
			if err == nil && len(all) != 1 {
				err = fmt.Errorf("%d were claimed", len(all))
			}
			return err
		}},
		{"length of the queue", func(ctx context.Context, db *postgres.DB) error {
			_, err := db.Queued(ctx, "user_1")
			return err
		}},
		{"retention, to be erased", func(ctx context.Context, db *postgres.DB) error {
			_, err := db.Ended(ctx, 24*time.Hour, 100)
			return err
		}},
		{"retention, to be forgotten", func(ctx context.Context, db *postgres.DB) error {
			_, err := db.Forgettable(ctx, imagegen.StateFailed, 24*time.Hour, 100)
			return err
		}},
		{"sweep, of 1,000 objects", func(ctx context.Context, db *postgres.DB) error {
			_, err := db.NamedImages(ctx, keys(db))
			return err
		}},
		{"end of sign-ins", func(ctx context.Context, db *postgres.DB) error {
			return db.EndSignInsAged(ctx, time.Hour, time.Hour)
		}},
		{"overview of 30 days", func(ctx context.Context, db *postgres.DB) error {
			err := db.EachUsersUsage(ctx, month, time.Now(), func(imagegen.UserID, imagegen.Usage) {})
			if err == nil {
				err = db.EachTotals(ctx, month, time.Now(), func(imagegen.TotalsRow) {})
			}
			return err
		}},
	} {
		b.Run(op.name, func(b *testing.B) {
			var took [2][]float64
			for round := range b.N {
				for k := range 2 {
					i := (round + k) % 2
					began := time.Now()
					check(b, op.do(b.Context(), []*postgres.DB{full, small}[i]))
					took[i] = append(took[i], float64(time.Since(began).Microseconds()))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(took[0]), "full")
			b.ReportMetric(median(took[1]), "small")
			b.ReportMetric(median(took[0])/median(took[1]), "ratio")
		})
	}
}

// sized opens the database that a variable names.
func sized(b *testing.B, variable string) *postgres.DB {
	b.Helper()
	url := os.Getenv(variable)
	if url == "" {
		b.Skip(variable + " names no database that bench/populate has filled")
	}
	db, err := postgres.Open(b.Context(), postgres.Config{URL: url})
	check(b, err)
	b.Cleanup(func() { check(b, db.Close()) })
	return db
}

// queue accepts an asynchronous generation.
func queue(ctx context.Context, db store) error {
	n := int(made.Add(1))
	_, err := db.CreateCharged(ctx, imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)),
			User: imagegen.UserID(user(n, 1000)), Model: "fake-1", Prompt: "a fox in the snow, seen from afar", N: 1,
			Ratio: "1:1", Tier: imagegen.Tier1K, Price: 1, CreatedAt: time.Now().UTC(), Async: true},
		Progress: imagegen.Progress{State: imagegen.StateCharging},
	}, 0)
	return err
}
