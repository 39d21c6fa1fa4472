package adminserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// reads are the calls that change nothing and show nobody's prompts.
var reads = []string{"disputes", "users", "keys", "generations", "lots", "history", "trail", "events",
	"webhooks", "clock", "readiness", "backups", "ops-keys", "usage", "totals", "members"}

// operation is a call that an operator is to answer for, and the acts that it leaves.
type operation struct {
	call string
	acts []account.Act
	do   func(ctx context.Context, s admin.Caller) error
}

func operations(service *engine.Engine) []operation {
	var key admin.RawKey
	var opsKey admin.RawOpsKey
	var made imagegen.Result
	return []operation{
		{admin.CreateUser.Name, []account.Act{account.ActUserCreate, account.ActCreditGrant},
			func(ctx context.Context, s admin.Caller) error {
				u, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "alice", Credits: 5})
				if err == nil {
					made, err = service.As(u.ID).Generate(ctx, imagegen.GenerateRequest{Model: "fake-1",
						Prompt: "a canary"})
				}
				return err
			}},
		{admin.SetAccountType.Name, []account.Act{account.ActUserSet}, func(ctx context.Context, s admin.Caller) error {
			_, err := admin.SetAccountType.Do(ctx, s, admin.AccountType{User: "alice", Type: "PRO"})
			return err
		}},
		{admin.SetNotifyBelow.Name, []account.Act{account.ActUserSet}, func(ctx context.Context, s admin.Caller) error {
			_, err := admin.SetNotifyBelow.Do(ctx, s, admin.NotifyBelow{User: "alice", Below: 3})
			return err
		}},
		{admin.InviteUser.Name, []account.Act{account.ActUserInvite}, func(ctx context.Context, s admin.Caller) error {
			_, err := admin.InviteUser.Do(ctx, s, admin.Invitation{User: "alice",
				Expires: admin.Time{Time: time.Now().Add(time.Hour)}})
			return err
		}},
		{admin.CreateKey.Name, []account.Act{account.ActKeyCreate},
			func(ctx context.Context, s admin.Caller) (err error) {
				key, err = admin.CreateKey.Do(ctx, s, admin.NewKey{User: "alice", Name: "laptop"})
				return err
			}},
		{admin.LimitKey.Name, []account.Act{account.ActKeyLimit}, func(ctx context.Context, s admin.Caller) error {
			_, err := admin.LimitKey.Do(ctx, s, admin.KeyLimit{ID: key.ID, Limits: admin.KeyLimits{Daily: 3}})
			return err
		}},
		{admin.RevokeKey.Name, []account.Act{account.ActKeyRevoke}, func(ctx context.Context, s admin.Caller) error {
			_, err := admin.RevokeKey.Do(ctx, s, key.ID)
			return err
		}},
		{admin.CreateOpsKey.Name, []account.Act{account.ActOperatorKeyCreate},
			func(ctx context.Context, s admin.Caller) (err error) {
				opsKey, err = admin.CreateOpsKey.Do(ctx, s, admin.NewOpsKey{Name: "payments",
					Scopes: []string{"credits"}})
				return err
			}},
		{admin.RevokeOpsKey.Name, []account.Act{account.ActOperatorKeyRevoke},
			func(ctx context.Context, s admin.Caller) error {
				_, err := admin.RevokeOpsKey.Do(ctx, s, opsKey.ID)
				return err
			}},
		{admin.GrantCredits.Name, []account.Act{account.ActCreditGrant},
			func(ctx context.Context, s admin.Caller) error {
				_, err := admin.GrantCredits.Do(ctx, s, admin.Grant{User: "alice", Credits: 7})
				return err
			}},
		{admin.RevokeCredits.Name, []account.Act{account.ActCreditRevoke},
			func(ctx context.Context, s admin.Caller) error {
				_, err := admin.RevokeCredits.Do(ctx, s, admin.Revocation{User: "alice", Credits: 2})
				return err
			}},
		{admin.GetGeneration.Name, []account.Act{account.ActGenerationView},
			func(ctx context.Context, s admin.Caller) error {
				_, err := admin.GetGeneration.Do(ctx, s, made.Generation.ID)
				return err
			}},
		{admin.EraseGeneration.Name, []account.Act{account.ActGenerationDelete},
			func(ctx context.Context, s admin.Caller) error {
				_, err := admin.EraseGeneration.Do(ctx, s, made.Generation.ID)
				return err
			}},
		{admin.ResolveDispute.Name, nil, func(ctx context.Context, s admin.Caller) error { // see TestResolve
			if _, err := admin.ResolveDispute.Do(ctx, s, admin.Resolution{Generation: made.Generation.ID}); err == nil {
				return errors.New("nothing was in dispute")
			}
			return nil
		}},
		{admin.Audit.Name, []account.Act{account.ActDataAudit}, func(ctx context.Context, s admin.Caller) error {
			_, err := admin.Audit.Do(ctx, s, admin.None{})
			return err
		}},
		{admin.Backup.Name, []account.Act{account.ActDataBackup, account.ActDataBackup},
			func(ctx context.Context, s admin.Caller) error {
				return admin.Backup.Do(ctx, s, io.Discard)
			}},
		{admin.TestWebhook.Name, nil, func(ctx context.Context, s admin.Caller) error {
			if _, err := admin.TestWebhook.Do(ctx, s, "shop"); err == nil {
				return errors.New("nothing can be tested without a server")
			}
			return nil
		}},
		{admin.ResendWebhook.Name, nil, func(ctx context.Context, s admin.Caller) error { // see TestWebhooks
			if _, err := admin.ResendWebhook.Do(ctx, s, admin.Resend{Name: "shop", After: 1}); err == nil {
				return errors.New("there is no webhook")
			}
			return nil
		}},
		{admin.ConfirmClock.Name, nil, func(ctx context.Context, s admin.Caller) error { // nothing is in doubt
			_, err := admin.ConfirmClock.Do(ctx, s, admin.None{})
			return err
		}},
		{admin.RemovePasskeys.Name, nil, func(ctx context.Context, s admin.Caller) error { // there are none
			_, err := admin.RemovePasskeys.Do(ctx, s, "alice")
			return err
		}},
		{admin.SuspendUser.Name, []account.Act{account.ActUserSuspend},
			func(ctx context.Context, s admin.Caller) error {
				_, err := admin.SuspendUser.Do(ctx, s, "alice")
				return err
			}},
		{admin.ResumeUser.Name, []account.Act{account.ActUserResume}, func(ctx context.Context, s admin.Caller) error {
			_, err := admin.ResumeUser.Do(ctx, s, "alice")
			return err
		}},
		{admin.SetSponsor.Name, []account.Act{account.ActUserCreate, account.ActUserSponsor},
			func(ctx context.Context, s admin.Caller) error {
				if _, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "zoe"}); err != nil {
					return err
				}
				_, err := admin.SetSponsor.Do(ctx, s, admin.Sponsorship{User: "zoe", Sponsor: "alice"})
				return err
			}},
		{admin.DisableUser.Name, []account.Act{account.ActUserDisable},
			func(ctx context.Context, s admin.Caller) error {
				_, err := admin.DisableUser.Do(ctx, s, "alice")
				return err
			}},
	}
}

// The trail has each act of an operator with its actor, whichever way it came. A new call is in the trail too, or
// in the list of those that change nothing.
func TestEveryOperationLeavesItsRow(t *testing.T) {
	self, err := user.Current()
	is.New(t).NoErr(err)
	bothRoads(t, func(t *testing.T, s admin.Caller, service *engine.Engine) {
		is, ctx := is.New(t), adminserver.AsCommand(t.Context())
		via := account.ViaSocket
		if _, local := s.(*adminserver.Local); local {
			via = account.ViaCommand
		}
		known := slices.Clone(reads)
		for _, o := range operations(service) {
			known = append(known, o.call)
			before := rows(t, s)
			if err := o.do(ctx, s); err != nil {
				t.Fatalf("%s: %v", o.call, err)
			}
			news := rows(t, s)[len(before):]
			var acts []account.Act
			for _, r := range news {
				acts = append(acts, r.Act)
				is.Equal(r.Via, via)
				is.Equal(r.Actor, self.Username)
				is.True(!strings.Contains(fmt.Sprint(r), "canary")) // no prompts
			}
			if d := cmp.Diff(o.acts, acts); d != "" {
				t.Errorf("%s: %s", o.call, d)
			}
		}
		for _, name := range adminserver.Names(&adminserver.Local{Engine: service}) {
			if !slices.Contains(known, name) {
				t.Errorf("the call %s is neither tested as an act nor known to be none", name)
			}
		}
	})
}

// rows are those of the trail, oldest first.
func rows(t *testing.T, s admin.Caller) []admin.TrailRow {
	t.Helper()
	p, err := admin.ListTrail.Do(t.Context(), s, admin.TrailQuery{Limit: account.MaxTrailPage})
	is.New(t).NoErr(err)
	slices.Reverse(p.Rows)
	return p.Rows
}

// The target can be named as operators name it.
func TestTrailOfAUser(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Caller, _ *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		alice, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "alice"})
		is.NoErr(err)
		_, err = admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "bob"})
		is.NoErr(err)
		key, err := admin.CreateKey.Do(ctx, s, admin.NewKey{User: "alice", Name: "k"})
		is.NoErr(err)
		p, err := admin.ListTrail.Do(ctx, s, admin.TrailQuery{Target: "alice", Limit: 10})
		is.NoErr(err)
		is.Equal(len(p.Rows), 2)
		is.Equal(p.Rows[0].Target, string(key.ID))
		is.Equal(p.Rows[0].User, "alice")
		is.Equal(p.Rows[1].UserID, alice.ID)
		_, err = admin.ListTrail.Do(ctx, s, admin.TrailQuery{})
		refused(t, err, "from 1 to 1000 rows")
	})
}

// A user with the name of a webhook, or of another thing that is not a user's, hides none of its rows.
func TestTrailOfANamesake(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Caller, e *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		is.NoErr(e.Trail().Note(ctx, account.TrailRow{Act: account.ActWebhookResend, Target: "shop"}))
		shop, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "shop"})
		is.NoErr(err)
		p, err := admin.ListTrail.Do(ctx, s, admin.TrailQuery{Target: "shop", Limit: 10})
		is.NoErr(err)
		is.Equal(len(p.Rows), 2)
		is.Equal(p.Rows[0].UserID, shop.ID)
		is.Equal(p.Rows[1].Act, account.ActWebhookResend)
	})
}

// While the trail cannot be written nothing leaves.
func TestNoBackupWithoutItsRow(t *testing.T) {
	is := is.New(t)
	local := open(t, t.TempDir())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var archive strings.Builder
	refused(t, admin.Backup.Do(ended, local, &archive), "nothing was done", "audit trail")
	is.Equal(archive.Len(), 0)
}
