package survival_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// noticed is how long a node may take to say that the object store is away, or is back. Five seconds are promised, and
// TestImagesAreKeptWhileTheStoreIsAway holds the engine to them by virtual time; here other processes take time too.
const noticed = 15 * time.Second

// While the object store is away, with or without a word, 64 calls under way at one node or at three lose no image and
// call no upstream twice. Each node says that it is not ready, refuses new calls before the charge, and is ready
// afterwards.
func TestObjectStoreAway(t *testing.T) {
	t.Parallel()
	for how, away := range map[string]func(*s3test.Server, *testing.T) (back func()){
		"stopped": func(s *s3test.Server, t *testing.T) func() { s.Stop(); return func() { s.Resume(t) } },
		"silent":  func(s *s3test.Server, t *testing.T) func() { return s.Pause(t) },
	} {
		for nodes, awayFor := range map[int]time.Duration{1: 20 * time.Second, 3: 40 * time.Second} {
			t.Run(fmt.Sprintf("%s, %d nodes", how, nodes), func(t *testing.T) {
				testObjectStoreAway(t, nodes, awayFor, away)
			})
		}
	}
}

func testObjectStoreAway(t *testing.T, nodes int, awayFor time.Duration,
	away func(*s3test.Server, *testing.T) (back func())) {
	is := is.New(t)
	const calls, images = 64, 2
	objects, database, u := s3test.Start(t), postgrestest.Start(t), newHeavyUpstream(t, calls, images)
	o := daemontest.Options{Models: true, Args: append([]string{"--models", u.models}, fixedAddress...),
		Env: []string{"IMAGEGEND_DATABASE=" + database.Database(t), "IMAGEGEND_IMAGES=" + objects.Address()}}
	var all []*daemontest.Daemon
	for i := range nodes {
		o.DataDir = filepath.Join(t.TempDir(), fmt.Sprint(i))
		all = append(all, daemontest.Start(t, o))
	}
	_, key := all[0].NewUser(calls * images)
	_, late := all[0].NewUser(10)
	request := func(i int, key string) daemontest.Request {
		return daemontest.Generate(key, map[string]any{"model": "heavy", "prompt": fmt.Sprint("fox ", i), "n": images,
			"async": i%4 == 0})
	}
	var callers sync.WaitGroup
	answers := make([]daemontest.Answer, calls)
	for i := range calls {
		callers.Go(func() { answers[i], _ = all[i%nodes].Do(t.Context(), request(i, key)) }) // an error leaves status 0
	}
	daemontest.Eventually(t, 20*time.Second, "all calls are under way", u.allAsked)

	back, began := away(objects, t), time.Now()
	ready := func(d *daemontest.Daemon) bool {
		return d.Call(daemontest.Request{Path: "/readyz"}).Status == http.StatusOK
	}
	each := func(what string, holds func(*daemontest.Daemon) bool) {
		t.Helper()
		since := time.Now()
		for i, d := range all {
			daemontest.Eventually(t, time.Until(since.Add(noticed)), fmt.Sprintf("node %d %s", i, what), func() bool {
				return holds(d)
			})
			t.Logf("node %d %s after %v", i, what, time.Since(since).Round(10*time.Millisecond))
		}
	}
	each("takes no work", func(d *daemontest.Daemon) bool { return !ready(d) })
	for i, d := range all {
		is.Equal(d.Call(request(-i, late)).Status, http.StatusServiceUnavailable)
	}
	is.Equal(all[0].MustBalance(t, late), 10)
	<-time.After(time.Until(began.Add(awayFor)))
	for _, d := range all {
		is.True(!ready(d))
	}
	back()
	each("takes work again", ready)
	since := time.Now()
	callers.Wait()
	all[0].AllEnded(t, key, longestEnd)
	t.Logf("all has ended %v later", time.Since(since).Round(10*time.Millisecond))

	for i, answer := range answers {
		if answer.Status != http.StatusOK && answer.Status != http.StatusAccepted {
			t.Errorf("call %d: status %d: %s", i, answer.Status, answer.Body)
		}
	}
	u.mu.Lock()
	is.Equal(len(u.asked), calls)
	for prompt, times := range u.asked {
		if times != 1 {
			t.Errorf("%s: the upstream was called %d times", prompt, times)
		}
	}
	u.mu.Unlock()
	for _, g := range all[0].MustGenerations(t, key, "") {
		if len(g.Images) != images {
			t.Errorf("%s: %s with %d images", g.Prompt, g.Status, len(g.Images))
		}
		for _, image := range g.Images {
			is.NoErr(checkImage(t.Context(), all[nodes-1], image.URL, image.Width, image.Height))
		}
	}
	for _, d := range all {
		is.True(!metricsHave(d, "imagegend_images_lost_total"))
		t.Logf("at most %d MiB were resident", d.RSS()>>20)
	}
	all[0].Settled(t, key, calls*images)
	all[0].Clean(t)
}

// metricsHave reports whether what the daemon tells of itself contains a line.
func metricsHave(d *daemontest.Daemon, line string) bool {
	text, _ := d.FromSocket("/metrics")
	return strings.Contains(text, line)
}
