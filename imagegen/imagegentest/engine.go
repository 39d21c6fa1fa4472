package imagegentest

import (
	"context"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"

	"github.com/matryer/is"
)

// Users of the engines that Start makes.
const (
	Alice = imagegen.UserID("alice")
	Bob   = imagegen.UserID("bob")
)

// Running is an engine at work over the memory storage.
type Running struct {
	*engine.Engine
	DB *memory.DB
}

// Start starts an engine that meets Fixture; it is stopped when the test ends. change may alter the
// configuration before.
func Start(t testing.TB, change ...func(*engine.Config)) Running {
	t.Helper()
	is := is.New(t)
	db := memory.New(nil)
	cfg := engine.Config{Store: db, Ledger: db, Models: []engine.Model{{
		ID: Model, Provider: &provider.Fake{}, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 2, "4K": 4},
	}}}
	for _, c := range change {
		c(&cfg)
	}
	service, err := engine.New(cfg)
	is.NoErr(err)
	is.NoErr(service.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what still runs is cut short
		if err := service.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	r := Running{service, db}
	r.Grant(t, Alice, 100)
	r.Grant(t, Bob, 3)
	return r
}

// Grant gives credits that never expire.
func (r Running) Grant(t testing.TB, u imagegen.UserID, n imagegen.Credits) {
	t.Helper()
	_, err := r.DB.Grant(t.Context(), imagegen.Grant{User: u, Credits: n})
	is.New(t).NoErr(err)
}

// Key returns a new raw API key of a user.
func (r Running) Key(t testing.TB, u imagegen.UserID) string {
	t.Helper()
	raw, _, err := r.Accounts().MintKey(t.Context(), u, "test", time.Time{})
	is.New(t).NoErr(err)
	return raw.Reveal()
}
