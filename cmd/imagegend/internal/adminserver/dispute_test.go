package adminserver_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// disputed leaves a generation whose charge was settled to another amount behind its back.
func disputed(t *testing.T, l *adminserver.Local, u imagegen.UserID, n int) imagegen.Record {
	is, ctx := is.New(t), t.Context()
	r := imagegen.Record{Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)), User: u,
		Model: "fake-1", Prompt: "a secret fox", N: 2, Price: 2, CreatedAt: time.Now()},
		Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1}}
	r, err := l.DB.CreateCharged(ctx, r, time.Hour)
	is.NoErr(err)
	is.NoErr(l.DB.Settle(ctx, r.Charge().ID, 3))
	r, err = l.DB.FinishSettled(ctx, r.Fence(), imagegen.OutcomeChange{At: time.Now()})
	is.NoErr(err)
	return r
}

// An operator finds each charge that the ledger refuses to close, and ends the dispute.
func TestDisputes(t *testing.T) {
	dir := t.TempDir()
	local := open(t, dir)
	serve(t, dir, local)
	remote, err := adminserver.Open(t.Context(), in(dir))
	is.New(t).NoErr(err)
	t.Cleanup(func() { remote.Close() })
	u, err := admin.CreateUser.Do(t.Context(), local, admin.NewUser{Name: "alice", Credits: 100})
	is.New(t).NoErr(err)
	for n, s := range []admin.Caller{local, remote} {
		is, ctx := is.New(t), t.Context()
		all, err := admin.ListDisputes.Do(ctx, s, admin.None{})
		is.NoErr(err)
		is.Equal(len(all), n)
		r := disputed(t, local, u.ID, n+1)
		all, err = admin.ListDisputes.Do(ctx, s, admin.None{})
		is.NoErr(err)
		is.Equal(len(all), n+1)
		is.Equal(all[n].ID, r.ID)
		is.Equal(all[n].User, "alice")
		is.Equal(all[n].Charged, imagegen.Credits(4))
		is.True(all[n].Dispute != "")
		g, err := admin.GetGeneration.Do(ctx, s, r.ID)
		is.NoErr(err)
		is.Equal(g.Dispute, all[n].Dispute)

		_, err = admin.ResolveDispute.Do(ctx, s, admin.Resolution{Generation: r.ID, Refund: true})
		refused(t, err, "another", "nothing was changed", "--by-hand")
		_, err = admin.ResolveDispute.Do(ctx, s, admin.Resolution{Generation: "gen_nowhere"})
		refused(t, err, `no generation "gen_nowhere"`)
	}
	report, err := admin.Audit.Do(t.Context(), local, admin.None{})
	is.New(t).NoErr(err)
	is.New(t).True(report.Clean())
}

// A resolved dispute is no longer listed, and is in the audit trail.
func TestResolve(t *testing.T) {
	for _, refund := range []bool{true, false} {
		is, ctx := is.New(t), t.Context()
		local := open(t, t.TempDir())
		u, err := admin.CreateUser.Do(ctx, local, admin.NewUser{Name: "alice", Credits: 100})
		is.NoErr(err)
		r, err := local.DB.Create(ctx, imagegen.Record{Intent: imagegen.Intent{ID: "gen_00000000000000000000000001",
			User: u.ID, Model: "fake-1", Prompt: "a fox", N: 2, Price: 2, CreatedAt: time.Now()},
			Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1}}, time.Hour)
		is.NoErr(err)
		_, err = local.DB.Update(ctx, r.Fence(), imagegen.AcceptChange{}) // charged elsewhere
		is.NoErr(err)
		made := imagegen.OutcomeChange{At: time.Now(),
			Images: []imagegen.StoredImage{{ID: "image_0000000000000000000000000100000000000000000000000001",
				Attempt: 1, MediaType: "image/png", Width: 1, Height: 1, Size: 1, CreatedAt: time.Now()}}}
		_, err = local.DB.FinishSettled(ctx, r.Fence(), made)
		is.NoErr(err)
		d, err := admin.ResolveDispute.Do(ctx, local, admin.Resolution{Generation: r.ID, Refund: refund})
		is.NoErr(err)
		spent := imagegen.Credits(2)
		if refund {
			spent = 0
		}
		is.Equal(d.Used, spent)
		b, err := local.DB.Balance(ctx, u.ID)
		is.NoErr(err)
		is.Equal(b.Credits, 100-spent)
		all, err := admin.ListDisputes.Do(ctx, local, admin.None{})
		is.NoErr(err)
		is.Equal(len(all), 0)
		_, err = admin.ResolveDispute.Do(ctx, local, admin.Resolution{Generation: r.ID, Refund: refund})
		refused(t, err, "nothing to resolve")
		page, err := admin.ListTrail.Do(ctx, local, admin.TrailQuery{Act: string(account.ActGenerationResolve),
			Limit: 10})
		is.NoErr(err)
		is.Equal(len(page.Rows), 1)
		is.Equal(page.Rows[0].Target, string(r.ID))
		is.Equal(page.Rows[0].After, fmt.Sprintf("spent=%d", spent))
	}
}
