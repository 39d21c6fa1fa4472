package survival_test

import (
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/backups"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// backupKills is how often a daemon is killed while it makes backups.
const backupKills = 8

// shelf is where a daemon keeps its backups.
type shelf struct {
	t    *testing.T
	dir  string
	good map[string]bool // those that were restored
}

// look sorts what lies there into archives and what is on its way.
func (s shelf) look() (archives, onTheWay []string) {
	s.t.Helper()
	entries, err := os.ReadDir(s.dir)
	is.New(s.t).NoErr(err)
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), "imagegend-"):
			archives = append(archives, e.Name())
		case e.Name() != ".lock":
			onTheWay = append(onTheWay, e.Name())
		}
	}
	return archives, onTheWay
}

// restores checks that each archive is one, with the credits of a user.
func (s shelf) restores(archives []string, u imagegen.UserID, credits imagegen.Credits) {
	s.t.Helper()
	is := is.New(s.t)
	for _, name := range archives {
		if s.good[name] {
			continue
		}
		f, err := os.Open(filepath.Join(s.dir, name))
		is.NoErr(err)
		dir := filepath.Join(s.t.TempDir(), "restored")
		is.NoErr(storage.Restore(s.t.Context(), f, dir))
		is.NoErr(f.Close())
		db, err := storage.Open(dir, nil)
		is.NoErr(err)
		b, err := db.Balance(s.t.Context(), u)
		is.NoErr(err)
		is.Equal(b.Credits, credits)
		is.NoErr(db.Close())
		s.good[name] = true
	}
}

// gone waits until a process has removed what one before it was about to make.
func (s shelf) gone(leftovers []string) {
	s.t.Helper()
	_, there := s.look()
	for _, name := range leftovers {
		if slices.Contains(there, name) {
			s.t.Errorf("%s was left by a process that was killed, and is there yet", name)
		}
	}
}

// Whenever a daemon is killed, what has the name of a backup is one, and the next daemon clears away the rest.
func TestKillDuringBackups(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	rng := rand.New(rand.NewPCG(seed(t), 8))
	s := shelf{t, filepath.Join(t.TempDir(), "backups"), map[string]bool{}}
	o := daemontest.Options{DataDir: t.TempDir(), Args: []string{"--backup-to", s.dir, "--backup-every", "20ms",
		"--backup-keep", "3"}}
	d := daemontest.Start(t, daemontest.Options{DataDir: o.DataDir})
	name, key := d.NewUser(100)
	for range 5 {
		is.Equal(d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox", "n": 4})).Status,
			http.StatusOK)
	}
	u := userNamed(t, d, name)
	is.Equal(d.Terminate(20*time.Second), 0)

	var leftovers []string
	interrupted := 0
	for range backupKills {
		d := daemontest.Start(t, o)
		s.gone(leftovers)
		time.Sleep(span(rng, 600*time.Millisecond)) // to be killed anywhere
		d.Kill()
		var archives []string
		archives, leftovers = s.look()
		if len(leftovers) > 0 {
			interrupted++
		}
		is.True(len(archives) <= 4) // those that are kept, and one that was just made
		s.restores(archives, u, 80)
	}
	for rounds := 0; len(s.good) == 0 || interrupted == 0; rounds++ { // on a slow machine nothing was made so far
		is.True(rounds < 20)
		d := daemontest.Start(t, o)
		time.Sleep(time.Duration(rounds+1) * 300 * time.Millisecond)
		d.Kill()
		archives, left := s.look()
		s.restores(archives, u, 80)
		interrupted += len(left)
	}
	t.Logf("%d good backups, %d interrupted", len(s.good), interrupted)

	d = daemontest.Start(t, o)
	is.Equal(d.Terminate(20*time.Second), 0) // a drain leaves nothing on its way
	_, onTheWay := s.look()
	is.Equal(len(onTheWay), 0)
}

// A daemon is killed while it backs up to a bucket: the archives there can be restored, and the next daemon removes
// the rest.
func TestKillDuringBackupsToABucket(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	rng := rand.New(rand.NewPCG(seed(t), 9))
	store, err := backups.Open(t.Context(), s3test.Start(t).Address())
	is.NoErr(err)
	o := daemontest.Options{DataDir: t.TempDir(), Args: []string{"--backup-to", store.String(), "--backup-every",
		"20ms", "--backup-keep", "3"}}
	work := shelf{t, filepath.Join(o.DataDir, ".backup"), nil}
	good := 0
	for round := 0; round < backupKills || good == 0; round++ {
		is.True(round < 3*backupKills)
		d := daemontest.Start(t, o)
		time.Sleep(span(rng, time.Duration(round+1)*300*time.Millisecond)) // to be killed anywhere
		d.Kill()
		all, err := store.List(t.Context())
		is.NoErr(err)
		for _, a := range all {
			where, query, _ := strings.Cut(store.String(), "?")
			f, err := backups.OpenArchive(t.Context(), where+"/"+a.Name+"?"+query)
			is.NoErr(err)
			is.NoErr(storage.Restore(t.Context(), f, filepath.Join(t.TempDir(), "restored")))
			is.NoErr(f.Close())
			good++
		}
	}
	d := daemontest.Start(t, o)
	is.Equal(d.Terminate(20*time.Second), 0)
	archives, onTheWay := work.look()
	is.Equal(len(archives)+len(onTheWay), 0)
}

// userNamed is the identifier of a user.
func userNamed(t *testing.T, d *daemontest.Daemon, name string) imagegen.UserID {
	t.Helper()
	for line := range strings.Lines(d.Admin("user", "list")) {
		if fields := strings.Fields(line); fields[0] == name {
			return imagegen.UserID(fields[1])
		}
	}
	t.Fatalf("there is no user %s", name)
	return ""
}
