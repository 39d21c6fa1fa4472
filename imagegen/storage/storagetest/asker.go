package storagetest

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// creation is Create, or CreateCharged.
type creation func(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error)

func askedBy(k imagegen.KeyID) func(*imagegen.Record) {
	return func(r *imagegen.Record) { r.KeyID = k }
}

func testCreateForKey(s *store)        { testAsker(s, s.Create) }
func testCreateChargedForKey(j *joint) { testAsker(&j.store, j.CreateCharged) }

// The key and the user that ask are looked at in the commit that creates: whatever was true when the
// request began.
func testAsker(s *store, create creation) {
	ctx := s.t.Context()
	for _, u := range []imagegen.UserID{alice, bob} {
		s.is.NoErr(s.CreateUser(ctx, imagegen.User{ID: u, Name: string(u), AccountType: "PRO", CreatedAt: epoch}))
	}
	now := time.Now()
	for n, k := range []imagegen.Key{{ID: "key_never", User: alice}, {ID: "key_soon", User: alice,
		ExpiresAt: now.Add(time.Hour)},
		{ID: "key_past", User: alice, ExpiresAt: now}, {ID: "key_bob", User: bob}} {
		k.Hash, k.CreatedAt = [32]byte{byte(n)}, epoch
		s.is.NoErr(s.CreateKey(ctx, k))
	}
	accepted := func(n int, change ...func(*imagegen.Record)) {
		s.t.Helper()
		want := recordNo(n, append(change, costs(1, 1), async)...)
		got, err := create(ctx, want, aMinute)
		s.is.NoErr(err)
		s.is.Equal(got.KeyID, want.KeyID)
		stands, err := s.Generation(ctx, want.ID)
		s.is.NoErr(err)
		s.is.Equal(stands.KeyID, want.KeyID)
	}
	refused := func(n int, want error, change ...func(*imagegen.Record)) {
		s.t.Helper()
		r := recordNo(n, append(change, costs(1, 1), async)...)
		_, err := create(ctx, r, aMinute)
		s.is.True(errors.Is(err, want))
		s.is.True(imagegen.Definite(err))
		_, err = s.Generation(ctx, r.ID)
		s.is.True(errors.Is(err, imagegen.ErrNotFound))
	}
	accepted(1)
	accepted(2, askedBy("key_never"), withKey("k"))
	accepted(3, askedBy("key_soon"))
	refused(4, imagegen.ErrExpiredKey, askedBy("key_past")) // it was good when the request began
	refused(4, imagegen.ErrInvalidKey, askedBy("key_unknown"))
	refused(4, imagegen.ErrInvalidKey, askedBy("key_bob")) // another's

	_, err := s.RevokeKey(ctx, "key_never", epoch)
	s.is.NoErr(err)
	refused(4, imagegen.ErrInvalidKey, askedBy("key_never"))
	refused(4, imagegen.ErrInvalidKey, askedBy("key_never"), withKey("k")) // and not the record that has the key
	accepted(2, askedBy("key_never"), withKey("k"))                        // what stands was accepted before

	s.is.NoErr(s.SuspendUser(ctx, alice, epoch))
	refused(4, imagegen.ErrChargeRefused, askedBy("key_soon"))
	refused(4, imagegen.ErrChargeRefused)
	accepted(1)
	var stands *imagegen.IdempotencyKeyTakenError
	_, err = create(ctx, recordNo(4, withKey("k"), costs(1, 1), async), aMinute)
	s.is.True(errors.As(err, &stands) && stands.Record.ID == generationNo(2)) // that is not a new charge
	s.is.NoErr(s.ResumeUser(ctx, alice))
	accepted(5, askedBy("key_soon"))

	s.is.NoErr(s.DisableUser(ctx, alice, epoch))
	refused(4, imagegen.ErrInvalidKey, askedBy("key_soon"))
	refused(4, imagegen.ErrInvalidKey)
}

// Once RevokeKey has returned, nothing is accepted for the key.
func testCreateRevokedRace(j *joint) {
	ctx := j.t.Context()
	j.is.NoErr(j.CreateKey(ctx, imagegen.Key{ID: "key_1", User: alice, Hash: [32]byte{1}, CreatedAt: epoch}))
	revoked, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(revoked)
		_, err := j.RevokeKey(ctx, "key_1", epoch)
		ended <- err
	}()
	charged := imagegen.Credits(0)
	for n := 1; ; n++ {
		known := false
		select {
		case <-revoked:
			known = true
		default:
		}
		_, err := j.CreateCharged(ctx, recordNo(n, costs(1, 1), askedBy("key_1")), aMinute)
		if known {
			j.is.True(errors.Is(err, imagegen.ErrInvalidKey))
			break
		}
		if err == nil {
			charged++
		}
	}
	j.is.NoErr(<-ended)
	j.has(10 - charged)
}
