package storage_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// queue has a generation of each of three users wait.
func (w worker) queue() {
	w.t.Helper()
	for n, user := range []imagegen.UserID{"alice", "bob", "carol"} {
		_, err := w.Grant(w.t.Context(), imagegen.Grant{User: user, Credits: 5})
		w.is.NoErr(err)
		r := newRecord(n)
		r.User, r.Async = user, true
		_, err = w.CreateCharged(w.t.Context(), r, time.Minute)
		w.is.NoErr(err)
	}
}

// After a restart it is the turn of whose work has waited longest.
func TestTurnsAfterARestart(t *testing.T) {
	dir := t.TempDir()
	is, w := is.New(t), work(t, openDir(t, dir, nil))
	w.queue()
	r := newRecord(9)
	r.Async = true
	_, err := w.CreateCharged(t.Context(), r, time.Minute)
	is.NoErr(err)
	records, _, err := w.Claim(t.Context(), imagegen.ClaimRequest{Most: 1, Lease: time.Minute})
	is.NoErr(err)
	is.Equal(records[0].User, imagegen.UserID("alice")) // who goes to the end
	is.NoErr(w.Close())
	w = work(t, openDir(t, dir, nil))
	records, _, err = w.Claim(t.Context(), imagegen.ClaimRequest{Most: 1, Lease: time.Minute})
	is.NoErr(err)
	is.Equal(records[0].User, imagegen.UserID("bob"))
	w.clean()
}

// A delay goes on through a restart, wherever the wall clock was set: nobody believes it.
func TestDelayThroughALeapAndARestart(t *testing.T) {
	for _, leap := range []time.Duration{12 * time.Hour, -12 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			is, dir, ahead := is.New(t), t.TempDir(), time.Duration(0)
			open := func() worker {
				return work(t, openDir(t, dir, &storage.Options{Now: func() time.Time {
					return time.Now().Add(ahead)
				}}))
			}
			w := open()
			w.queue()
			all := imagegen.ClaimRequest{Most: 10, Lease: time.Minute}
			records, _, err := w.Claim(t.Context(), all)
			is.NoErr(err)
			for _, r := range records { // the first before the leap
				_, err = w.Update(t.Context(), r.Fence(), imagegen.ReleaseChange{Delay: 30 * time.Second})
				is.NoErr(err)
				ahead = leap
			}
			is.NoErr(w.Close())
			time.Sleep(10 * time.Second)
			w = open()
			records, next, err := w.Claim(t.Context(), all)
			is.NoErr(err)
			is.Equal(len(records), 0)
			is.Equal(next, 20*time.Second)
		})
	}
}
