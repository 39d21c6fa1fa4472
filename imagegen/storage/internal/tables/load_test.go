package tables_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// A process that opens the database finds what the former left: all leases over, the queue as it was.
func TestLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		in := kvtest.New()
		former := open(t, in)
		former.all(t)
		rs, err := former.Recover(t.Context(), 10, time.Hour)
		is.NoErr(err)
		is.Equal(len(rs), 0)

		d := open(t, in)
		n, err := d.Queued(t.Context(), "alice")
		is.NoErr(err)
		is.Equal(n, imagegen.QueueLength{All: 3, Own: 3})
		rs, err = d.Recover(t.Context(), 10, time.Hour)
		is.NoErr(err)
		var states []imagegen.State
		for _, r := range rs {
			states = append(states, r.State)
		}
		is.Equal(cmp.Diff([]imagegen.State{imagegen.StateCharging, imagegen.StateProcessing, imagegen.StateErasing,
			imagegen.StateSettling}, states), "")
		rs, next, err := d.Claim(t.Context(), imagegen.ClaimRequest{Most: 10, Lease: time.Hour})
		is.NoErr(err)
		is.Equal(len(rs), 2)
		is.Equal(next, time.Hour)
		time.Sleep(next)
		rs, _, err = d.Claim(t.Context(), imagegen.ClaimRequest{Most: 10, Lease: time.Hour})
		is.NoErr(err)
		is.Equal(len(rs), 1)
	})
}

// After a restart nothing waits for longer than its delay, whatever clock wrote down when it is due, and what
// has waited long enough is due.
func TestDelaysAfterARestart(t *testing.T) {
	for name, c := range map[string]struct{ ahead, left time.Duration }{
		"the clock was right": {0, 40 * time.Minute}, "it was ahead": {1000 * time.Hour, time.Hour},
		"it was behind": {-1000 * time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				in := kvtest.New()
				former := openWith(t, in, func() time.Time { return time.Now().Add(c.ahead) })
				former.accept(t, 1, true)
				rs, _, err := former.Claim(t.Context(), imagegen.ClaimRequest{Most: 1, Lease: time.Minute})
				is.NoErr(err)
				former.update(t, rs[0], imagegen.ReleaseChange{Delay: time.Hour})
				time.Sleep(20 * time.Minute)
				rs, left, err := open(t, in).Claim(t.Context(), imagegen.ClaimRequest{Most: 1, Lease: time.Minute})
				is.NoErr(err)
				is.Equal(left, c.left)
				is.Equal(len(rs) == 1, c.left == 0)
			})
		})
	}
}

func TestOpen(t *testing.T) {
	is := is.New(t)
	d := open(t, kvtest.New())
	d.all(t)
	var references []imagegen.ReferenceID
	is.NoErr(d.kv.View(t.Context(), func(tx kv.Tx) error {
		_, err := tables.EachOpen(tx, func(r tables.Row) error {
			for _, f := range r.References {
				references = append(references, f.ID)
			}
			return nil
		})
		return err
	}))
	is.Equal(references, []imagegen.ReferenceID{"ref_1", "ref_2", "ref_7", "ref_8", "ref_9", "ref_10"})

	stop := errors.New("stop")
	calls := 0
	err := d.kv.View(t.Context(), func(tx kv.Tx) error {
		_, err := tables.EachOpen(tx, func(tables.Row) error { calls++; return stop })
		return err
	})
	is.True(errors.Is(err, stop))
	is.Equal(calls, 1)
}

func TestImages(t *testing.T) {
	is := is.New(t)
	d := open(t, kvtest.New())
	d.all(t)
	var of []imagegen.GenerationID
	is.NoErr(d.kv.View(t.Context(), func(tx kv.Tx) error {
		return tables.Images(tx, func(f rules.File) error {
			is.Equal(f.Key.Attempt, 1)
			of = append(of, f.Key.Generation)
			return nil
		})
	}))
	is.Equal(of, []imagegen.GenerationID{recordNo(3, false).ID, recordNo(7, false).ID}) // succeeded, settling

	stop := errors.New("stop")
	err := d.kv.View(t.Context(), func(tx kv.Tx) error {
		return tables.Images(tx, func(rules.File) error { return stop })
	})
	is.True(errors.Is(err, stop))
}
