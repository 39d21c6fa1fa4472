package survival_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// longestEnd is how long work may take to end once nothing is at fault, on a machine that is busy.
const longestEnd = 3 * time.Minute

// workload is one data directory, its users and their clients.
type workload struct {
	*testing.T
	random   *rand.Rand
	options  daemontest.Options
	auditor  *auditor
	users    []*account
	clients  []*client
	follower *follower
}

type account struct {
	name, key string
	granted   int
	clients   int
}

func newSingleWorkload(t *testing.T, seed uint64) *workload {
	return newWorkload(t, seed, daemontest.Options{DataDir: t.TempDir(), Args: slices.Concat(fixedAddress, withFeed)})
}

func newWorkload(t *testing.T, seed uint64, o daemontest.Options) *workload {
	s := &workload{T: t, random: rand.New(rand.NewPCG(seed, 0)), auditor: newAuditor(t), options: o}
	d := s.start()
	s.follower = newFollower(t, d)
	for user, u := range []*account{{granted: 1_000_000, clients: 5}, {granted: 1_000_000, clients: 5},
		{granted: 20, clients: 2}} {
		u.name, u.key = d.NewUser(u.granted)
		s.users = append(s.users, u)
		for i := range u.clients {
			s.clients = append(s.clients, &client{name: fmt.Sprintf("client %d of user %d", i, user), key: u.key,
				auditor: s.auditor, random: rand.New(rand.NewPCG(seed, uint64(1+len(s.clients))))})
		}
	}
	d.Kill()
	return s
}

// start starts the daemon; one time in five another was killed before, on its way up.
func (s *workload) start() *daemontest.Daemon {
	s.Helper()
	if s.random.IntN(5) == 0 {
		d := daemontest.Launch(s, s.options)
		<-time.After(span(s.random, 60*time.Millisecond))
		d.Kill()
	}
	return daemontest.Start(s, s.options)
}

// grant gives the poor user something, twice under the same reference: it counts once.
func (s *workload) grant(d *daemontest.Daemon, round int) {
	s.Helper()
	poor := s.users[len(s.users)-1]
	for range 2 {
		d.Admin("credit", "grant", "--user", poor.name, "7", "--ref", "round-"+strconv.Itoa(round))
	}
	poor.granted += 7
}

// use has the clients work until the daemon is killed.
func (s *workload) use(d *daemontest.Daemon) (kill func()) {
	var dying atomic.Bool
	ctx, cancel := context.WithCancel(s.Context())
	var wg sync.WaitGroup
	for _, c := range s.clients {
		wg.Go(func() { c.work(ctx, d, &dying) })
	}
	wg.Go(func() { s.follower.follow(ctx, func() *daemontest.Daemon { return d }) })
	return func() {
		dying.Store(true)
		d.Kill()
		cancel()
		wg.Wait()
	}
}

// aftermath starts the daemon a last time, lets everything end and compares all there is.
func (s *workload) aftermath() {
	d := s.start()
	images := s.compare(d)
	if status := d.Terminate(20 * time.Second); status != 0 {
		s.Errorf("exit status %d at the end", status)
	}
	s.checkFiles(images)
	db, err := storage.Open(s.options.DataDir, &storage.Options{MustExist: true})
	check(s.T, err)
	s.compareFeed(db)
	check(s.T, db.Close())
}

// compare lets everything end and compares all there is to the answers that clients got. It counts the images.
func (s *workload) compare(d *daemontest.Daemon) (images int) {
	for _, u := range s.users {
		d.AllEnded(s.T, u.key, longestEnd)
	}
	for _, c := range s.clients {
		for _, a := range c.answered {
			daemontest.Eventually(s.T, longestEnd, "what was answered is answered again", func() bool {
				replayed, err := c.again(s.Context(), d, a)
				if err != nil {
					s.Fatal(err)
				}
				return replayed
			})
		}
	}
	s.auditor.compareAll(s.Context(), d)
	for _, u := range s.users {
		all := d.MustGenerations(s.T, u.key, "")
		s.checkList(u, all)
		for _, g := range all {
			images += len(g.Images)
		}
		d.Settled(s.T, u.key, u.granted)
	}
	d.Clean(s.T)
	return images
}

// checkFiles looks for what attempts that were killed have left, once no thumbnail is being made any more.
func (s *workload) checkFiles(images int) {
	files := map[string]bool{}
	err := fs.WalkDir(os.DirFS(s.options.DataDir), "images", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files[path] = true
		}
		return err
	})
	if err != nil {
		s.Error(err)
	}
	for path := range files {
		original, small := strings.CutSuffix(path, "-t")
		if !small {
			continue
		}
		if delete(files, path); !files[original] {
			s.Errorf("%s is the thumbnail of nothing", path)
		}
	}
	if len(files) != images {
		s.Errorf("there are %d image files for %d images", len(files), images)
	}
	for _, path := range daemontest.Leftovers(s.T, s.options.DataDir) {
		if dir := filepath.Base(filepath.Dir(path)); dir == "spool" || dir == "tmp" {
			s.Errorf("%s was left behind", path)
		}
	}
}

// report tells what is wrong, though the test may have ended early.
func (s *workload) report() {
	for _, wrong := range s.auditor.wrong[:min(20, len(s.auditor.wrong))] {
		s.Error(wrong)
	}
}

// checkList compares an account's list to the answers that its clients got.
func (s *workload) checkList(u *account, all []daemontest.Generation) {
	ids, prompts := map[string]bool{}, map[string]bool{}
	for _, g := range all {
		if prompts[g.Prompt] {
			s.Errorf("%q was generated twice", g.Prompt)
		}
		if s.auditor.refused[g.Prompt] {
			s.Errorf("%q was refused, but is recorded", g.Prompt)
		}
		ids[g.ID], prompts[g.Prompt] = true, true
		if known, ok := s.auditor.facts[g.ID]; ok {
			if diff := contradiction(known.Generation, g); diff != "" {
				s.Errorf("generation %s was answered otherwise than it is listed (-answered +listed):\n%s", g.ID, diff)
			}
		}
	}
	for id, f := range s.auditor.facts {
		if f.key == u.key && !ids[id] {
			s.Errorf("generation %s was acknowledged and is not listed", id)
		}
	}
	if !slices.IsSortedFunc(all, func(a, b daemontest.Generation) int { return strings.Compare(b.ID, a.ID) }) {
		s.Errorf("the list of %s is not newest first", u.name)
	}
}
