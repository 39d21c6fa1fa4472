package survival_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The disk fills up while work is under way: new work is refused before any charge, an image that
// cannot be stored is kept until there is space, reading goes on, and then all is well again.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	withSmallDisk(t, "192m", func(t *testing.T, disk string) {
		is := is.New(t)
		o := daemontest.Options{DataDir: filepath.Join(disk, "data"), Args: fixedAddress}
		d := daemontest.Start(t, o)
		_, key := d.NewUser(100)
		_, late := d.NewUser(10)
		var before daemontest.Generation
		d.Call(operation{prompt: "before", n: 2}.request(key)).Into(t, &before)
		c := newCrowd(t, d, key)
		const refunded, stored = "a refund [fake:delay=2s] [fake:fail]", "an image [fake:delay=2s]"
		c.call(refunded)
		c.call(stored)
		c.under(2)

		filler := fill(t, disk)
		refusesForWantOfSpace(t, d, late)
		is.Equal(contradiction(before, d.MustGeneration(t, key, before.ID)), "") // reading goes on
		is.NoErr(checkImage(t.Context(), d, before.Images[0].URL, 48, 32))
		is.Equal(c.answers[refunded]().Code(), "generationFailed")

		is.NoErr(os.Remove(filler))
		is.Equal(c.answers[stored]().Status, http.StatusOK) // it was kept meanwhile
		d.Settled(t, key, 100)
		daemontest.Eventually(t, 10*time.Second, "new work is taken again", func() bool {
			return d.Call(operation{prompt: "after", n: 1}.request(late)).Status == http.StatusOK
		})
		d.Settled(t, late, 10)
		is.Equal(d.Terminate(10*time.Second), 0)
		d = daemontest.Start(t, o)
		d.Settled(t, key, 100)
		d.Clean(t)
	})
}

// refusesForWantOfSpace checks that new work of each kind is turned away before any charge.
func refusesForWantOfSpace(t *testing.T, d *daemontest.Daemon, key string) {
	t.Helper()
	is := is.New(t)
	daemontest.Eventually(t, 5*time.Second, "the daemon is not ready", func() bool {
		return d.Call(daemontest.Request{Path: "/readyz"}).Status == http.StatusServiceUnavailable
	})
	for _, o := range []operation{{prompt: "no space", n: 1}, {prompt: "no space", n: 1, async: true},
		{prompt: "no space", n: 1, references: 1}} {
		answer := d.Call(o.request(key))
		is.Equal(answer.Status, http.StatusServiceUnavailable)
		is.Equal(answer.Code(), "overloaded")
	}
	is.Equal(d.MustBalance(t, key), 10)
	is.Equal(len(d.MustGenerations(t, key, "")), 0)
}

// fill takes all space that a disk has and returns the file that has it.
func fill(t *testing.T, disk string) string {
	t.Helper()
	filler, err := os.Create(filepath.Join(disk, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 1<<20); err == nil; {
		_, err = filler.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := filler.Close(); err != nil {
		t.Fatal(err)
	}
	return filler.Name()
}
