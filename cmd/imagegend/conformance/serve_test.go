package conformance_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const (
	serveLine  = "contract: | `serve [--data-dir ./imagegend-data]"
	devLine    = "contract: | `serve --dev` |"
	exitLimit  = 20 * time.Second
	healthLine = "contract: | `GET /healthz`, `GET /readyz` |"
)

var serveChecks = []check{
	{
		name:   "what serve prints",
		lines:  []string{serveLine, "contract: `--dev` and `--models fake` list one model"},
		daemon: checkBanner,
	},
	{name: "the flags of serve", lines: []string{serveLine, "contract: | time | 800 s cover"}, daemon: checkServeFlags},
	{name: "the data directory that serve makes", lines: []string{serveLine}, daemon: checkDefaultDirectory},
	{
		name:   "a drain",
		lines:  []string{serveLine, healthLine, "contract: | overload or shutdown |"},
		daemon: checkDrain,
	},
	{name: "a drain at its limit", lines: []string{serveLine, "contract: | restart | queued work resumes;"}, daemon: checkDrainLimit},
	{name: "a second signal", lines: []string{serveLine}, daemon: checkSecondSignal},
}

var devChecks = []check{
	{name: "serve --dev", lines: []string{devLine}, daemon: checkDev},
	{name: "serve --dev is for this machine only", lines: []string{devLine}, daemon: checkDevLoopback},
}

// says checks that a text mentions some words.
func says(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("nothing of %q in:\n%s", word, text)
		}
	}
}

func checkBanner(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		d := daemontest.Start(t, daemontest.Options{Args: []string{"--log-format", format}})
		says(t, d.Output(), d.URL, d.DataDir, "fake-1 by fake", "1K 1, 2K 2, 4K 4", "PROVIDER fake", "TEST PICTURES")
		says(t, strings.ToUpper(d.Output()), "WARN")
	}
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--models", settings{models: twoModels}.modelsFile(t)}})
	says(t, d.Output(), "cheap by fake", "dear by fake")
}

func checkServeFlags(t *testing.T) {
	help := program{}.run(t, "serve", "--help").succeeds(t).stdout
	for _, flag := range []string{"data-dir", "addr", "base-url", "config", "models", "concurrency", "drain-timeout", "retain", "cors-origin",
		"trusted-proxy", "log-format", "dev"} {
		says(t, help, "--"+flag, "$IMAGEGEND_"+strings.ToUpper(strings.ReplaceAll(flag, "-", "_")))
	}
	says(t, help, "./imagegend-data", "127.0.0.1:8080", "(default 15s)", "13m20s)", "(default 30s)", "(default 10000)")
}

func checkDefaultDirectory(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	daemontest.Start(t, daemontest.Options{DataDir: filepath.Join(dir, "deep", "down")})
	info, err := os.Stat(filepath.Join(dir, "deep", "down"))
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o700))
	socket, err := os.Stat(filepath.Join(dir, "deep", "down", "admin.sock"))
	is.NoErr(err)
	is.Equal(socket.Mode().Perm(), os.FileMode(0o600))
}

func checkDrain(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	s := serviceOf(d)
	a := s.account(t, 10)
	done := a.generated(t, nil)
	answers := make(chan answer, 1)
	q := a.ask(t, object{"prompt": "[fake:delay=4s] a fox"})
	go func() {
		got, _ := s.send(q)
		answers <- got
	}()
	eventually(t, "the call is under way", func() bool { return a.credits(t) == 8 })
	running := a.queued(t, object{"prompt": "[fake:delay=4s] a fox"})["id"]
	a.reaches(t, running, "processing")
	is.NoErr(d.Signal(syscall.SIGTERM))
	eventually(t, "it drains", func() bool { return s.call(t, request{address: "/readyz"}).status == http.StatusServiceUnavailable })

	s.readiness(t, http.StatusServiceUnavailable, false).has(t, "Retry-After", seconds)
	s.call(t, request{address: "/healthz"}).is(t, http.StatusOK)
	a.post(t, fox(nil)).refused(t, http.StatusServiceUnavailable, "overloaded").has(t, "Retry-After", seconds, "X-Should-Retry", "")
	a.post(t, fox(object{"async": true})).refused(t, http.StatusServiceUnavailable, "overloaded")
	same(t, a.generation(t, done["id"]), without(done, "balance"))
	s.image(t, images(done)[0])
	same(t, a.credits(t), 7)

	same(t, (<-answers).is(t, http.StatusOK).object(t)["status"], "succeeded")
	is.Equal(d.Wait(exitLimit), 0)
	same(t, show(t, d, running)["status"], "succeeded") // the command opens the directory that is left
}

func checkDrainLimit(t *testing.T) {
	is := is.New(t)
	l := live(t, "--drain-timeout", "2s")
	a := serviceOf(l.Daemon).account(t, 20)
	answers := map[string]chan answer{}
	for _, prompt := range []string{"[fake:hang]", "[fake:images=1] [fake:hang]"} {
		answers[prompt] = make(chan answer, 1)
		q := a.ask(t, object{"n": 2, "prompt": prompt})
		s := a.service
		go func() {
			got, _ := s.send(q)
			answers[prompt] <- got
		}()
	}
	asynchronous := a.queued(t, object{"n": 2, "prompt": "[fake:hang]"})["id"]
	a.reaches(t, asynchronous, "processing")
	eventually(t, "all is under way", func() bool { return len(a.list(t, "?status=processing")["data"].([]any)) == 3 })
	is.Equal(l.Terminate(exitLimit), 0)
	(<-answers["[fake:hang]"]).refused(t, http.StatusInternalServerError, "generationFailed", failedMessage)
	partial := (<-answers["[fake:images=1] [fake:hang]"]).is(t, http.StatusOK).object(t)
	same(t, partial["usage"], object{"credits": 1, "credits_requested": 2})

	l.again(t, a)
	same(t, a.generation(t, partial["id"]), without(partial, "balance"))
	same(t, a.generation(t, asynchronous)["status"], "processing")
	same(t, a.credits(t), 17) // one image, and two that are still under way
}

func checkSecondSignal(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--drain-timeout", "10m"}})
	a := serviceOf(d).account(t, 10)
	a.reaches(t, a.queued(t, object{"prompt": "[fake:hang]"})["id"], "processing")
	is.NoErr(d.Signal(syscall.SIGTERM))
	eventually(t, "it drains", func() bool { return a.call(t, request{address: "/readyz"}).status == http.StatusServiceUnavailable })
	is.NoErr(d.Signal(syscall.SIGTERM))
	is.Equal(d.Wait(exitLimit), 0)
}

// devKey is the key that serve --dev has made.
func devKey(t *testing.T, d *daemontest.Daemon) string {
	t.Helper()
	key := regexp.MustCompile(`img_live_\w+`).FindString(d.Output())
	if !keyForm.MatchString(key) {
		t.Fatalf("no key in:\n%s", d.Output())
	}
	return key
}

func checkDev(t *testing.T) {
	is := is.New(t)
	tmp := t.TempDir()
	d := daemontest.Start(t, daemontest.Options{Dev: true, Env: []string{"TMPDIR=" + tmp}, Args: []string{"--log-format", "text"}})
	a := &customer{service: serviceOf(d), key: devKey(t, d)}
	same(t, a.credits(t), 1000)
	is.Equal(len(files(t, tmp)), 1)

	line := regexp.MustCompile(`(?m)^curl .*$`).FindString(d.Output())
	is.True(line != "")
	paste := exec.Command("sh", "-c", line)
	paste.Dir = t.TempDir()
	out, err := paste.CombinedOutput()
	is.NoErr(err)
	is.Equal(string(out), "")
	is.Equal(files(t, paste.Dir), []string{"fox.png"})
	is.True(strings.HasPrefix(read(t, paste.Dir, "fox.png"), "\x89PNG\r\n\x1a\n"))
	same(t, a.credits(t), 999)

	is.Equal(d.Terminate(exitLimit), 0)
	is.Equal(len(files(t, tmp)), 0)
}

func checkDevLoopback(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		program{}.run(t, "serve", "--dev", "--addr", addr).fails(t, 1, "--dev", addr)
	}
}
