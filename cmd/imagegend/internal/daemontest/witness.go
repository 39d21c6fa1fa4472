package daemontest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Eventually polls until the condition holds, and fails the test if it does not within the limit.
func Eventually(tb testing.TB, limit time.Duration, what string, holds func() bool) {
	tb.Helper()
	EventuallyOr(tb, limit, holds, func() string { return "still not: " + what })
}

// EventuallyOr is Eventually with a function that returns the message, which is called only if the test fails.
func EventuallyOr(tb testing.TB, limit time.Duration, holds func() bool, complaint func() string) {
	tb.Helper()
	deadline := time.After(limit)
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for !holds() {
		select {
		case <-deadline:
			tb.Fatalf("after %s: %s", limit, complaint())
		case <-poll.C:
		}
	}
}

// Says checks that a text has all that it should say.
func Says(tb testing.TB, text string, want ...string) {
	tb.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			tb.Errorf("%q does not say %q", text, w)
		}
	}
}

// AllEnded waits until none of an account's generations is queued or processing.
func (d *Daemon) AllEnded(tb testing.TB, key string, limit time.Duration) {
	tb.Helper()
	Eventually(tb, limit, "every generation has ended", func() bool {
		return len(d.MustGenerations(tb, key, "queued"))+len(d.MustGenerations(tb, key, "processing")) == 0
	})
}

// Settled fails the test unless the credits that are gone from an account paid for images that are there, at one
// credit for an image. granted is what the account had in all. Nothing may be under way.
func (d *Daemon) Settled(tb testing.TB, key string, granted int) {
	tb.Helper()
	var used int
	for _, g := range d.MustGenerations(tb, key, "") {
		used += g.Usage.Credits
		if g.Usage.Credits != len(g.Images) || !g.Ended() {
			tb.Errorf("generation %s is %s with %d images for %d credits", g.ID, g.Status, len(g.Images),
				g.Usage.Credits)
		}
	}
	if left := d.MustBalance(tb, key); granted-left != used {
		tb.Errorf("of %d credits %d are left, but the generations cost %d", granted, left, used)
	}
}

// Clean fails the test unless the daemon's own audit finds nothing.
func (d *Daemon) Clean(tb testing.TB) {
	tb.Helper()
	if stdout, stderr, status := d.Command("audit"); status != 0 {
		tb.Errorf("imagegend audit: exit status %d\n%s%s", status, stdout, stderr)
	}
}

// Leftovers lists the files below directories, without those in directories named images: the daemon's own audit
// compares these with its records.
func Leftovers(tb testing.TB, dirs ...string) (all []string) {
	tb.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, os.ErrNotExist): // it was removed meanwhile
				return nil
			case err != nil:
				return err
			case e.IsDir() && e.Name() == "images":
				return filepath.SkipDir
			case !e.IsDir():
				all = append(all, path)
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return slices.Sorted(slices.Values(all))
}

// NoLeftovers waits until there is no file that was not there before. It waits because files are removed after the
// answer was sent. before is what Leftovers returned; some of those files may be gone by now.
func NoLeftovers(tb testing.TB, before []string, dirs ...string) {
	tb.Helper()
	added := func() []string {
		return slices.DeleteFunc(Leftovers(tb, dirs...), func(path string) bool {
			return slices.Contains(before, path)
		})
	}
	EventuallyOr(tb, 20*time.Second, func() bool { return len(added()) == 0 },
		func() string { return "files are left:\n" + strings.Join(added(), "\n") })
}
