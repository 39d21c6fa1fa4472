package storagetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

func testUsers(s *store) {
	ctx := s.t.Context()
	u := imagegen.User{ID: "usr_1", Name: "Zoë", AccountType: "FREE", CreatedAt: epoch}
	s.is.NoErr(s.CreateUser(ctx, u))
	is := func(want imagegen.User) {
		s.t.Helper()
		got, err := s.User(ctx, want.ID)
		s.is.NoErr(err)
		s.is.Equal(diff(want, got), "")
		got, err = s.UserByName(ctx, want.Name)
		s.is.NoErr(err)
		s.is.Equal(diff(want, got), "")
	}
	is(u)

	u.AccountType = "PRO"
	s.is.NoErr(s.SetAccountType(ctx, u.ID, "PRO"))
	s.is.NoErr(s.SetAccountType(ctx, u.ID, "PRO"))
	is(u)
	u.DisabledAt = epoch.Add(time.Hour)
	s.is.NoErr(s.DisableUser(ctx, u.ID, u.DisabledAt))
	s.is.NoErr(s.DisableUser(ctx, u.ID, u.DisabledAt.Add(time.Hour))) // the first time stands
	is(u)
	u.SuspendedAt = epoch.Add(time.Minute)
	s.is.NoErr(s.SuspendUser(ctx, u.ID, u.SuspendedAt))
	s.is.NoErr(s.SuspendUser(ctx, u.ID, u.SuspendedAt.Add(time.Hour)))
	is(u)
	u.SuspendedAt = time.Time{}
	s.is.NoErr(s.ResumeUser(ctx, u.ID))
	s.is.NoErr(s.ResumeUser(ctx, u.ID))
	is(u)

	for _, id := range []imagegen.UserID{"", "usr_2", "usr_1\x00", "Zoë"} {
		_, err := s.User(ctx, id)
		s.is.True(errors.Is(err, imagegen.ErrNotFound))
		s.is.True(errors.Is(s.SetAccountType(ctx, id, "PRO"), imagegen.ErrNotFound))
		s.is.True(errors.Is(s.DisableUser(ctx, id, epoch), imagegen.ErrNotFound))
		s.is.True(errors.Is(s.SuspendUser(ctx, id, epoch), imagegen.ErrNotFound))
		s.is.True(errors.Is(s.ResumeUser(ctx, id), imagegen.ErrNotFound))
	}
	for _, name := range []string{"", "zoë", "usr_1"} {
		_, err := s.UserByName(ctx, name)
		s.is.True(errors.Is(err, imagegen.ErrNotFound))
	}
}

// A name belongs to one user; repeating a CreateUser is success.
func testUserNames(s *store) {
	ctx := s.t.Context()
	u := imagegen.User{ID: "usr_1", Name: "b", AccountType: "FREE", CreatedAt: epoch}
	s.is.NoErr(s.CreateUser(ctx, u))
	s.is.NoErr(s.CreateUser(ctx, u))
	s.is.True(errors.Is(s.CreateUser(ctx, imagegen.User{ID: "usr_2", Name: "b"}), imagegen.ErrExists))
	s.is.True(errors.Is(s.CreateUser(ctx, imagegen.User{ID: "usr_1", Name: "c"}), imagegen.ErrExists))
	s.is.NoErr(s.CreateUser(ctx, imagegen.User{ID: "usr_2", Name: "a"}))
	us, err := s.Users(ctx)
	s.is.NoErr(err)
	s.is.Equal(diff([]imagegen.User{{ID: "usr_2", Name: "a"}, u}, us), "")

	var (
		wg      sync.WaitGroup
		created atomic.Int32
	)
	for n := range 16 {
		wg.Go(func() {
			if s.CreateUser(ctx, imagegen.User{ID: imagegen.UserID(fmt.Sprint("usr_x", n)), Name: "raced"}) == nil {
				created.Add(1)
			}
		})
	}
	wg.Wait()
	s.is.Equal(created.Load(), int32(1))
}

func testKeys(s *store) {
	ctx := s.t.Context()
	keyNo := func(n int, u imagegen.UserID) imagegen.Key {
		return imagegen.Key{ID: imagegen.KeyID(fmt.Sprintf("key_%04d", n)), User: u, Name: "laptop",
			Prefix: "img_live_abc", Hash: [32]byte{byte(n), 31: 1},
			CreatedAt: epoch.Add(time.Duration(n) * time.Second), ExpiresAt: epoch.Add(time.Hour),
			Limits: imagegen.KeyLimits{Credits: imagegen.Credits(n), Concurrent: n}}
	}
	first, second, theirs := keyNo(1, alice), keyNo(2, alice), keyNo(3, bob)
	for _, k := range []imagegen.Key{second, theirs, first, first} { // repeating is success
		s.is.NoErr(s.CreateKey(ctx, k))
	}
	is := func(u imagegen.UserID, want ...imagegen.Key) {
		s.t.Helper()
		got, err := s.Keys(ctx, u)
		s.is.NoErr(err)
		s.is.Equal(diff(want, got), "")
		for _, k := range want {
			found, err := s.KeyByHash(ctx, k.Hash)
			s.is.NoErr(err)
			s.is.Equal(diff(k, found), "")
		}
	}
	is(alice, first, second)
	is(bob, theirs)
	is(carol)
	is("ali")

	for _, l := range []imagegen.KeyLimits{{Credits: 1, Daily: 2, Monthly: imagegen.MaxCredits, Concurrent: 4}, {},
		{Concurrent: 1}, {Models: []string{"fake-1", "fake-2"}}, {Models: []string{"fake-2"}}} {
		first.Limits = l
		for range 2 {
			got, err := s.SetKeyLimits(ctx, first.ID, l)
			s.is.NoErr(err)
			s.is.Equal(diff(first, got), "")
		}
		is(alice, first, second)
	}
	for _, l := range []imagegen.KeyLimits{{Credits: -1}, {Daily: -1}, {Monthly: imagegen.MaxCredits + 1},
		{Concurrent: -1}, {Concurrent: imagegen.MaxKeyConcurrent + 1}, {Models: []string{"a", "a"}},
		{Models: []string{""}}, {Models: []string{"a,b"}},
		{Models: []string{strings.Repeat("m", imagegen.MaxModelLength+1)}},
		{Models: strings.Fields(strings.Repeat("m ", imagegen.MaxKeyModels+1))}} {
		_, err := s.SetKeyLimits(ctx, first.ID, l)
		s.is.True(errors.Is(err, imagegen.ErrInvalidRequest) && imagegen.Definite(err))
		s.is.True(errors.Is(s.CreateKey(ctx, imagegen.Key{ID: "key_0008", User: alice, Hash: [32]byte{8}, Limits: l}),
			imagegen.ErrInvalidRequest))
	}
	_, err := s.SetKeyLimits(ctx, "key_0009", imagegen.KeyLimits{Concurrent: 1})
	s.is.True(errors.Is(err, imagegen.ErrNotFound))
	is(alice, first, second)

	first.RevokedAt = epoch.Add(time.Minute)
	for _, at := range []time.Time{first.RevokedAt, epoch.Add(time.Hour)} { // the first time stands
		got, err := s.RevokeKey(ctx, first.ID, at)
		s.is.NoErr(err)
		s.is.Equal(diff(first, got), "")
	}
	is(alice, first, second)

	_, err = s.RevokeKey(ctx, "key_0009", epoch)
	s.is.True(errors.Is(err, imagegen.ErrNotFound))
	_, err = s.RevokeKey(ctx, "", epoch)
	s.is.True(errors.Is(err, imagegen.ErrNotFound))
	for _, hash := range [][32]byte{{}, {1}, {2, 31: 2}} {
		_, err = s.KeyByHash(ctx, hash)
		s.is.True(errors.Is(err, imagegen.ErrNotFound))
	}
}

func testKeyUse(s *store) {
	ctx := s.t.Context()
	k := imagegen.Key{ID: "key_1", User: alice, Hash: [32]byte{1}, CreatedAt: epoch}
	s.is.NoErr(s.CreateKey(ctx, k))
	k.LastUsedAt = epoch.Add(time.Minute)
	s.is.NoErr(s.TouchKeys(ctx, map[imagegen.KeyID]time.Time{"key_1": k.LastUsedAt, "key_unknown": epoch}))
	s.is.NoErr(s.TouchKeys(ctx, nil))
	k.RevokedAt = epoch.Add(time.Hour)
	revoked, err := s.RevokeKey(ctx, k.ID, k.RevokedAt)
	s.is.NoErr(err)
	s.is.Equal(diff(k, revoked), "")
	got, err := s.KeyByHash(ctx, k.Hash)
	s.is.NoErr(err)
	s.is.Equal(diff(k, got), "")
	ks, err := s.Keys(ctx, alice)
	s.is.NoErr(err)
	s.is.Equal(diff([]imagegen.Key{k}, ks), "")
}
