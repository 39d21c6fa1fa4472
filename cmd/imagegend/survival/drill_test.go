package survival_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// Backups are taken while clients work. Each is restored elsewhere: its audit finds nothing, all that
// had ended before it began is there as it was answered, with its images, and the books are right.
func TestBackupDrill(t *testing.T) {
	t.Parallel()
	s := newSingleWorkload(t, seed(t))
	defer s.report()
	d := s.start()
	kill := s.use(d)
	drills := s.backUp(d)
	kill()
	s.restoreAll(drills)
}

// The same of a database and an object store that three nodes share, all of which go on meanwhile.
func TestBackupDrillOfNodes(t *testing.T) {
	w := startCluster(t, plan{replication: postgrestest.Synchronous, seed: seed(t)})
	defer w.report()
	drills := w.backUp(w.nodes[0].current())
	w.stopAndCompare("backups of nodes")
	w.restoreAll(drills)
}

// backUp takes backups, one after the other.
func (s *workload) backUp(d *daemontest.Daemon) (drills []drill) {
	s.Helper()
	for range 3 * times() {
		<-time.After(time.Second)
		b := drill{archive: filepath.Join(s.TempDir(), "backup"), ended: s.ended(d)}
		d.Admin("backup", b.archive)
		drills = append(drills, b)
	}
	return drills
}

// restoreAll restores each of some backups, in which something had ended.
func (s *workload) restoreAll(drills []drill) {
	s.Helper()
	met := map[string]int{"backups": len(drills)}
	for _, b := range drills {
		met["generations"] += len(b.ended)
		s.restore(b)
	}
	is.New(s.T).True(met["generations"] > 0)
	report(s.T, "backup", met)
}

// drill is a backup, and the generations that had ended before it began.
type drill struct {
	archive string
	ended   map[string]fact
}

// ended are the generations that have ended, as the daemon tells them.
func (s *workload) ended(d *daemontest.Daemon) map[string]fact {
	s.Helper()
	all := map[string]fact{}
	for _, u := range s.users {
		for _, g := range d.MustGenerations(s.T, u.key, "") {
			if g.Ended() {
				all[g.ID] = fact{u.key, g}
			}
		}
	}
	return all
}

// restore restores a backup into a directory of its own, and serves it.
func (s *workload) restore(b drill) {
	s.Helper()
	dir := filepath.Join(s.TempDir(), "restored")
	out, err := exec.Command(daemontest.Build(s), "restore", b.archive, "--data-dir", dir).CombinedOutput()
	if err != nil {
		s.Fatalf("restore: %v\n%s", err, out)
	}
	d := daemontest.Start(s, daemontest.Options{DataDir: dir, Args: s.options.Args, Models: s.options.Models})
	defer d.Kill()
	for _, u := range s.users {
		d.AllEnded(s.T, u.key, time.Minute)
		d.Settled(s.T, u.key, u.granted)
	}
	for id, was := range b.ended {
		is := d.MustGeneration(s.T, was.key, id)
		if diff := cmp.Diff(was.Fields, is.Fields); diff != "" {
			s.Errorf("generation %s was backed up otherwise than it was answered (-answered +restored):\n%s", id, diff)
		}
		for _, i := range is.Images {
			if err := checkImage(s.Context(), d, i.URL, i.Width, i.Height); err != nil {
				s.Errorf("image %s: %v", i.URL, err)
			}
		}
	}
	d.Clean(s.T)
}
