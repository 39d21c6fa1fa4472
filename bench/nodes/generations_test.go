//go:build unix

package nodes

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/imagegend/imagegend/imagegen"
)

// store is what is measured of a database.
type store interface {
	imagegen.TxStore
	imagegen.CreditAdmin
}

// generations are made by clients. Each has a node of its own, and begins the next generation when the last has ended.
type generations struct {
	nodes   []store
	clients int
	users   int
}

// made counts them: no two have one identifier.
var made atomic.Int64

func (g generations) rate(ctx context.Context, during time.Duration) (float64, error) {
	var count atomic.Int64
	began := time.Now()
	var clients errgroup.Group
	for c := range g.clients {
		clients.Go(func() error {
			for time.Since(began) < during {
				if err := generate(ctx, g.nodes[c%len(g.nodes)], g.users); err != nil {
					return err
				}
				count.Add(1)
			}
			return nil
		})
	}
	err := clients.Wait()
	return float64(count.Load()) / time.Since(began).Seconds(), err
}

// generate writes a generation down as the engine does: charged, and settled with one image.
func generate(ctx context.Context, db store, users int) error {
	n, now := int(made.Add(1)), time.Now().UTC()
	r, err := db.CreateCharged(ctx, imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)),
			User: imagegen.UserID(user(n, users)), Model: "fake-1", Prompt: "a fox in the snow, seen from afar", N: 1,
			Ratio: "1:1", Tier: imagegen.Tier1K, Price: 1, CreatedAt: now},
		Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1},
	}, time.Minute)
	if err != nil {
		return err
	}
	_, err = db.FinishSettled(ctx, r.Fence(), imagegen.OutcomeChange{At: now, Images: []imagegen.StoredImage{{
		ID: imagegen.ImageID(fmt.Sprintf("image_%026d%026d", n, 0)), Attempt: 1, MediaType: "image/png", Width: 1024,
		Height: 1024, Size: 1 << 20, CreatedAt: now,
	}}})
	return err
}

// fund gives every user credits for the whole run.
func fund(b *testing.B, db store) {
	b.Helper()
	atOnce(b, users, func(n int) error {
		_, err := db.Grant(b.Context(), imagegen.Grant{User: imagegen.UserID(user(n, users)), Credits: 1_000_000})
		return err
	})
}

// atOnce does something so many times, many of them at once.
func atOnce(b *testing.B, times int, f func(n int) error) {
	b.Helper()
	var g errgroup.Group
	g.SetLimit(many)
	for n := range times {
		g.Go(func() error { return f(n) })
	}
	check(b, g.Wait())
}
