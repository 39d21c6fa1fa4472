package tables

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
)

// A login, a sign-in or an invitation that is damaged lets nobody in, and is not taken for one that is
// not there: a user without a login may be given one.
func TestDamagedLoginsAreErrors(t *testing.T) {
	is, ctx := is.New(t), t.Context()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	hash := [32]byte{1}
	db := kvtest.New()
	books, err := ledgerkv.New(db, time.Now)
	is.NoErr(err)
	d := New(db, books)
	for _, kind := range []struct {
		bucket kv.Bucket
		key    []byte
		value  []byte
		read   map[string]func(context.Context) error
	}{
		{"logins", kv.Key("alice"), kv.Encode(&account.Login{User: "alice", Role: account.RoleOperator,
			Password: "$argon2id$", ChangedAt: at}, codeLogin), map[string]func(context.Context) error{
			"login":     func(ctx context.Context) error { _, err := d.Login(ctx, "alice"); return err },
			"operators": func(ctx context.Context) error { _, err := d.Operators(ctx); return err },
		}},
		{"operatorkeys", hash[:], kv.Encode(&account.OperatorKey{ID: "opk_1", Hash: hash, Scopes: "all", CreatedAt: at},
			codeOperatorKey), map[string]func(context.Context) error{
			"key":  func(ctx context.Context) error { _, err := d.OperatorKeyByHash(ctx, hash); return err },
			"list": func(ctx context.Context) error { _, err := d.OperatorKeys(ctx); return err },
		}},
		{"passkeys", kv.Key("AQI"), kv.Encode(&account.Passkey{ID: "AQI", User: "alice", Credential: []byte{1},
			CreatedAt: at}, codePasskey), map[string]func(context.Context) error{
			"use": func(ctx context.Context) error { return d.UsePasskey(ctx, "AQI", 0, at) },
		}},
		{"identities", kv.Key("i", "s"), kv.Encode(&account.Identity{Issuer: "i", Subject: "s", User: "alice",
			CreatedAt: at}, codeIdentity), map[string]func(context.Context) error{
			"identity": func(ctx context.Context) error { _, err := d.Identity(ctx, "i", "s"); return err },
		}},
		{"signins", hash[:], kv.Encode(&account.SignIn{Hash: hash, User: "alice", CreatedAt: at, SeenAt: at,
			Agent: "Firefox"}, codeSignIn), map[string]func(context.Context) error{
			"sign-in": func(ctx context.Context) error { _, err := d.SignIn(ctx, hash); return err },
		}},
		{"invitations", hash[:], kv.Encode(&account.Invitation{Hash: hash, User: "alice", Role: account.RoleUser,
			ExpiresAt: at}, codeInvitation), map[string]func(context.Context) error{
			"look": func(ctx context.Context) error { _, err := d.Invitation(ctx, hash, at.Add(-1)); return err },
			"take": func(ctx context.Context) error { _, err := d.TakeInvitation(ctx, hash, at.Add(-1)); return err },
		}},
	} {
		store := func(value []byte) {
			is.NoErr(db.Update(ctx, func(tx kv.Tx) error { tx.Put(kind.bucket, kind.key, value); return nil }))
		}
		for name, read := range kind.read {
			for n := range kind.value {
				store(kind.value[:n])
				if err := read(ctx); err == nil || errors.Is(err, imagegen.ErrNotFound) {
					t.Errorf("%s: cut to %d bytes: %v", name, n, err)
				}
			}
			store(append([]byte{kind.value[0] + 1}, kind.value[1:]...))
			is.True(read(ctx) != nil) // a form of the future
			store(kind.value)
			is.NoErr(read(ctx))
		}
	}
}
