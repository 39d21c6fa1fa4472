package storagetest

import (
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Passkeys holds an [account.PasskeyStore] to its contract. open returns an empty one.
func Passkeys(t *testing.T, open func(t *testing.T) account.PasskeyStore) {
	t.Run("Create", func(t *testing.T) { testPasskeys(t, open(t)) })
	t.Run("Use", func(t *testing.T) { testPasskeyUsed(t, open(t)) })
	t.Run("UseRace", func(t *testing.T) { testPasskeyRace(t, open(t)) })
	t.Run("Remove", func(t *testing.T) { testPasskeysRemoved(t, open(t)) })
}

func passkey(id account.PasskeyID, u imagegen.UserID, at time.Time) account.Passkey {
	return account.Passkey{ID: id, User: u, Name: "laptop", Credential: []byte("public"), CreatedAt: at}
}

func havePasskeys(t *testing.T, s account.PasskeyStore, u imagegen.UserID, want ...account.Passkey) {
	t.Helper()
	is := is.New(t)
	got, err := s.Passkeys(t.Context(), u)
	is.NoErr(err)
	is.Equal(diff(want, got), "")
}

func testPasskeys(t *testing.T, s account.PasskeyStore) {
	is, ctx := is.New(t), t.Context()
	havePasskeys(t, s, "usr_1")
	first, second, other := passkey("z", "usr_1", epoch), passkey("a", "usr_1", epoch.Add(time.Hour)), passkey("m", "usr_12", epoch)
	for _, p := range []account.Passkey{second, first, first, other} { // a repetition is success
		is.NoErr(s.CreatePasskey(ctx, p))
	}
	is.True(errors.Is(s.CreatePasskey(ctx, passkey("z", "usr_2", epoch)), imagegen.ErrExists)) // another's
	is.True(s.CreatePasskey(ctx, passkey("n", "", epoch)) != nil)                              // of nobody
	havePasskeys(t, s, "usr_1", first, second)
	havePasskeys(t, s, "usr_12", other)
	havePasskeys(t, s, "usr_2")
}

func testPasskeyUsed(t *testing.T, s account.PasskeyStore) {
	is, ctx := is.New(t), t.Context()
	counts, silent := passkey("a", "usr_1", epoch), passkey("b", "usr_1", epoch.Add(1))
	is.NoErr(s.CreatePasskey(ctx, counts))
	is.NoErr(s.CreatePasskey(ctx, silent))
	for n := range 3 {
		at := epoch.Add(time.Duration(n+1) * time.Hour)
		is.NoErr(s.UsePasskey(ctx, counts.ID, uint32(n+5), at))
		is.NoErr(s.UsePasskey(ctx, silent.ID, 0, at))
		counts.Uses, counts.LastUsedAt, silent.LastUsedAt = uint32(n+5), at, at
		for _, uses := range []uint32{0, 4, uint32(n + 5)} { // a copy
			is.True(errors.Is(s.UsePasskey(ctx, counts.ID, uses, at.Add(time.Minute)), imagegen.ErrInvalidRequest))
		}
		havePasskeys(t, s, "usr_1", counts, silent)
	}
	is.True(errors.Is(s.UsePasskey(ctx, "c", 1, epoch), imagegen.ErrNotFound))
}

// Of many uses with the same count one is the passkey's own.
func testPasskeyRace(t *testing.T, s account.PasskeyStore) {
	is, ctx := is.New(t), t.Context()
	is.NoErr(s.CreatePasskey(ctx, passkey("a", "usr_1", epoch)))
	const many = 16
	ends := make(chan error, many)
	for range many {
		go func() { ends <- s.UsePasskey(ctx, "a", 1, epoch) }()
	}
	used := 0
	for range many {
		if <-ends == nil {
			used++
		}
	}
	is.Equal(used, 1)
}

func testPasskeysRemoved(t *testing.T, s account.PasskeyStore) {
	is, ctx := is.New(t), t.Context()
	mine, also, more, other := passkey("a", "usr_1", epoch), passkey("b", "usr_1", epoch.Add(1)), passkey("c", "usr_1", epoch.Add(2)), passkey("d", "usr_2", epoch)
	for _, p := range []account.Passkey{mine, also, more, other} {
		is.NoErr(s.CreatePasskey(ctx, p))
	}
	remove := func(want int, ids ...account.PasskeyID) {
		t.Helper()
		n, err := s.RemovePasskeys(ctx, "usr_1", ids...)
		is.NoErr(err)
		is.Equal(n, want)
	}
	remove(0, other.ID) // another's
	remove(1, mine.ID)
	havePasskeys(t, s, "usr_1", also, more)
	is.True(errors.Is(s.UsePasskey(ctx, mine.ID, 1, epoch), imagegen.ErrNotFound))
	remove(2)
	remove(0)
	havePasskeys(t, s, "usr_1")
	havePasskeys(t, s, "usr_2", other)
	is.NoErr(s.CreatePasskey(ctx, mine)) // anew
	havePasskeys(t, s, "usr_1", mine)
}
