package tables_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
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

// A read that a change overtakes must not be what later reads return.
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

// A change of another process is seen at once where nothing is kept, after the given time where rows are kept for a
// while, and never where this process is the only one.
func TestRowsAreKeptForAsLongAsAsked(t *testing.T) {
	for _, c := range []struct {
		age           time.Duration
		atOnce, later bool // the change is seen at once, and a second later
	}{{-1, true, true}, {time.Second, false, true}, {0, false, false}} {
		t.Run(c.age.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is, shared := is.New(t), kvtest.New()
				d, elsewhere := open(t, shared), open(t, shared)
				d.KeepFor(c.age)
				hash := [32]byte{1}
				is.NoErr(d.CreateUser(t.Context(), imagegen.User{ID: "alice", Name: "alice"}))
				is.NoErr(d.CreateKey(t.Context(), imagegen.Key{ID: "key_1", User: "alice", Hash: hash}))
				sees := func() []bool {
					u, err := d.User(t.Context(), "alice")
					is.NoErr(err)
					k, err := d.KeyByHash(t.Context(), hash)
					is.NoErr(err)
					return []bool{!u.DisabledAt.IsZero(), !k.RevokedAt.IsZero()}
				}
				is.Equal(sees(), []bool{false, false})
				is.NoErr(elsewhere.DisableUser(t.Context(), "alice", time.Now()))
				_, err := elsewhere.RevokeKey(t.Context(), "key_1", time.Now())
				is.NoErr(err)
				is.Equal(sees(), []bool{c.atOnce, c.atOnce})
				time.Sleep(time.Second)
				is.Equal(sees(), []bool{c.later, c.later})
			})
		})
	}
}
