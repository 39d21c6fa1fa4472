package adminserver_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// open opens a data directory with an engine at work on it.
func open(t *testing.T, dir string) *adminserver.Local {
	t.Helper()
	is := is.New(t)
	db, err := storage.Open(dir, nil)
	is.NoErr(err)
	t.Cleanup(func() { db.Close() })
	service, err := engine.New(engine.Config{Store: db, Ledger: db, Models: []engine.Model{
		{ID: "fake-1", Provider: &provider.Fake{}, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}},
	}})
	is.NoErr(err)
	is.NoErr(service.Start())
	t.Cleanup(func() { service.Stop(context.Background()) })
	return &adminserver.Local{Engine: service, DB: db}
}

// serve answers on the socket of a data directory, as a server does.
func serve(t *testing.T, dir string, l *adminserver.Local) *http.Server {
	t.Helper()
	socket, err := adminserver.Listen(dir)
	is.New(t).NoErr(err)
	server := adminserver.NewServer(l)
	ended := make(chan struct{})
	go func() { server.Serve(socket); close(ended) }()
	t.Cleanup(func() { server.Close(); <-ended })
	return server
}

// bothRoads runs a test on an opened database, and through the socket of a process that has it open.
func bothRoads(t *testing.T, test func(t *testing.T, s admin.Caller, service *engine.Engine)) {
	t.Run("database", func(t *testing.T) {
		local := open(t, t.TempDir())
		test(t, local, local.Engine)
	})
	t.Run("socket", func(t *testing.T) {
		is := is.New(t)
		dir := t.TempDir()
		local := open(t, dir)
		serve(t, dir, local)
		s, err := adminserver.Open(t.Context(), in(dir)) // the lock is taken: only the socket is left
		is.NoErr(err)
		t.Cleanup(func() { s.Close() })
		test(t, s, local.Engine)
	})
}

// refused checks that an error says what it should.
func refused(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

func TestUsers(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Caller, _ *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		none, err := admin.ListUsers.Do(ctx, s, admin.None{})
		is.NoErr(err)
		is.True(none != nil && len(none) == 0)

		alice, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "alice", AccountType: "PRO", Credits: 5})
		is.NoErr(err)
		is.Equal(alice.Credits, imagegen.Credits(5))
		_, err = admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "alice", Credits: 7})
		refused(t, err, `"alice" exists`)
		_, err = admin.CreateUser.Do(ctx, s, admin.NewUser{Name: " "})
		refused(t, err, "printable")
		_, err = admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "bob", Credits: -1})
		refused(t, err, "from 1")
		bob, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "bob"})
		is.NoErr(err)
		is.Equal(bob.AccountType, "FREE")

		bob, err = admin.SetAccountType.Do(ctx, s, admin.AccountType{User: "bob", Type: "team_9"})
		is.NoErr(err)
		is.Equal(bob.AccountType, "TEAM_9")
		_, err = admin.SetAccountType.Do(ctx, s, admin.AccountType{User: "bob", Type: "te am"})
		refused(t, err, "account type")
		_, err = admin.SetAccountType.Do(ctx, s, admin.AccountType{User: "carol", Type: "PRO"})
		refused(t, err, `no user "carol"`, "user list")

		bob, err = admin.SuspendUser.Do(ctx, s, "bob")
		is.NoErr(err)
		is.True(!bob.SuspendedAt.IsZero())
		bob, err = admin.ResumeUser.Do(ctx, s, "bob")
		is.NoErr(err)
		is.True(bob.SuspendedAt.IsZero())
		_, err = admin.SuspendUser.Do(ctx, s, "carol")
		refused(t, err, `no user "carol"`)

		bob, err = admin.DisableUser.Do(ctx, s, "bob")
		is.NoErr(err)
		is.True(!bob.DisabledAt.IsZero())
		_, err = admin.CreateKey.Do(ctx, s, admin.NewKey{User: "bob", Name: "k"})
		refused(t, err, "disabled")

		all, err := admin.ListUsers.Do(ctx, s, admin.None{})
		is.NoErr(err)
		is.Equal(cmp.Diff(all, []admin.User{alice, bob}, cmpopts.EquateApproxTime(time.Millisecond)), "")
	})
}

func TestKeys(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Caller, service *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		_, err := admin.CreateKey.Do(ctx, s, admin.NewKey{User: "alice", Name: "k"})
		refused(t, err, `no user "alice"`)
		_, err = admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "alice"})
		is.NoErr(err)

		expires := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
		made, err := admin.CreateKey.Do(ctx, s, admin.NewKey{User: "alice", Name: "laptop",
			Expires: admin.Time{Time: expires}})
		is.NoErr(err)
		is.True(strings.HasPrefix(made.Raw, "img_live_"))
		is.True(strings.HasPrefix(made.Raw, made.Prefix))
		is.True(made.ExpiresAt.Equal(expires))
		_, err = service.Authenticate(ctx, made.Raw)
		is.NoErr(err)
		limits := admin.KeyLimits{Credits: 9, Daily: 3, Monthly: 5, Concurrent: 2}
		for _, l := range []admin.KeyLimits{limits, {}} {
			made.Key, err = admin.LimitKey.Do(ctx, s, admin.KeyLimit{ID: made.ID, Limits: l})
			is.NoErr(err)
			is.Equal(made.Limits, l)
		}
		_, err = admin.LimitKey.Do(ctx, s, admin.KeyLimit{ID: "key_unknown", Limits: limits})
		refused(t, err, "no key", "key list")
		_, err = admin.LimitKey.Do(ctx, s, admin.KeyLimit{ID: imagegen.KeyID(made.Raw), Limits: limits})
		refused(t, err, "KEY_ID")
		_, err = admin.LimitKey.Do(ctx, s, admin.KeyLimit{ID: made.ID, Limits: admin.KeyLimits{Concurrent: -1}})
		refused(t, err, "at once")
		_, err = admin.SumUsage.Do(ctx, s, admin.UsageQuery{User: "carol"})
		refused(t, err, `no user "carol"`)
		report, err := admin.SumUsage.Do(ctx, s, admin.UsageQuery{User: "alice",
			By: []imagegen.UsageGroup{imagegen.UsageByDay, imagegen.UsageByModel, imagegen.UsageByKey}})
		is.NoErr(err)
		is.Equal(len(report.Rows), 0)
		is.Equal(report.To.Sub(report.From.Time), 29*24*time.Hour)
		_, err = admin.CreateKey.Do(ctx, s, admin.NewKey{User: "alice", Name: "late",
			Expires: admin.Time{Time: time.Now().Add(-time.Hour)}})
		refused(t, err, "expir")

		keys, err := admin.ListKeys.Do(ctx, s, "alice")
		is.NoErr(err)
		is.Equal(len(keys), 1)
		is.Equal(keys[0].ID, made.ID)
		is.Equal(keys[0].Name, "laptop")

		_, err = admin.RevokeKey.Do(ctx, s, "key_unknown")
		refused(t, err, `no key "key_unknown"`)
		_, err = admin.RevokeKey.Do(ctx, s, imagegen.KeyID(made.Raw))
		refused(t, err, "key_")
		is.True(!strings.Contains(err.Error(), made.Raw))
		revoked, err := admin.RevokeKey.Do(ctx, s, made.ID)
		is.NoErr(err)
		is.True(!revoked.RevokedAt.IsZero())
		_, err = service.Authenticate(ctx, made.Raw)
		is.True(err != nil)
	})
}

func TestCredits(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Caller, _ *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		_, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "alice"})
		is.NoErr(err)
		grant := admin.Grant{User: "alice", Credits: 100, Priority: imagegen.DefaultPriority, Ref: "invoice-1"}
		first, err := admin.GrantCredits.Do(ctx, s, grant)
		is.NoErr(err)
		again, err := admin.GrantCredits.Do(ctx, s, grant)
		is.NoErr(err)
		is.Equal(again.Lot.ID, first.Lot.ID)
		is.Equal(again.Balance, imagegen.Credits(100))
		is.True(!first.Repeated && again.Repeated)
		grant.Credits = 200
		_, err = admin.GrantCredits.Do(ctx, s, grant)
		refused(t, err, `"invoice-1"`, "nothing was changed")
		_, err = admin.GrantCredits.Do(ctx, s, admin.Grant{User: "alice"})
		refused(t, err, "from 1")
		_, err = admin.GrantCredits.Do(ctx, s, admin.Grant{User: "bob", Credits: 1})
		refused(t, err, `no user "bob"`)

		gift, err := admin.GrantCredits.Do(ctx, s, admin.Grant{User: "alice", Credits: 10, Promo: true, Priority: 1,
			Expires: admin.Time{Time: time.Now().Add(time.Hour)}})
		is.NoErr(err)
		is.Equal(gift.Balance, imagegen.Credits(110))
		lots, err := admin.ListLots.Do(ctx, s, "alice")
		is.NoErr(err)
		is.Equal(len(lots), 2)
		is.Equal(lots[0].ID, gift.Lot.ID) // it is consumed first
		is.True(lots[0].Promo)

		_, err = admin.RevokeCredits.Do(ctx, s, admin.Revocation{User: "alice", Credits: 11, Lot: gift.Lot.ID})
		refused(t, err, gift.Lot.ID, "10 unspent", "nothing was changed")
		_, err = admin.RevokeCredits.Do(ctx, s, admin.Revocation{User: "alice", Credits: 11, Lot: "lot_nowhere"})
		refused(t, err, `no lot "lot_nowhere"`, "credit lots", "nothing was changed")
		e, err := admin.RevokeCredits.Do(ctx, s, admin.Revocation{User: "alice", Credits: 40, Lot: first.Lot.ID,
			Ref: "r-1"})
		is.NoErr(err)
		is.Equal(e.Credits, imagegen.Credits(-40))
		is.Equal(e.Balance, imagegen.Credits(70))
		is.True(!e.Repeated)

		history, err := admin.ListEntries.Do(ctx, s, admin.HistoryPage{User: "alice", Limit: 10})
		is.NoErr(err)
		is.Equal(len(history), 3)
		is.Equal(history[0].Kind, imagegen.EntryRevoke)
		older, err := admin.ListEntries.Do(ctx, s, admin.HistoryPage{User: "alice", Before: history[0].Seq, Limit: 1})
		is.NoErr(err)
		is.Equal(cmp.Diff(older, history[1:2]), "")
	})
}

func TestGenerations(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Caller, service *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		u, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "alice", Credits: 5})
		is.NoErr(err)
		made, err := service.As(u.ID).Generate(ctx, imagegen.GenerateRequest{Model: "fake-1", Prompt: "a fox", N: 2,
			Size: imagegen.Size{Width: 16, Height: 16}})
		is.NoErr(err)
		_, err = service.As(u.ID).Generate(ctx, imagegen.GenerateRequest{Model: "fake-1", Prompt: "[fake:fail]"})
		is.True(err != nil)

		g, err := admin.GetGeneration.Do(ctx, s, made.ID)
		is.NoErr(err)
		is.Equal(g.User, "alice")
		is.Equal(g.Prompt, "a fox")
		is.Equal(g.Credits, imagegen.Credits(2))
		is.Equal(len(g.Images), 2)

		_, err = admin.EraseGeneration.Do(ctx, s, made.ID)
		is.NoErr(err)
		_, err = admin.GetGeneration.Do(ctx, s, made.ID)
		refused(t, err, "no generation", string(made.ID))
		_, err = admin.EraseGeneration.Do(ctx, s, "gen_unknown")
		refused(t, err, `no generation "gen_unknown"`)

		report, err := admin.Audit.Do(ctx, s, admin.None{})
		is.NoErr(err)
		is.True(report.Clean())
		is.True(report.Entries > 0)
	})
}

func TestBackupAndClock(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Caller, _ *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		_, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "alice", Credits: 5})
		is.NoErr(err)
		var archive bytes.Buffer
		is.NoErr(admin.Backup.Do(ctx, s, &archive))
		dir := t.TempDir() + "/restored"
		is.NoErr(storage.Restore(ctx, &archive, dir))
		restored, err := adminserver.Open(t.Context(), in(dir))
		is.NoErr(err)
		users, err := admin.ListUsers.Do(ctx, restored, admin.None{})
		is.NoErr(err)
		is.Equal(len(users), 1)
		is.NoErr(restored.Close())

		r, err := admin.GetReadiness.Do(ctx, s, admin.None{})
		is.NoErr(err)
		is.True(r.Ready)
		is.Equal(r.Reasons, []string{})
		c, err := admin.GetClock.Do(ctx, s, admin.None{})
		is.NoErr(err)
		is.True(!c.InDoubt)
		_, err = admin.ConfirmClock.Do(ctx, s, admin.None{})
		is.NoErr(err)
	})
}
