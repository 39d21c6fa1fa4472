package storagetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Logins tests an [account.LoginStore]. open returns an empty one.
func Logins(t *testing.T, open func(t *testing.T) account.LoginStore) {
	run := func(name string, test func(l *logins)) {
		t.Run(name, func(t *testing.T) {
			promises.Expect(t, "Logins/"+name)
			test(&logins{t, is.New(t), open(t)})
		})
	}
	run("Login", testLogin)
	run("SignIns", testSignIns)
	run("SignInsEnd", testSignInsEnd)
	run("PasswordEndsSignIns", testPasswordEndsSignIns)
	run("SignInsOverTime", testSignInsOverTime)
	run("Invitation", testInvitation)
	run("InvitationRace", testInvitationRace)
	run("Passkeys", testPasskeys)
	run("PasskeyUsed", testPasskeyUsed)
	run("PasskeyRace", testPasskeyRace)
	run("PasskeysRemoved", testPasskeysRemoved)
	run("Identities", testIdentities)
	run("Secret", testSecret)
	run("Marks", testMarks)
	run("MarksPass", testMarksPass)
	run("MarkRace", testMarkRace)
}

type logins struct {
	t  *testing.T
	is *is.I
	account.LoginStore
}

func testLogin(l *logins) {
	ctx := l.t.Context()
	_, err := l.Login(ctx, "usr_1")
	l.is.True(errors.Is(err, imagegen.ErrNotFound))
	l.is.True(l.SetLogin(ctx, account.Login{}) != nil) // of nobody
	want := account.Login{User: "usr_1", Role: account.RoleOperator}
	for operators, change := range []func(){
		func() {},
		func() { want.Password, want.ChangedAt = "hash", epoch },
		func() { want.Password = "another" },
	} {
		change()
		for range 2 {
			l.is.NoErr(l.SetLogin(ctx, want))
		}
		got, err := l.Login(ctx, "usr_1")
		l.is.NoErr(err)
		l.is.Equal(diff(want, got), "")
		n, err := l.Operators(ctx)
		l.is.NoErr(err)
		l.is.Equal(n, min(operators, 1))
	}
	l.is.NoErr(l.SetLogin(ctx, account.Login{User: "usr_2", Role: account.RoleUser, Password: "hash"}))
	n, err := l.Operators(ctx)
	l.is.NoErr(err)
	l.is.Equal(n, 1)
}

func signIn(n byte, u imagegen.UserID, at time.Time) account.SignIn {
	return account.SignIn{Hash: [32]byte{n}, User: u, CreatedAt: at, SeenAt: at, Agent: "a browser", ConfirmedAt: at}
}

// has demands that these sign-ins of a user are there, and no others.
func (l *logins) has(u imagegen.UserID, want ...account.SignIn) {
	l.t.Helper()
	got, err := l.SignIns(l.t.Context(), u)
	l.is.NoErr(err)
	l.is.Equal(diff(want, got), "")
	for _, s := range want {
		one, err := l.SignIn(l.t.Context(), s.Hash)
		l.is.NoErr(err)
		l.is.Equal(diff(s, one), "")
	}
}

func testSignIns(l *logins) {
	ctx := l.t.Context()
	l.has("usr_1")
	first, second := signIn(9, "usr_1", epoch), signIn(1, "usr_1", epoch.Add(time.Hour))
	other := signIn(5, "usr_12", epoch) // whose name begins like that of the first
	for _, s := range []account.SignIn{second, first, other} {
		l.is.NoErr(l.CreateSignIn(ctx, s))
	}
	l.has("usr_1", first, second)
	l.has("usr_12", other)
	l.is.True(l.CreateSignIn(ctx, account.SignIn{Hash: [32]byte{7}}) != nil) // of nobody

	first.SeenAt = epoch.Add(time.Minute)
	l.is.NoErr(l.TouchSignIn(ctx, first.Hash, first.SeenAt))
	l.is.NoErr(l.TouchSignIn(ctx, first.Hash, epoch)) // late
	l.is.NoErr(l.TouchSignIn(ctx, [32]byte{8}, epoch))
	l.has("usr_1", first, second)

	second.ConfirmedAt = epoch.Add(time.Hour)
	l.is.NoErr(l.ConfirmSignIn(ctx, second.Hash, second.ConfirmedAt))
	l.is.NoErr(l.TouchSignIn(ctx, second.Hash, epoch)) // changes nothing else
	l.has("usr_1", first, second)
	l.is.True(errors.Is(l.ConfirmSignIn(ctx, [32]byte{8}, epoch), imagegen.ErrNotFound))
	_, err := l.SignIn(ctx, [32]byte{8})
	l.is.True(errors.Is(err, imagegen.ErrNotFound))
}

func testSignInsEnd(l *logins) {
	ctx := l.t.Context()
	mine, also, other := signIn(1, "usr_1", epoch), signIn(2, "usr_1", epoch), signIn(3, "usr_2", epoch)
	for _, s := range []account.SignIn{mine, also, other} {
		l.is.NoErr(l.CreateSignIn(ctx, s))
	}
	l.is.NoErr(l.EndSignIns(ctx, "usr_1", other.Hash)) // another's
	l.has("usr_2", other)
	l.is.NoErr(l.EndSignIns(ctx, "usr_1", mine.Hash))
	l.has("usr_1", also)
	_, err := l.SignIn(ctx, mine.Hash)
	l.is.True(errors.Is(err, imagegen.ErrNotFound))
	for range 2 {
		l.is.NoErr(l.EndSignIns(ctx, "usr_1"))
	}
	l.has("usr_1")
	l.has("usr_2", other)
}

func testPasswordEndsSignIns(l *logins) {
	ctx := l.t.Context()
	login := account.Login{User: "usr_1", Role: account.RoleUser, Password: "hash"}
	l.is.NoErr(l.SetLogin(ctx, login))
	mine, other := signIn(1, "usr_1", epoch), signIn(2, "usr_2", epoch)
	l.is.NoErr(l.CreateSignIn(ctx, mine))
	l.is.NoErr(l.CreateSignIn(ctx, other))
	login.Role = account.RoleOperator
	l.is.NoErr(l.SetLogin(ctx, login))
	l.has("usr_1", mine)
	login.Password = "another"
	l.is.NoErr(l.SetLogin(ctx, login))
	l.has("usr_1")
	l.has("usr_2", other)
}

func testSignInsOverTime(l *logins) {
	ctx := l.t.Context()
	const hour = time.Hour
	now := time.Now().UTC().Truncate(time.Microsecond)
	unseen, old, fresh := signIn(1, "usr_1", now.Add(-hour)), signIn(2, "usr_1", now.Add(-2*hour)),
		signIn(3, "usr_1", now.Add(-hour))
	old.SeenAt, fresh.SeenAt = now, now.Add(-hour+time.Minute)
	for _, s := range []account.SignIn{unseen, old, fresh} {
		l.is.NoErr(l.CreateSignIn(ctx, s))
	}
	for range 2 {
		l.is.NoErr(l.EndSignInsAged(ctx, hour-time.Second, 2*hour-time.Second))
	}
	l.has("usr_1", fresh)
}

func testInvitation(l *logins) {
	ctx := l.t.Context()
	former := account.Invitation{Hash: [32]byte{1}, User: "usr_1", Role: account.RoleUser, ExpiresAt: epoch}
	latter := account.Invitation{Hash: [32]byte{2}, User: "usr_1", Role: account.RoleOperator, ExpiresAt: epoch}
	setUp := account.Invitation{Hash: [32]byte{3}, Role: account.RoleOperator, ExpiresAt: epoch}
	for _, i := range []account.Invitation{former, latter, latter, setUp} {
		l.is.NoErr(l.CreateInvitation(ctx, i))
	}
	before := epoch.Add(-1)
	unknown := func(hash [32]byte, now time.Time) {
		l.t.Helper()
		_, err := l.Invitation(ctx, hash, now)
		l.is.True(errors.Is(err, imagegen.ErrNotFound))
		_, err = l.TakeInvitation(ctx, hash, now)
		l.is.True(errors.Is(err, imagegen.ErrNotFound))
	}
	unknown(former.Hash, before) // replaced
	unknown(latter.Hash, epoch)  // expired
	for _, want := range []account.Invitation{latter, setUp} {
		got, err := l.Invitation(ctx, want.Hash, before)
		l.is.NoErr(err)
		l.is.Equal(diff(want, got), "")
		got, err = l.TakeInvitation(ctx, want.Hash, before)
		l.is.NoErr(err)
		l.is.Equal(diff(want, got), "")
		unknown(want.Hash, before) // taken
	}
}

func testInvitationRace(l *logins) {
	i := account.Invitation{Hash: [32]byte{1}, User: "usr_1", ExpiresAt: epoch}
	l.is.NoErr(l.CreateInvitation(l.t.Context(), i))
	var (
		wg    sync.WaitGroup
		taken atomic.Int32
	)
	for range 16 {
		wg.Go(func() {
			if _, err := l.TakeInvitation(l.t.Context(), i.Hash, epoch.Add(-1)); err == nil {
				taken.Add(1)
			}
		})
	}
	wg.Wait()
	l.is.Equal(taken.Load(), int32(1))
}
