package storage_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
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
	records, _, err := w.Claim(t.Context(), imagegen.Demand{Most: 1, Lease: time.Minute})
	is.NoErr(err)
	is.Equal(records[0].User, imagegen.UserID("alice")) // who goes to the end
	is.NoErr(w.Close())
	w = work(t, openDir(t, dir, nil))
	records, _, err = w.Claim(t.Context(), imagegen.Demand{Most: 1, Lease: time.Minute})
	is.NoErr(err)
	is.Equal(records[0].User, imagegen.UserID("bob"))
	w.clean()
}
