package admin_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// disputed leaves a generation whose charge was settled to another amount behind its back.
func disputed(t *testing.T, l *admin.Local, u imagegen.UserID, n int) imagegen.Record {
	is, ctx := is.New(t), t.Context()
	r := imagegen.Record{Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)), User: u, Model: "fake-1", Prompt: "a secret fox",
		N: 2, Price: 2, CreatedAt: time.Now()}, Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1}}
	r, err := l.DB.CreateCharged(ctx, r, time.Hour)
	is.NoErr(err)
	is.NoErr(l.DB.Settle(ctx, r.Charge().ID, 3))
	r, err = l.DB.FinishSettled(ctx, r.Fence(), imagegen.Outcome{At: time.Now()})
	is.NoErr(err)
	return r
}

// An operator finds each charge that the ledger refuses to close, and ends the dispute.
func TestDisputes(t *testing.T) {
	dir := t.TempDir()
	local := open(t, dir)
	serve(t, dir, local)
	remote, err := admin.Open(t.Context(), in(dir))
	is.New(t).NoErr(err)
	t.Cleanup(func() { remote.Close() })
	u, err := local.CreateUser(t.Context(), admin.NewUser{Name: "alice", Credits: 100})
	is.New(t).NoErr(err)
	for n, s := range []admin.Service{local, remote} {
		is, ctx := is.New(t), t.Context()
		all, err := s.Disputes(ctx)
		is.NoErr(err)
		is.Equal(len(all), n)
		r := disputed(t, local, u.ID, n+1)
		all, err = s.Disputes(ctx)
		is.NoErr(err)
		is.Equal(len(all), n+1)
		is.Equal(all[n].ID, r.ID)
		is.Equal(all[n].User, "alice")
		is.Equal(all[n].Charged, imagegen.Credits(4))
		is.True(all[n].Dispute != "")
		g, err := s.Generation(ctx, string(r.ID))
		is.NoErr(err)
		is.Equal(g.Dispute, all[n].Dispute)

		_, err = s.Resolve(ctx, admin.Resolution{Generation: string(r.ID), Refund: true})
		refused(t, err, "another", "nothing was changed", "--by-hand")
		_, err = s.Resolve(ctx, admin.Resolution{Generation: "gen_nowhere"})
		refused(t, err, `no generation "gen_nowhere"`)
	}
	report, err := local.Audit(t.Context())
	is.New(t).NoErr(err)
	is.New(t).True(report.Clean())
}

// What is resolved is no longer listed, and stands in the audit trail.
func TestResolve(t *testing.T) {
	for _, refund := range []bool{true, false} {
		is, ctx := is.New(t), t.Context()
		local := open(t, t.TempDir())
		u, err := local.CreateUser(ctx, admin.NewUser{Name: "alice", Credits: 100})
		is.NoErr(err)
		r, err := local.DB.Create(ctx, imagegen.Record{Intent: imagegen.Intent{ID: "gen_00000000000000000000000001", User: u.ID, Model: "fake-1", Prompt: "a fox",
			N: 2, Price: 2, CreatedAt: time.Now()}, Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1}}, time.Hour)
		is.NoErr(err)
		_, err = local.DB.Update(ctx, r.Fence(), imagegen.Accept{}) // charged elsewhere
		is.NoErr(err)
		made := imagegen.Outcome{At: time.Now(), Images: []imagegen.StoredImage{{ID: "image_0000000000000000000000000100000000000000000000000001",
			Attempt: 1, MediaType: "image/png", Width: 1, Height: 1, Size: 1, CreatedAt: time.Now()}}}
		_, err = local.DB.FinishSettled(ctx, r.Fence(), made)
		is.NoErr(err)
		d, err := local.Resolve(ctx, admin.Resolution{Generation: string(r.ID), Refund: refund})
		is.NoErr(err)
		spent := imagegen.Credits(2)
		if refund {
			spent = 0
		}
		is.Equal(d.Used, spent)
		b, err := local.DB.Balance(ctx, u.ID)
		is.NoErr(err)
		is.Equal(b.Credits, 100-spent)
		all, err := local.Disputes(ctx)
		is.NoErr(err)
		is.Equal(len(all), 0)
		_, err = local.Resolve(ctx, admin.Resolution{Generation: string(r.ID), Refund: refund})
		refused(t, err, "nothing to resolve")
		page, err := local.Trail(ctx, admin.TrailQuery{Act: string(account.ActGenerationResolve), Limit: 10})
		is.NoErr(err)
		is.Equal(len(page.Rows), 1)
		is.Equal(page.Rows[0].Target, string(r.ID))
		is.Equal(page.Rows[0].After, fmt.Sprintf("spent=%d", spent))
	}
}
