package adminserver_test

import (
	"crypto/sha256"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/engine"
)

func TestInviteUser(t *testing.T) {
	bothRoads(t, func(t *testing.T, s admin.Caller, _ *engine.Engine) {
		is, ctx := is.New(t), t.Context()
		soon := admin.Time{Time: time.Now().Add(time.Hour)}
		_, err := admin.CreateUser.Do(ctx, s, admin.NewUser{Name: "alice"})
		is.NoErr(err)
		link, err := admin.InviteUser.Do(ctx, s, admin.Invitation{User: "alice", Expires: soon})
		is.NoErr(err)
		is.True(strings.HasPrefix(link.Address, "/console/invitation/"))
		is.Equal(link.Role, account.RoleUser)
		link, err = admin.InviteUser.Do(ctx, s, admin.Invitation{User: "alice", Operator: true, Expires: soon})
		is.NoErr(err)
		is.Equal(link.Role, account.RoleOperator)

		_, err = admin.InviteUser.Do(ctx, s, admin.Invitation{User: "alice",
			Expires: admin.Time{Time: time.Now().Add(-time.Second)}})
		refused(t, err, "would have expired")
		_, err = admin.InviteUser.Do(ctx, s, admin.Invitation{User: "carol", Expires: soon})
		refused(t, err, `no user "carol"`)
		_, err = admin.DisableUser.Do(ctx, s, "alice")
		is.NoErr(err)
		_, err = admin.InviteUser.Do(ctx, s, admin.Invitation{User: "alice", Expires: soon})
		refused(t, err, "disabled")
	})
}

// A program that says nothing of an expiry gets a link that works.
func TestInviteWithoutExpiry(t *testing.T) {
	is, ctx := is.New(t), t.Context()
	local := open(t, t.TempDir())
	_, err := admin.CreateUser.Do(ctx, local, admin.NewUser{Name: "alice"})
	is.NoErr(err)
	link, err := admin.InviteUser.Do(ctx, local, admin.Invitation{User: "alice"})
	is.NoErr(err)
	_, err = local.DB.Invitation(ctx, sha256.Sum256([]byte(path.Base(link.Address))),
		time.Now().Add(admin.InvitationAge-time.Minute))
	is.NoErr(err)
}

// An operator who is invited again stays an operator.
func TestInviteOperatorAgain(t *testing.T) {
	is, ctx := is.New(t), t.Context()
	local := open(t, t.TempDir())
	local.Console = "https://images.example.com/console/"
	u, err := admin.CreateUser.Do(ctx, local, admin.NewUser{Name: "olivia"})
	is.NoErr(err)
	is.NoErr(local.DB.SetLogin(ctx, account.Login{User: u.ID, Role: account.RoleOperator, Password: "p"}))
	link, err := admin.InviteUser.Do(ctx, local, admin.Invitation{User: "olivia",
		Expires: admin.Time{Time: time.Now().Add(time.Hour)}})
	is.NoErr(err)
	is.Equal(link.Role, account.RoleOperator)
	is.True(strings.HasPrefix(link.Address, "https://images.example.com/console/invitation/"))
	local.NoConsole = true
	_, err = admin.InviteUser.Do(ctx, local, admin.Invitation{User: "olivia"})
	refused(t, err, "no console")
}
