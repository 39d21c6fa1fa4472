package admin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"
)

// reads are the methods that change nothing and show nobody's prompts.
var reads = []string{"Disputes", "Users", "Keys", "Generations", "Lots", "History", "Trail", "Clock", "Readiness", "Backups", "OpsKeys", "Usage"}

// operation is a call of a method that an operator is to answer for, and the acts that it leaves.
type operation struct {
	method string
	acts   []account.Act
	do     func(ctx context.Context, s admin.Service) error
}

func operations(service *engine.Engine) []operation {
	var key admin.RawKey
	var opsKey admin.RawOpsKey
	var made imagegen.Result
	return []operation{
		{"CreateUser", []account.Act{account.ActUserCreate, account.ActCreditGrant}, func(ctx context.Context, s admin.Service) error {
			u, err := s.CreateUser(ctx, admin.NewUser{Name: "alice", Credits: 5})
			if err == nil {
				made, err = service.As(u.ID).Generate(ctx, imagegen.GenerateRequest{Model: "fake-1", Prompt: "a canary"})
			}
			return err
		}},
		{"SetAccountType", []account.Act{account.ActUserSet}, func(ctx context.Context, s admin.Service) error {
			_, err := s.SetAccountType(ctx, admin.AccountType{User: "alice", Type: "PRO"})
			return err
		}},
		{"InviteUser", []account.Act{account.ActUserInvite}, func(ctx context.Context, s admin.Service) error {
			_, err := s.InviteUser(ctx, admin.Invitation{User: "alice", Expires: admin.Time{Time: time.Now().Add(time.Hour)}})
			return err
		}},
		{"CreateKey", []account.Act{account.ActKeyCreate}, func(ctx context.Context, s admin.Service) (err error) {
			key, err = s.CreateKey(ctx, admin.NewKey{User: "alice", Name: "laptop"})
			return err
		}},
		{"LimitKey", []account.Act{account.ActKeyLimit}, func(ctx context.Context, s admin.Service) error {
			_, err := s.LimitKey(ctx, admin.KeyLimit{ID: string(key.ID), Limits: admin.KeyLimits{Daily: 3}})
			return err
		}},
		{"RevokeKey", []account.Act{account.ActKeyRevoke}, func(ctx context.Context, s admin.Service) error {
			_, err := s.RevokeKey(ctx, string(key.ID))
			return err
		}},
		{"CreateOpsKey", []account.Act{account.ActOperatorKeyCreate}, func(ctx context.Context, s admin.Service) (err error) {
			opsKey, err = s.CreateOpsKey(ctx, admin.NewOpsKey{Name: "payments", Scopes: []string{"credits"}})
			return err
		}},
		{"RevokeOpsKey", []account.Act{account.ActOperatorKeyRevoke}, func(ctx context.Context, s admin.Service) error {
			_, err := s.RevokeOpsKey(ctx, string(opsKey.ID))
			return err
		}},
		{"Grant", []account.Act{account.ActCreditGrant}, func(ctx context.Context, s admin.Service) error {
			_, err := s.Grant(ctx, admin.Grant{User: "alice", Credits: 7})
			return err
		}},
		{"Revoke", []account.Act{account.ActCreditRevoke}, func(ctx context.Context, s admin.Service) error {
			_, err := s.Revoke(ctx, admin.Revocation{User: "alice", Credits: 2})
			return err
		}},
		{"Generation", []account.Act{account.ActGenerationView}, func(ctx context.Context, s admin.Service) error {
			_, err := s.Generation(ctx, string(made.Generation.ID))
			return err
		}},
		{"EraseGeneration", []account.Act{account.ActGenerationDelete}, func(ctx context.Context, s admin.Service) error {
			return s.EraseGeneration(ctx, string(made.Generation.ID))
		}},
		{"Resolve", nil, func(ctx context.Context, s admin.Service) error { // see TestResolve
			if _, err := s.Resolve(ctx, admin.Resolution{Generation: string(made.Generation.ID)}); err == nil {
				return errors.New("nothing was in dispute")
			}
			return nil
		}},
		{"Audit", []account.Act{account.ActDataAudit}, func(ctx context.Context, s admin.Service) error {
			_, err := s.Audit(ctx)
			return err
		}},
		{"Backup", []account.Act{account.ActDataBackup, account.ActDataBackup}, func(ctx context.Context, s admin.Service) error {
			return s.Backup(ctx, io.Discard)
		}},
		{"ConfirmClock", nil, func(ctx context.Context, s admin.Service) error { return s.ConfirmClock(ctx) }}, // nothing is in doubt
		{"RemovePasskeys", nil, func(ctx context.Context, s admin.Service) error { // there are none
			_, err := s.RemovePasskeys(ctx, "alice")
			return err
		}},
		{"SuspendUser", []account.Act{account.ActUserSuspend}, func(ctx context.Context, s admin.Service) error {
			_, err := s.SuspendUser(ctx, "alice")
			return err
		}},
		{"ResumeUser", []account.Act{account.ActUserResume}, func(ctx context.Context, s admin.Service) error {
			_, err := s.ResumeUser(ctx, "alice")
			return err
		}},
		{"DisableUser", []account.Act{account.ActUserDisable}, func(ctx context.Context, s admin.Service) error {
			_, err := s.DisableUser(ctx, "alice")
			return err
		}},
	}
}

// Whatever an operator does stands in the trail, with who did it, by either road; a method that is new does
// too, or is known to be none of that kind.
func TestEveryOperationLeavesItsRow(t *testing.T) {
	self, err := user.Current()
	is.New(t).NoErr(err)
	bothRoads(t, func(t *testing.T, s admin.Service, service *engine.Engine) {
		is, ctx := is.New(t), admin.AsCommand(t.Context())
		via := account.ViaSocket
		if _, local := s.(*admin.Local); local {
			via = account.ViaCommand
		}
		known := slices.Clone(reads)
		for _, o := range operations(service) {
			known = append(known, o.method)
			before := rows(t, s)
			if err := o.do(ctx, s); err != nil {
				t.Fatalf("%s: %v", o.method, err)
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
				t.Errorf("%s: %s", o.method, d)
			}
		}
		for m := range reflect.TypeFor[admin.Service]().Methods() {
			if !slices.Contains(known, m.Name) {
				t.Errorf("Service.%s is neither tested as an act nor known to be none", m.Name)
			}
		}
	})
}

// rows are those of the trail, oldest first.
func rows(t *testing.T, s admin.Service) []admin.TrailRow {
	t.Helper()
	p, err := s.Trail(t.Context(), admin.TrailQuery{Limit: account.MaxTrailPage})
	is.New(t).NoErr(err)
	slices.Reverse(p.Rows)
	return p.Rows
}

// The target can be named as operators name it.
func TestTrailOfAUser(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Service, _ *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		alice, err := s.CreateUser(ctx, admin.NewUser{Name: "alice"})
		is.NoErr(err)
		_, err = s.CreateUser(ctx, admin.NewUser{Name: "bob"})
		is.NoErr(err)
		key, err := s.CreateKey(ctx, admin.NewKey{User: "alice", Name: "k"})
		is.NoErr(err)
		p, err := s.Trail(ctx, admin.TrailQuery{Target: "alice", Limit: 10})
		is.NoErr(err)
		is.Equal(len(p.Rows), 2)
		is.Equal(p.Rows[0].Target, string(key.ID))
		is.Equal(p.Rows[0].User, "alice")
		is.Equal(p.Rows[1].UserID, alice.ID)
		_, err = s.Trail(ctx, admin.TrailQuery{})
		refused(t, err, "from 1 to 1000 rows")
	})
}

// While the trail cannot be written nothing leaves.
func TestNoBackupWithoutItsRow(t *testing.T) {
	is := is.New(t)
	local := open(t, t.TempDir())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var archive strings.Builder
	refused(t, local.Backup(ended, &archive), "nothing was done", "audit trail")
	is.Equal(archive.Len(), 0)
}
