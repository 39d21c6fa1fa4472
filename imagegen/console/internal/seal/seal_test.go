package seal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/console/internal/seal"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// A sealed value opens for its kind and owner, in time and unchanged, and never with another store.
func TestSeal(t *testing.T) {
	is, now := is.New(t), time.Now()
	ctx, db := t.Context(), memory.New(nil)
	here, node, elsewhere := seal.New(db), seal.New(db), seal.New(memory.New(nil))
	sealed, err := here.Seal(ctx, "kind", "owner", now.Add(time.Minute), "a secret")
	is.NoErr(err)
	other, err := here.Seal(ctx, "kind", "owner", now.Add(time.Minute), "a secret")
	is.NoErr(err)
	is.True(sealed != other && len(sealed) == len(other))
	changed := strings.Map(func(r rune) rune {
		if r == rune(sealed[40]) {
			return 'A' + (r+1)%26
		}
		return r
	}, sealed)
	fast, err := node.Seal(ctx, "kind", "owner", now.AddDate(1, 0, 0).Add(time.Minute), "a secret")
	is.NoErr(err)
	for name, c := range map[string]struct {
		at                  *seal.Sealer
		now                 time.Time
		kind, owner, sealed string
		want                bool
	}{
		"as it is":        {here, now, "kind", "owner", sealed, true},
		"at another node": {node, now.Add(time.Minute - 1), "kind", "owner", sealed, true},
		"late":            {node, now.Add(time.Minute), "kind", "owner", sealed, false},
		// at a node whose clock is behind
		"before its time":   {node, now.Add(-seal.WaitTime), "kind", "owner", sealed, true},
		"by a fast clock":   {here, now, "kind", "owner", fast, false},
		"another kind":      {here, now, "kin", "owner", sealed, false},
		"another owner":     {here, now, "kind", "", sealed, false},
		"another store":     {elsewhere, now, "kind", "owner", sealed, false},
		"changed":           {here, now, "kind", "owner", changed, false},
		"cut":               {here, now, "kind", "owner", sealed[:len(sealed)-1], false},
		"salt alone":        {here, now, "kind", "owner", sealed[:32], false},
		"nothing":           {here, now, "kind", "owner", "", false},
		"not sealed at all": {here, now, "kind", "owner", "a secret", false},
	} {
		var v string
		ok, err := c.at.Unseal(ctx, c.now, c.kind, c.owner, c.sealed, &v)
		is.NoErr(err)
		if ok != c.want || ok && v != "a secret" {
			t.Errorf("%s: %v %q", name, ok, v)
		}
	}
	first, err := here.UsedFirst(ctx, now, sealed)
	is.NoErr(err)
	is.True(first)
	for _, again := range []string{sealed, sealed + "\n"} {
		first, err = node.UsedFirst(ctx, now.Add(time.Minute), again)
		is.NoErr(err)
		is.True(!first)
	}
	first, err = here.UsedFirst(ctx, now, other)
	is.NoErr(err)
	is.True(first)
}
