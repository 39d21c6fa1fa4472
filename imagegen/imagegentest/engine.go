package imagegentest

import (
	"context"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// Users of the engines that Start makes.
const (
	Alice = imagegen.UserID("alice")
	Bob   = imagegen.UserID("bob")
)

// Running is a running engine over the memory storage.
type Running struct {
	*engine.Engine
	DB *memory.DB
}

// Start starts an engine as Fixture describes it, and stops it when the test ends. change
// can alter the configuration first.
func Start(t testing.TB, change ...func(*engine.Config)) Running {
	t.Helper()
	db := memory.New(nil)
	return Running{StartOver(t, db, change...), db}
}

// StartOver starts one over another storage.
func StartOver(t testing.TB, db Storage, change ...func(*engine.Config)) *engine.Engine {
	t.Helper()
	is := is.New(t)
	cfg := engine.Config{Store: db, Ledger: db, Models: []engine.Model{{
		ID: Model, Provider: &provider.Fake{}, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 2, "4K": 4},
	}}}
	for _, c := range change {
		c(&cfg)
	}
	service, err := engine.New(cfg)
	is.NoErr(err)
	is.NoErr(service.Start())
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what still runs is cut short
		if err := service.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	grant(t, db, Alice, 100)
	grant(t, db, Bob, 3)
	return service
}

// Grant gives credits that never expire.
func (r Running) Grant(t testing.TB, u imagegen.UserID, n imagegen.Credits) {
	t.Helper()
	grant(t, r.DB, u, n)
}

func grant(t testing.TB, db imagegen.CreditAdmin, u imagegen.UserID, n imagegen.Credits) {
	t.Helper()
	_, err := db.Grant(t.Context(), imagegen.Grant{User: u, Credits: n})
	is.New(t).NoErr(err)
}

// Key returns a new raw API key of a user.
func (r Running) Key(t testing.TB, u imagegen.UserID) string {
	t.Helper()
	raw, _, err := r.Accounts().MintKey(t.Context(), u, "test", time.Time{})
	is.New(t).NoErr(err)
	return raw.Reveal()
}
