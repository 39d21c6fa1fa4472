package tables_test

import (
	"context"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
	"github.com/matryer/is"
)

// overtaken is a database in which something happens between a read and its answer.
type overtaken struct {
	kv.DB
	by func()
}

func (d *overtaken) View(ctx context.Context, f func(kv.Tx) error) error {
	err := d.DB.View(ctx, f)
	if by := d.by; by != nil {
		d.by = nil
		by()
	}
	return err
}

// A read that a change overtakes must not be what later reads are told.
func TestNothingOutdatedIsRemembered(t *testing.T) {
	is := is.New(t)
	db := &overtaken{DB: kvtest.New()}
	d := open(t, db)
	hash, at := [32]byte{1}, time.Unix(1, 0).UTC()
	is.NoErr(d.CreateUser(t.Context(), imagegen.User{ID: "alice", Name: "alice"}))
	is.NoErr(d.CreateKey(t.Context(), imagegen.Key{ID: "key_1", User: "alice", Hash: hash}))

	db.by = func() {
		_, err := d.RevokeKey(t.Context(), "key_1", at)
		is.NoErr(err)
	}
	_, err := d.KeyByHash(t.Context(), hash)
	is.NoErr(err)
	k, err := d.KeyByHash(t.Context(), hash)
	is.NoErr(err)
	is.Equal(k.RevokedAt, at)

	db.by = func() { is.NoErr(d.DisableUser(t.Context(), "alice", at)) }
	_, err = d.User(t.Context(), "alice")
	is.NoErr(err)
	u, err := d.User(t.Context(), "alice")
	is.NoErr(err)
	is.Equal(u.DisabledAt, at)

	is.NoErr(d.TouchKeys(t.Context(), map[imagegen.KeyID]time.Time{"key_1": at}))
	k, err = d.KeyByHash(t.Context(), hash)
	is.NoErr(err)
	is.Equal(k.LastUsedAt, at)
}
