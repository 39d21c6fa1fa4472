package storagetest

import (
	"errors"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Identities holds an [account.IdentityStore] to its contract. open returns an empty one.
func Identities(t *testing.T, open func(t *testing.T) account.IdentityStore) {
	is, ctx, s := is.New(t), t.Context(), open(t)
	const one, two = "https://one.example", "https://two.example"
	none := func(u imagegen.UserID, issuer, subject string) {
		t.Helper()
		_, err := s.Identity(ctx, issuer, subject)
		is.True(errors.Is(err, imagegen.ErrNotFound))
		_, err = s.UserIdentity(ctx, u, issuer)
		is.True(errors.Is(err, imagegen.ErrNotFound))
	}
	none("usr_1", one, "a")
	all := []account.Identity{{Issuer: one, Subject: "a", User: "usr_1", CreatedAt: epoch}, {Issuer: two, Subject: "a", User: "usr_2", CreatedAt: epoch},
		{Issuer: two, Subject: "b", User: "usr_1", CreatedAt: epoch}}
	for range 2 { // a repetition is success
		for _, i := range all {
			is.NoErr(s.CreateIdentity(ctx, i))
		}
	}
	is.True(errors.Is(s.CreateIdentity(ctx, account.Identity{Issuer: one, Subject: "a", User: "usr_3"}), imagegen.ErrExists)) // another's
	is.True(errors.Is(s.CreateIdentity(ctx, account.Identity{Issuer: one, Subject: "c", User: "usr_1"}), imagegen.ErrExists)) // one more of the same issuer
	is.True(s.CreateIdentity(ctx, account.Identity{Issuer: one, Subject: "n"}) != nil)                                        // of nobody
	for _, want := range all {
		got, err := s.Identity(ctx, want.Issuer, want.Subject)
		is.NoErr(err)
		is.Equal(diff(want, got), "")
		got, err = s.UserIdentity(ctx, want.User, want.Issuer)
		is.NoErr(err)
		is.Equal(diff(want, got), "")
	}
	for range 2 {
		is.NoErr(s.RemoveIdentity(ctx, "usr_1", one))
	}
	none("usr_1", one, "a")
	_, err := s.UserIdentity(ctx, "usr_1", two)
	is.NoErr(err)
	is.NoErr(s.CreateIdentity(ctx, account.Identity{Issuer: one, Subject: "a", User: "usr_3", CreatedAt: epoch})) // anew
}
