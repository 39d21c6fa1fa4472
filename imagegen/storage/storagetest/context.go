package storagetest

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// A write whose context has ended before it begins fails and changes nothing.
func testEndedContext(s *store) {
	ctx, cancel := context.WithCancel(s.t.Context())
	cancel()
	_, _, err := s.Claim(ctx, imagegen.ClaimRequest{Most: 10, Lease: aMinute}) // of nothing
	s.is.True(err != nil)
	r := s.create(1, async)
	queued := s.queue(2)
	u := imagegen.User{ID: "usr_1", Name: "a", AccountType: "FREE"}
	s.is.NoErr(s.CreateUser(s.t.Context(), u))
	k := imagegen.Key{ID: "key_1", User: alice, Hash: [32]byte{1}}
	s.is.NoErr(s.CreateKey(s.t.Context(), k))
	for name, write := range map[string]func() error{
		"Create": func() error { _, err := s.Create(ctx, recordNo(3), aMinute); return err },
		"Update": func() error { _, err := s.Update(ctx, r.Fence(), imagegen.AcceptChange{}); return err },
		"Claim": func() error {
			_, _, err := s.Claim(ctx, imagegen.ClaimRequest{Most: 10, Lease: aMinute})
			return err
		},
		"ClaimAged":      func() error { _, err := s.ClaimAged(ctx, time.Nanosecond, 10, aMinute); return err },
		"Recover":        func() error { _, err := s.Recover(ctx, 10, aMinute); return err },
		"Extend":         func() error { _, err := s.Extend(ctx, aMinute, r.Fence()); return err },
		"CreateUser":     func() error { return s.CreateUser(ctx, imagegen.User{ID: "usr_2", Name: "b"}) },
		"SetAccountType": func() error { return s.SetAccountType(ctx, u.ID, "PRO") },
		"DisableUser":    func() error { return s.DisableUser(ctx, u.ID, epoch) },
		"SuspendUser":    func() error { return s.SuspendUser(ctx, u.ID, epoch) },
		"ResumeUser":     func() error { return s.ResumeUser(ctx, u.ID) },
		"CreateKey": func() error {
			return s.CreateKey(ctx, imagegen.Key{ID: "key_2", User: alice, Hash: [32]byte{2}})
		},
		"RevokeKey": func() error { _, err := s.RevokeKey(ctx, k.ID, epoch); return err },
		"SetKeyLimits": func() error {
			_, err := s.SetKeyLimits(ctx, k.ID, imagegen.KeyLimits{Concurrent: 1})
			return err
		},
		"TouchKeys": func() error { return s.TouchKeys(ctx, map[imagegen.KeyID]time.Time{k.ID: epoch}) },
	} {
		if write() == nil {
			s.t.Errorf("%s succeeds though its context has ended", name)
		}
	}
	s.stands(r)
	s.stands(queued)
	_, err = s.Generation(s.t.Context(), generationNo(3))
	s.is.True(err != nil)
	us, err := s.Users(s.t.Context())
	s.is.NoErr(err)
	s.is.Equal(diff([]imagegen.User{u}, us), "")
	ks, err := s.Keys(s.t.Context(), alice)
	s.is.NoErr(err)
	s.is.Equal(diff([]imagegen.Key{k}, ks), "")
}
