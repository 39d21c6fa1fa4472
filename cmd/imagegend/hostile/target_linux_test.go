package hostile_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// granted is what the account of a target begins with.
const granted = 5000

// target is a daemon with one account, whose key the attackers have.
type target struct {
	*daemontest.Daemon
	t           *testing.T
	key         string
	spent       int // for images that were asked for, and made
	dirs        []string
	files       []string // but the images, before anybody came
	descriptors int      // open then
}

func open(t *testing.T, args ...string) *target {
	t.Helper()
	h := &target{t: t, dirs: []string{t.TempDir(), t.TempDir()}}
	h.Daemon = daemontest.Start(t, daemontest.Options{DataDir: h.dirs[0], Args: args, Env: []string{"TMPDIR=" +
		h.dirs[1]}})
	_, h.key = h.NewUser(granted)
	h.files = daemontest.Leftovers(t, h.dirs...)
	contentType, body := form("")
	h.buy(daemontest.Generate(h.key, strings.NewReader(body)).With("Content-Type", contentType))
	h.noFileIsLeft()
	h.descriptors = h.OpenFiles()
	return h
}

// in is the target for a part of the test.
func (h target) in(t *testing.T) *target {
	h.t = t
	return &h
}

// small is a request for an image that costs 1 credit.
func small(key string) daemontest.Request {
	return daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox", "size": "48x32"})
}

// buy asks for an image that is to be made.
func (h *target) buy(r daemontest.Request) {
	h.t.Helper()
	if a := h.Call(r); a.Status != http.StatusOK {
		h.t.Fatalf("an honest client got %d %s", a.Status, a.Body)
	}
	h.spent++
}

// exact fails the test unless the books show what was bought and nothing else.
func (h *target) exact() {
	h.t.Helper()
	if got, want := h.MustBalance(h.t, h.key), granted-h.spent; got != want {
		h.t.Fatalf("the balance is %d, it should be %d", got, want)
	}
}

// noFileIsLeft waits until there are no more files than before: they go after the answer has left.
func (h *target) noFileIsLeft() {
	h.t.Helper()
	daemontest.NoLeftovers(h.t, h.files, h.dirs...)
}

// unharmed is exact and, beyond it, looks at all that hostile clients could have left behind.
func (h *target) unharmed() {
	h.t.Helper()
	h.noFileIsLeft()
	daemontest.EventuallyOr(h.t, 20*time.Second, func() bool { return h.OpenFiles() <= h.descriptors },
		func() string {
			return fmt.Sprintf("%d descriptors are open, %d were before", h.OpenFiles(), h.descriptors)
		})
	h.exact()
	h.Settled(h.t, h.key, granted)
	h.Clean(h.t)
	if written := h.Output(); strings.Contains(written, "panic") {
		h.t.Errorf("something panicked:\n%s", written)
	}
}
