package adminserver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// A sponsor pays for a member, whichever way an operator asks, and reports name the member.
func TestMembers(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Caller, service *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		for _, u := range []admin.NewUser{{Name: "school", Credits: 20}, {Name: "zoe"}, {Name: "rich", Credits: 1}} {
			_, err := admin.CreateUser.Do(ctx, s, u)
			is.NoErr(err)
		}
		limits := admin.KeyLimits{Daily: 5, Concurrent: 2}
		zoe, err := admin.SetSponsor.Do(ctx, s, admin.Sponsorship{User: "zoe", Sponsor: "school", Limits: limits})
		is.NoErr(err)
		is.Equal(zoe.Sponsor, "school")
		is.Equal(*zoe.Limits, limits)
		_, err = admin.SetSponsor.Do(ctx, s, admin.Sponsorship{User: "rich", Sponsor: "school"})
		refused(t, err, "has credits")
		_, err = admin.SetSponsor.Do(ctx, s, admin.Sponsorship{User: "zoe", Sponsor: "nobody"})
		refused(t, err, `no user "nobody"`)
		_, err = admin.SetSponsor.Do(ctx, s, admin.Sponsorship{User: "school", Sponsor: "rich"})
		refused(t, err, `"school" pays for others`)
		_, err = admin.GrantCredits.Do(ctx, s, admin.Grant{User: "zoe", Credits: 5, Ref: "r"})
		refused(t, err, "is a member")

		_, err = service.As(zoe.ID).Generate(ctx, imagegen.GenerateRequest{Model: "fake-1", Prompt: "a fox"})
		is.NoErr(err)
		members, err := admin.ListMembers.Do(ctx, s, "school")
		is.NoErr(err)
		is.Equal(cmp.Diff([]admin.Member{{ID: zoe.ID, Name: "zoe", Limits: limits,
			Used: admin.KeyUse{Credits: 1, Daily: 1, Monthly: 1}}}, members), "")
		_, err = admin.ListMembers.Do(ctx, s, "nobody")
		refused(t, err, `no user "nobody"`)
		usage, err := admin.SumUsage.Do(ctx, s, admin.UsageQuery{User: "school",
			By: []imagegen.UsageGroup{imagegen.UsageByMember}})
		is.NoErr(err)
		is.Equal(len(usage.Rows), 1)
		is.Equal(*usage.Rows[0].Member, "zoe")
		of, err := admin.SumUsage.Do(ctx, s, admin.UsageQuery{User: "school", Member: "zoe"})
		is.NoErr(err)
		is.Equal(of.Rows[0].Spent, imagegen.Credits(1))
		entries, err := admin.ListEntries.Do(ctx, s, admin.HistoryPage{User: "school", Limit: 1})
		is.NoErr(err)
		is.Equal(entries[0].Member, "zoe")

		zoe, err = admin.SetSponsor.Do(ctx, s, admin.Sponsorship{User: "zoe"})
		is.NoErr(err)
		is.Equal(zoe.Sponsor, "")
	})
}

// A key on behalf of people is shown as one.
func TestKeyOnBehalf(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Caller, _ *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		_, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "school"})
		is.NoErr(err)
		made, err := admin.CreateKey.Do(ctx, s, admin.NewKey{User: "school", Members: 30,
			Limits: admin.KeyLimits{Daily: 20}})
		is.NoErr(err)
		is.Equal(made.Members, 30)
		keys, err := admin.ListKeys.Do(ctx, s, "school")
		is.NoErr(err)
		is.Equal(cmp.Diff([]admin.Key{made.Key}, keys), "")
		for _, n := range []int{-1, imagegen.MaxMembers + 1} {
			_, err = admin.CreateKey.Do(ctx, s, admin.NewKey{User: "school", Members: n})
			refused(t, err, "on behalf of people")
		}

		// Nobody could use the key of somebody who cannot pay for people.
		for _, u := range []string{"zoe", "idle", "gone"} {
			_, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: u})
			is.NoErr(err)
		}
		_, err = admin.SetSponsor.Do(ctx, s, admin.Sponsorship{User: "zoe", Sponsor: "school"})
		is.NoErr(err)
		_, err = admin.SuspendUser.Do(ctx, s, "idle")
		is.NoErr(err)
		_, err = admin.DisableUser.Do(ctx, s, "gone")
		is.NoErr(err)
		for u, why := range map[string]string{"zoe": `"zoe" has a sponsor`, "idle": `"idle" is suspended`,
			"gone": `"gone" is disabled`} {
			_, err = admin.CreateKey.Do(ctx, s, admin.NewKey{User: u, Members: 30})
			refused(t, err, why)
		}
		_, err = admin.CreateKey.Do(ctx, s, admin.NewKey{User: "zoe"}) // one of her own
		is.NoErr(err)
	})
}
