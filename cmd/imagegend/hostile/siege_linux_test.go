package hostile_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// These bounds must hold while all attack at once.
const (
	siegeTime   = 4 * time.Second // PROOF_TIMES=15 makes a minute of it
	siegeDisk   = 400 << 20
	siegeFloor  = 64 << 20  // of the disk, for settlements
	siegeMemory = 300 << 20 // resident
)

// Eight attackers at once, each with what one of them can have: the ordinary client beside them is served,
// the daemon stays within its memory, the floor of the disk holds, and the books are exact.
func TestSiege(t *testing.T) {
	s := newSiege(t)
	ctx, cancel := context.WithTimeout(t.Context(), siegeTime*times())
	defer cancel()
	attacks := s.attackers()
	for name := range attacks {
		s.did[name] = new(atomic.Int64)
	}
	var attackers sync.WaitGroup
	for _, attack := range attacks {
		attackers.Go(func() { attack(ctx) })
	}
	attackers.Go(func() { s.watch(ctx) })
	served, asked := s.live(ctx)
	attackers.Wait()
	s.HangUp()

	t.Logf("proof hostile: attackers=%d seconds=%.0f served=%d asked=%d resident_megabytes=%d least_free_megabytes=%d real_disk=%v",
		len(s.did), (siegeTime * times()).Seconds(), served, asked, s.resident>>20, s.free>>20, s.small)
	for name, n := range s.did {
		t.Logf("%s: %d answers", name, n.Load())
	}
	if asked == 0 || served*100 < asked*99 {
		t.Errorf("of %d requests of the ordinary client %d were served: %v", asked, served, s.refusals)
	}
	if s.resident > siegeMemory {
		t.Errorf("the daemon took %d MiB of memory", s.resident>>20)
	}
	if s.small && s.free < siegeFloor {
		t.Errorf("%d MiB were left on the disk", s.free>>20)
	}
	if stdout, stderr, status := s.Command("audit"); status != 0 {
		t.Errorf("imagegend audit: exit status %d\n%s%s", status, stdout, stderr)
	}
}

// times is PROOF_TIMES, by which the long form of the proofs multiplies what is done.
func times() time.Duration {
	n, err := strconv.Atoi(os.Getenv("PROOF_TIMES"))
	if err != nil {
		return 1
	}
	return time.Duration(max(n, 1))
}

// siege is a daemon under attack.
type siege struct {
	*daemontest.Daemon
	t     *testing.T
	key   string // the ordinary client's
	small bool   // it has a disk of its own
	dir   string
	image string // an image's path, with which anybody can read it
	long  string // the key of one with a hundred of the longest prompts

	did      map[string]*atomic.Int64
	resident int
	free     uint64
	refusals map[string]int
}

func newSiege(t *testing.T) *siege {
	s := &siege{t: t, dir: t.TempDir(), did: map[string]*atomic.Int64{}, refusals: map[string]int{}, free: 1 << 62}
	if s.small = unix.Mount("tmpfs", s.dir, "tmpfs", 0, fmt.Sprintf("mode=0700,size=%d", siegeDisk)) == nil; s.small {
		t.Cleanup(func() { unix.Unmount(s.dir, unix.MNT_DETACH) })
	}
	s.Daemon = daemontest.Start(t, daemontest.Options{DataDir: s.dir, Args: []string{"--models", bombingModels(t)}})
	_, s.key = s.NewUser(100_000)
	var made daemontest.Generation
	a := s.Call(small(s.key))
	if a.Status != http.StatusOK {
		t.Fatalf("before the siege: %d %s", a.Status, a.Body)
	}
	a.Into(t, &made)
	s.image = made.Images[0].URL
	s.long = s.longPrompts()
	return s
}

// live is the ordinary client: it asks for an image, looks at it, and at the balance.
func (s *siege) live(ctx context.Context) (served, asked int) {
	note := func(a daemontest.Answer, err error) bool {
		if asked++; err == nil && a.Status == http.StatusOK {
			served++
			return true
		}
		s.refusals[fmt.Sprint(a.Status, " ", a.Code(), " ", err)]++
		return false
	}
	for ctx.Err() == nil {
		a, err := s.ask(small(s.key))
		if note(a, err) {
			var made daemontest.Generation
			a.Into(s.t, &made)
			note(s.ask(daemontest.Request{Path: made.Images[0].URL}))
		}
		note(s.ask(daemontest.Request{Path: "/api/v1/credits", Key: s.key}))
		time.Sleep(10 * time.Millisecond)
	}
	return served, asked
}

// ask waits as long as a patient client does; the siege's end cuts nothing off.
func (s *siege) ask(r daemontest.Request) (daemontest.Answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return s.Do(ctx, r)
}

// watch notes the most memory and the least space.
func (s *siege) watch(ctx context.Context) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		s.resident = max(s.resident, s.RSS())
		var disk unix.Statfs_t
		if unix.Statfs(s.dir, &disk) == nil {
			s.free = min(s.free, disk.Bavail*uint64(disk.Bsize))
		}
		<-tick.C
	}
}
