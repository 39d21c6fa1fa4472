//go:build unix

package nodes

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

const (
	turn  = time.Second
	many  = 256    // clients at once
	users = 10_000 // that they are of
)

func BenchmarkNodes(b *testing.B) {
	server := postgrestest.StartOnDisk(b)
	url := server.Database(b)
	first, second, third := node(b, url), node(b, url), node(b, url)
	bolt, err := storage.Open(b.TempDir(), nil)
	check(b, err)
	b.Cleanup(func() { check(b, bolt.Close()) })
	fund(b, bolt)
	fund(b, first)

	of := func(clients, users int, nodes ...store) side { return generations{nodes, clients, users}.rate }
	b.Run("256 clients of 10,000 users, to bbolt", contest(of(many, users, first), of(many, users, bolt)))
	b.Run("256 clients of one user, to bbolt", contest(of(many, 1, first), of(many, 1, bolt)))
	b.Run("one client, bbolt to it", contest(of(1, users, bolt), of(1, users, first)))
	b.Run("three nodes, to one", contest(of(many, users, first, second, third), of(many, users, first)))
	b.Run("256 connections through HTTP, to bbolt", contest(serve(b, first, bolt), serve(b, bolt, bolt)))
}

func node(b *testing.B, url string) *postgres.DB {
	b.Helper()
	db, err := postgres.Open(context.Background(), postgres.Config{Migrate: true, URL: url +
		"&default_query_exec_mode=cache_statement"})
	check(b, err)
	b.Cleanup(func() { check(b, db.Close()) })
	return db
}

// side has a turn, and tells how much it did in a second.
type side func(ctx context.Context, during time.Duration) (rate float64, err error)

// contest holds two sides against each other. In each round the other one begins.
func contest(ours, theirs side) func(b *testing.B) {
	return func(b *testing.B) {
		sides := []side{ours, theirs}
		var rates, ratios []float64
		for round := range b.N {
			var got [2]float64
			for k := range sides {
				i := (round + k) % 2
				var err error
				got[i], err = sides[i](b.Context(), turn)
				check(b, err)
			}
			rates, ratios = append(rates, got[0]), append(ratios, got[0]/got[1])
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(median(rates), "/s")
		b.ReportMetric(median(ratios), "ratio")
		b.ReportMetric(slices.Min(ratios), "low")
		b.ReportMetric(slices.Max(ratios), "high")
	}
}

func median(v []float64) float64 { return slices.Sorted(slices.Values(v))[len(v)/2] }

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// user is the n-th of so many, in no order that a database could profit from.
func user(n, of int) string { return fmt.Sprintf("user_%d", n*7919%of) }
