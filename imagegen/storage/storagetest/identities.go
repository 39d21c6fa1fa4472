package storagetest

import (
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

func testIdentities(l *logins) {
	is, ctx := l.is, l.t.Context()
	const one, two = "https://one.example", "https://two.example"
	none := func(u imagegen.UserID, issuer, subject string) {
		l.t.Helper()
		_, err := l.Identity(ctx, issuer, subject)
		is.True(errors.Is(err, imagegen.ErrNotFound))
		_, err = l.UserIdentity(ctx, u, issuer)
		is.True(errors.Is(err, imagegen.ErrNotFound))
	}
	none("usr_1", one, "a")
	all := []account.Identity{{Issuer: one, Subject: "a", User: "usr_1", CreatedAt: epoch}, {Issuer: two, Subject: "a",
		User: "usr_2", CreatedAt: epoch},
		{Issuer: two, Subject: "b", User: "usr_1", CreatedAt: epoch}}
	for range 2 { // a repetition is success
		for _, i := range all {
			is.NoErr(l.CreateIdentity(ctx, i))
		}
	}
	is.True(errors.Is(l.CreateIdentity(ctx, account.Identity{Issuer: one, Subject: "a", User: "usr_3"}),
		imagegen.ErrExists)) // another's
	is.True(errors.Is(l.CreateIdentity(ctx, account.Identity{Issuer: one, Subject: "c", User: "usr_1"}),
		imagegen.ErrExists)) // one more of the same issuer
	// of nobody
	is.True(l.CreateIdentity(ctx, account.Identity{Issuer: one, Subject: "n"}) != nil)
	for _, want := range all {
		got, err := l.Identity(ctx, want.Issuer, want.Subject)
		is.NoErr(err)
		is.Equal(diff(want, got), "")
		got, err = l.UserIdentity(ctx, want.User, want.Issuer)
		is.NoErr(err)
		is.Equal(diff(want, got), "")
	}
	for range 2 {
		is.NoErr(l.RemoveIdentity(ctx, "usr_1", one))
	}
	none("usr_1", one, "a")
	_, err := l.UserIdentity(ctx, "usr_1", two)
	is.NoErr(err)
	// anew
	is.NoErr(l.CreateIdentity(ctx, account.Identity{Issuer: one, Subject: "a", User: "usr_3", CreatedAt: epoch}))
}
