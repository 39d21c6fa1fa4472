package adminserver_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// A repetition says that it is one, and the balance of now rather than of then.
func TestRepeatedReference(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Caller, _ *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		_, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "alice"})
		is.NoErr(err)
		first, err := admin.GrantCredits.Do(ctx, s, admin.Grant{User: "alice", Credits: 10, Ref: "g"})
		is.NoErr(err)
		taken, err := admin.RevokeCredits.Do(ctx, s, admin.Revocation{User: "alice", Credits: 2, Ref: "r"})
		is.NoErr(err)
		// without a reference each counts
		plain, err := admin.GrantCredits.Do(ctx, s, admin.Grant{User: "alice", Credits: 100})
		is.NoErr(err)
		is.True(!first.Repeated && !taken.Repeated && !plain.Repeated)

		granted, err := admin.GrantCredits.Do(ctx, s, admin.Grant{User: "alice", Credits: 10, Ref: "g"})
		is.NoErr(err)
		is.True(granted.Repeated)
		is.Equal(granted.Balance, imagegen.Credits(108))
		revoked, err := admin.RevokeCredits.Do(ctx, s, admin.Revocation{User: "alice", Credits: 2, Ref: "r"})
		is.NoErr(err)
		is.True(revoked.Repeated)
		is.Equal(revoked.Seq, taken.Seq)
		is.Equal(revoked.Balance, imagegen.Credits(108))
	})
}

// A reference stands for a grant with all its terms; a script that is run again says the same ones.
func TestRepeatedReferenceOnOtherTerms(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Caller, _ *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		_, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "alice"})
		is.NoErr(err)
		in := func(d time.Duration) admin.Time { return admin.Time{Time: time.Now().Add(d)} }
		standing := admin.Grant{User: "alice", Credits: 10, Promo: true, Priority: 7, Expires: in(time.Hour), Ref: "g"}
		_, err = admin.GrantCredits.Do(ctx, s, standing)
		is.NoErr(err)
		for name, test := range map[string]struct {
			change func(*admin.Grant)
			same   bool
		}{
			"all the same":        {func(*admin.Grant) {}, true},
			"as long from now":    {func(g *admin.Grant) { g.Expires = in(time.Hour) }, true},
			"longer from now":     {func(g *admin.Grant) { g.Expires = in(2 * time.Hour) }, false},
			"without an expiry":   {func(g *admin.Grant) { g.Expires = admin.Time{} }, false},
			"another priority":    {func(g *admin.Grant) { g.Priority = 8 }, false},
			"the usual priority":  {func(g *admin.Grant) { g.Priority = 0 }, false},
			"paid, where it gave": {func(g *admin.Grant) { g.Promo = false }, false},
		} {
			t.Run(name, func(t *testing.T) {
				is := is.New(t)
				g := standing
				test.change(&g)
				again, err := admin.GrantCredits.Do(ctx, s, g)
				if !test.same {
					refused(t, err, `"g"`, "promotional, priority 7, expiry ", "nothing was changed")
					return
				}
				is.NoErr(err)
				is.True(again.Repeated)
			})
		}
	})
}
