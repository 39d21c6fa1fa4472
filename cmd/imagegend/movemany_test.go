package main_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// Many generations go to a database and a bucket, and back to a directory, though the command is killed at 20 random
// moments on each way: the audit, lots and usage are the same at each place. A thousand generations, or
// PROOF_TIMES as many; or those in the directory MOVE_FROM, which is copied first.
func TestMoveOfMany(t *testing.T) {
	is := is.New(t)
	server, images := postgrestest.StartOnDisk(t), s3test.Start(t).Address()
	there := []string{"--database", server.Address("postgres"), "--images", images}
	home, generations := crowded(t)
	back := filepath.Join(t.TempDir(), "back")

	want := books(t, "--data-dir", home)
	moveKilledAtRandom(t, generations, append([]string{"move", "--data-dir", home}, "--to-database", there[1],
		"--to-images", there[3]))
	is.Equal(cmp.Diff(want, books(t, there...)), "")
	moveKilledAtRandom(t, generations, append([]string{"move", "--to-data-dir", back}, there...))
	is.Equal(cmp.Diff(want, books(t, "--data-dir", back)), "")
}

// crowded is a directory with many generations, a tenth of them with an image each.
func crowded(t *testing.T) (dir string, generations int) {
	t.Helper()
	is, dir := is.New(t), filepath.Join(t.TempDir(), "home")
	times, _ := strconv.Atoi(os.Getenv("PROOF_TIMES"))
	generations = 1000 * max(1, times)
	fill := exec.Command("go", "run", "-buildvcs=false", "github.com/imagegend/imagegend/bench/populate", "-dir", dir,
		"-users", strconv.Itoa(max(10, generations/100)), "-generations", strconv.Itoa(generations), "-images",
		strconv.Itoa(generations/10))
	if from := os.Getenv("MOVE_FROM"); from != "" {
		fill = exec.Command("cp", "-a", from, dir)
	}
	out, err := fill.CombinedOutput()
	t.Logf("%s", out)
	is.NoErr(err)
	return dir, generations
}

// books are what an audit counts, and the statements of some users.
func books(t *testing.T, place ...string) (all []string) {
	t.Helper()
	is, began := is.New(t), time.Now()
	_, counted, status := command(t, t.TempDir(), nil, append([]string{"audit"}, place...)...)
	is.Equal(status, 0)
	t.Logf("%v: %s", time.Since(began).Round(100*time.Millisecond), counted)
	all = []string{counted}
	for n := range 5 {
		for _, what := range []string{"usage", "credit lots"} {
			out, _, status := command(t, t.TempDir(), nil, append(append(strings.Fields(what), "--json", "--user",
				fmt.Sprint("user-", n)), place...)...)
			is.Equal(status, 0)
			all = append(all, out)
		}
	}
	return all
}

// kills are the steps in which a move is killed, one run each.
var kills = slices.Concat(slices.Repeat([]string{"auditing the source"}, 2), slices.Repeat([]string{"copying"}, 13),
	slices.Repeat([]string{"comparing"}, 3), slices.Repeat([]string{"auditing the target"}, 2))

// moveKilledAtRandom runs a move until it ends. The first runs are killed, each a random time after it begins a step.
func moveKilledAtRandom(t *testing.T, generations int, args []string) {
	t.Helper()
	is := is.New(t)
	most := time.Duration(generations) * 100 * time.Microsecond
	began, died := time.Now(), 0
	for {
		c := exec.Command(daemontest.Build(t), args...)
		c.Dir = t.TempDir()
		stderr, err := c.StderrPipe()
		is.NoErr(err)
		is.NoErr(c.Start())
		last, moved := "", false
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			last = lines.Text()
			moved = moved || strings.Contains(last, "was moved") // the kill came too late
			if died < len(kills) && last == kills[died] {
				defer time.AfterFunc(rand.N(most), func() { _ = c.Process.Signal(syscall.SIGKILL) }).Stop()
			}
		}
		err = c.Wait()
		t.Logf("%v: %s", time.Since(began).Round(100*time.Millisecond), last)
		if err == nil || moved {
			break
		}
		is.Equal(c.ProcessState.Sys().(syscall.WaitStatus).Signal(), syscall.SIGKILL)
		died++
	}
	t.Logf("killed %d times", died)
	is.True(died > 0)
}
