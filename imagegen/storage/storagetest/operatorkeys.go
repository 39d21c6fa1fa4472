package storagetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// OperatorKeys tests an [account.OperatorKeyStore]. open returns an empty one.
func OperatorKeys(t *testing.T, open func(t *testing.T) account.OperatorKeyStore) {
	t.Run("Create", func(t *testing.T) {
		promises.Expect(t, "OperatorKeys/Create")
		testOperatorKeys(t, open(t))
	})
	t.Run("Revoke", func(t *testing.T) {
		promises.Expect(t, "OperatorKeys/Revoke")
		testOperatorKeyRevoked(t, open(t))
	})
	t.Run("EndedContext", func(t *testing.T) {
		promises.Expect(t, "OperatorKeys/EndedContext")
		testOperatorKeyContext(t, open(t))
	})
}

func operatorKey(id imagegen.OperatorKeyID, hash byte) account.OperatorKey {
	return account.OperatorKey{ID: id, Name: "payments", Prefix: "img_ops_abc", Hash: [32]byte{hash},
		Scopes: "credits,read", CreatedAt: epoch, ExpiresAt: epoch.Add(time.Hour)}
}

func testOperatorKeys(t *testing.T, s account.OperatorKeyStore) {
	is, ctx := is.New(t), t.Context()
	all, err := s.OperatorKeys(ctx)
	is.NoErr(err)
	is.Equal(len(all), 0)
	first, second := operatorKey("opk_1", 9), operatorKey("opk_2", 1)
	for _, k := range []account.OperatorKey{second, first, first} { // a repetition is success
		is.NoErr(s.CreateOperatorKey(ctx, k))
	}
	is.True(errors.Is(s.CreateOperatorKey(ctx, operatorKey("opk_1", 3)), imagegen.ErrExists))
	is.True(errors.Is(s.CreateOperatorKey(ctx, operatorKey("opk_3", 9)), imagegen.ErrExists))
	all, err = s.OperatorKeys(ctx)
	is.NoErr(err)
	is.Equal(diff([]account.OperatorKey{first, second}, all), "")
	for _, k := range all {
		got, err := s.OperatorKeyByHash(ctx, k.Hash)
		is.NoErr(err)
		is.Equal(diff(k, got), "")
	}
	_, err = s.OperatorKeyByHash(ctx, [32]byte{3})
	is.True(errors.Is(err, imagegen.ErrNotFound))
}

func testOperatorKeyRevoked(t *testing.T, s account.OperatorKeyStore) {
	is, ctx := is.New(t), t.Context()
	k := operatorKey("opk_1", 1)
	is.NoErr(s.CreateOperatorKey(ctx, k))
	k.RevokedAt = epoch
	for _, at := range []time.Time{epoch, epoch.Add(time.Hour)} { // the first time stands
		got, err := s.RevokeOperatorKey(ctx, k.ID, at)
		is.NoErr(err)
		is.Equal(diff(k, got), "")
		got, err = s.OperatorKeyByHash(ctx, k.Hash)
		is.NoErr(err)
		is.Equal(diff(k, got), "")
	}
	_, err := s.RevokeOperatorKey(ctx, "opk_2", epoch)
	is.True(errors.Is(err, imagegen.ErrNotFound))
}

func testOperatorKeyContext(t *testing.T, s account.OperatorKeyStore) {
	is := is.New(t)
	k := operatorKey("opk_1", 1)
	is.NoErr(s.CreateOperatorKey(t.Context(), k))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	is.True(s.CreateOperatorKey(ctx, operatorKey("opk_2", 2)) != nil)
	_, err := s.RevokeOperatorKey(ctx, k.ID, epoch)
	is.True(err != nil)
	got, err := s.OperatorKeys(t.Context())
	is.NoErr(err)
	is.Equal(diff([]account.OperatorKey{k}, got), "")
}
