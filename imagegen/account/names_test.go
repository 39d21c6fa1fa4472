package account_test

import (
	"context"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// counted counts how often a user is looked up.
type counted struct {
	imagegen.Store
	lookUps map[imagegen.UserID]int
}

func (c counted) User(ctx context.Context, id imagegen.UserID) (imagegen.User, error) {
	c.lookUps[id]++
	return c.Store.User(ctx, id)
}

// An answer with many rows of a member looks for its name once.
func TestNamesAreLookedUpOnce(t *testing.T) {
	is, ctx := is.New(t), t.Context()
	s := counted{memory.New(nil), map[imagegen.UserID]int{}}
	accounts := account.New(s, imagegen.NewIDs(), time.Now)
	zoe, err := accounts.CreateUser(ctx, "zoe", "")
	is.NoErr(err)
	clear(s.lookUps)
	name := accounts.Names(ctx)
	for id, want := range map[imagegen.UserID]string{zoe.ID: "zoe", "embedders_own": "embedders_own"} {
		for range 3 {
			got, err := name(id)
			is.NoErr(err)
			is.Equal(got, want)
		}
		is.Equal(s.lookUps[id], 1)
	}
	nobody, err := name("")
	is.NoErr(err)
	is.Equal(nobody, "")
	is.Equal(s.lookUps[""], 0)
}
