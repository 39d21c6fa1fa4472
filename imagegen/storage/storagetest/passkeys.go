package storagetest

import (
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

func passkey(id account.PasskeyID, u imagegen.UserID, at time.Time) account.Passkey {
	return account.Passkey{ID: id, User: u, Name: "laptop", Credential: []byte("public"), CreatedAt: at}
}

func (l *logins) havePasskeys(u imagegen.UserID, want ...account.Passkey) {
	l.t.Helper()
	got, err := l.Passkeys(l.t.Context(), u)
	l.is.NoErr(err)
	l.is.Equal(diff(want, got), "")
}

func testPasskeys(l *logins) {
	is, ctx := l.is, l.t.Context()
	l.havePasskeys("usr_1")
	first, second, other := passkey("z", "usr_1", epoch), passkey("a", "usr_1", epoch.Add(time.Hour)),
		passkey("m", "usr_12", epoch)
	for _, p := range []account.Passkey{second, first, first, other} { // a repetition is success
		is.NoErr(l.CreatePasskey(ctx, p))
	}
	is.True(errors.Is(l.CreatePasskey(ctx, passkey("z", "usr_2", epoch)), imagegen.ErrExists)) // another's
	is.True(l.CreatePasskey(ctx, passkey("n", "", epoch)) != nil)                              // of nobody
	l.havePasskeys("usr_1", first, second)
	l.havePasskeys("usr_12", other)
	l.havePasskeys("usr_2")
}

func testPasskeyUsed(l *logins) {
	is, ctx := l.is, l.t.Context()
	counts, silent := passkey("a", "usr_1", epoch), passkey("b", "usr_1", epoch.Add(time.Microsecond))
	is.NoErr(l.CreatePasskey(ctx, counts))
	is.NoErr(l.CreatePasskey(ctx, silent))
	for n := range 3 {
		at := epoch.Add(time.Duration(n+1) * time.Hour)
		is.NoErr(l.UsePasskey(ctx, counts.ID, uint32(n+5), at))
		is.NoErr(l.UsePasskey(ctx, silent.ID, 0, at))
		counts.Uses, counts.LastUsedAt, silent.LastUsedAt = uint32(n+5), at, at
		for _, uses := range []uint32{0, 4, uint32(n + 5)} { // a copy
			is.True(errors.Is(l.UsePasskey(ctx, counts.ID, uses, at.Add(time.Minute)), imagegen.ErrInvalidRequest))
		}
		l.havePasskeys("usr_1", counts, silent)
	}
	is.True(errors.Is(l.UsePasskey(ctx, "c", 1, epoch), imagegen.ErrNotFound))
}

// Of many uses of a passkey with the same count, one counts.
func testPasskeyRace(l *logins) {
	is, ctx := l.is, l.t.Context()
	is.NoErr(l.CreatePasskey(ctx, passkey("a", "usr_1", epoch)))
	const many = 16
	ends := make(chan error, many)
	for range many {
		go func() { ends <- l.UsePasskey(ctx, "a", 1, epoch) }()
	}
	used := 0
	for range many {
		if <-ends == nil {
			used++
		}
	}
	is.Equal(used, 1)
}

func testPasskeysRemoved(l *logins) {
	is, ctx := l.is, l.t.Context()
	mine, also, more, other := passkey("a", "usr_1", epoch), passkey("b", "usr_1", epoch.Add(time.Microsecond)),
		passkey("c", "usr_1", epoch.Add(2*time.Microsecond)), passkey("d", "usr_2", epoch)
	for _, p := range []account.Passkey{mine, also, more, other} {
		is.NoErr(l.CreatePasskey(ctx, p))
	}
	remove := func(want int, ids ...account.PasskeyID) {
		l.t.Helper()
		n, err := l.RemovePasskeys(ctx, "usr_1", ids...)
		is.NoErr(err)
		is.Equal(n, want)
	}
	remove(0, other.ID) // another's
	remove(1, mine.ID)
	l.havePasskeys("usr_1", also, more)
	is.True(errors.Is(l.UsePasskey(ctx, mine.ID, 1, epoch), imagegen.ErrNotFound))
	remove(2)
	remove(0)
	l.havePasskeys("usr_1")
	l.havePasskeys("usr_2", other)
	is.NoErr(l.CreatePasskey(ctx, mine)) // anew
	l.havePasskeys("usr_1", mine)
}
