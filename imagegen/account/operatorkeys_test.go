package account_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func TestOperatorKeys(t *testing.T) {
	is, ctx := is.New(t), t.Context()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	db := memory.New(nil)
	keys := account.NewOperatorKeys(db, imagegen.NewIDs(), func() time.Time { return now })
	raw, k, err := keys.Mint(ctx, "payments", []string{"read", "credits", "read"}, now.Add(time.Hour))
	is.NoErr(err)
	is.True(strings.HasPrefix(raw.Reveal(), "img_ops_"))
	is.Equal(k.Prefix, raw.Reveal()[:14])
	is.Equal(k.Scopes, account.Scopes("credits,read"))

	got, err := keys.Verify(ctx, raw.Reveal())
	is.NoErr(err)
	is.Equal(got, k)
	for _, wrong := range []string{"", raw.Reveal() + "x", raw.Reveal()[:20], strings.Replace(raw.Reveal(), "ops",
		"live", 1), "img_ops_" + strings.Repeat("0", 49)} {
		_, err := keys.Verify(ctx, wrong)
		is.True(errors.Is(err, imagegen.ErrInvalidKey))
	}
	now = now.Add(time.Hour)
	_, err = keys.Verify(ctx, raw.Reveal())
	is.True(errors.Is(err, imagegen.ErrExpiredKey))
	_, err = keys.Revoke(ctx, k.ID)
	is.NoErr(err)
	_, err = keys.Verify(ctx, raw.Reveal())
	is.True(errors.Is(err, imagegen.ErrInvalidKey))
	_, err = keys.Revoke(ctx, "opk_none")
	is.True(errors.Is(err, imagegen.ErrNotFound))

	for _, unfit := range []struct {
		name    string
		scopes  []string
		expires time.Time
	}{{"", []string{"read"}, time.Time{}}, {"k", nil, time.Time{}}, {"k", []string{"reed"}, time.Time{}},
		{"k", []string{"read"}, now}} {
		_, _, err := keys.Mint(ctx, unfit.name, unfit.scopes, unfit.expires)
		is.True(errors.Is(err, imagegen.ErrInvalidRequest))
	}
	all, err := keys.List(ctx)
	is.NoErr(err)
	is.Equal(len(all), 1)
}

func TestScopes(t *testing.T) {
	is := is.New(t)
	for _, scope := range account.ScopeNames() {
		is.True(account.Scopes("all").Allow(scope))
		is.Equal(account.Scopes("credits,read").Allow(scope), scope == account.ScopeRead ||
			scope == account.ScopeCredits)
		is.True(!account.Scopes("").Allow(scope))
	}
	is.True(!account.Scopes("read").Allow(""))
}
