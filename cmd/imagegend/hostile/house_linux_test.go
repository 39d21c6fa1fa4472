package hostile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// granted is what the account of a house begins with.
const granted = 5000

// house is a daemon with one account, whose key the hostile have got hold of.
type house struct {
	*daemontest.Daemon
	t           *testing.T
	key         string
	spent       int // for images that were asked for, and made
	dirs        []string
	files       []string // but the images, before anybody came
	descriptors int      // open then
}

func open(t *testing.T, args ...string) *house {
	t.Helper()
	h := &house{t: t, dirs: []string{t.TempDir(), t.TempDir()}}
	h.Daemon = daemontest.Start(t, daemontest.Options{DataDir: h.dirs[0], Args: args, Env: []string{"TMPDIR=" + h.dirs[1]}})
	_, h.key = h.NewUser(granted)
	h.files = h.found()
	contentType, body := form("")
	h.buy(daemontest.Generate(h.key, strings.NewReader(body)).With("Content-Type", contentType))
	h.noFileIsLeft()
	h.descriptors = h.OpenFiles()
	return h
}

// in is the house for a part of the test.
func (h house) in(t *testing.T) *house {
	h.t = t
	return &h
}

// small is a request for an image that costs 1 credit.
func small(key string) daemontest.Request {
	return daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox", "size": "48x32"})
}

// buy asks for an image that is to be made.
func (h *house) buy(r daemontest.Request) {
	h.t.Helper()
	if a := h.Call(r); a.Status != http.StatusOK {
		h.t.Fatalf("an honest client got %d %s", a.Status, a.Body)
	}
	h.spent++
}

// found lists the files of the daemon but the images, which its own audit compares to its records.
func (h *house) found() (all []string) {
	h.t.Helper()
	for _, dir := range h.dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, os.ErrNotExist): // it went while we looked
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
			h.t.Fatal(err)
		}
	}
	return all
}

// eventually waits for what happens after the answer has left.
func (h *house) eventually(limit time.Duration, holds func() bool, complaint func() string) {
	h.t.Helper()
	deadline := time.After(limit)
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for !holds() {
		select {
		case <-deadline:
			h.t.Fatalf("after %v: %s", limit, complaint())
		case <-poll.C:
		}
	}
}

// get reads an answer of status 200.
func (h *house) get(path string, into any) {
	h.t.Helper()
	a := h.Call(daemontest.Request{Path: path, Key: h.key})
	if a.Status != http.StatusOK {
		h.t.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
	a.Into(h.t, into)
}

func (h *house) credits() int {
	h.t.Helper()
	var body struct{ Balance struct{ Credits int } }
	h.get("/api/v1/credits", &body)
	return body.Balance.Credits
}

// generation is what these tests look at.
type generation struct {
	ID, Status string
	Images     []struct{ URL string }
	Usage      struct{ Credits int }
}

func (h *house) generations() (all []generation) {
	h.t.Helper()
	var page struct {
		Data       []generation
		NextCursor string `json:"next_cursor"`
	}
	for more := true; more; more = page.NextCursor != "" {
		path := "/api/v1/generations?limit=100"
		if page.NextCursor != "" {
			path += "&after=" + page.NextCursor
		}
		page.NextCursor = ""
		h.get(path, &page)
		all = append(all, page.Data...)
	}
	return all
}

// exact fails the test unless the books show what was bought and nothing else.
func (h *house) exact() {
	h.t.Helper()
	if got, want := h.credits(), granted-h.spent; got != want {
		h.t.Fatalf("the balance is %d, it should be %d", got, want)
	}
}

// noFileIsLeft waits until there are no more files than before: they go after the answer has left.
func (h *house) noFileIsLeft() {
	h.t.Helper()
	h.eventually(20*time.Second, func() bool { return slices.Equal(h.files, h.found()) },
		func() string { return "files are left (-before +now):\n" + cmp.Diff(h.files, h.found()) })
}

// unharmed is exact and, beyond it, looks at all that hostile clients could have left behind.
func (h *house) unharmed() {
	h.t.Helper()
	h.noFileIsLeft()
	h.eventually(20*time.Second, func() bool { return h.OpenFiles() <= h.descriptors },
		func() string {
			return fmt.Sprintf("%d descriptors are open, %d were before", h.OpenFiles(), h.descriptors)
		})
	h.exact()
	used := 0
	for _, g := range h.generations() {
		used += g.Usage.Credits
		if g.Usage.Credits != len(g.Images) || g.Status != "succeeded" && g.Status != "failed" {
			h.t.Errorf("generation %s is %s, with %d images for %d credits", g.ID, g.Status, len(g.Images), g.Usage.Credits)
		}
	}
	if used != h.spent {
		h.t.Errorf("the generations cost %d credits, %d were spent", used, h.spent)
	}
	if stdout, stderr, status := h.Command("audit"); status != 0 {
		h.t.Errorf("imagegend audit: exit status %d\n%s%s", status, stdout, stderr)
	}
	if written := h.Output(); strings.Contains(written, "panic") {
		h.t.Errorf("something panicked:\n%s", written)
	}
}
