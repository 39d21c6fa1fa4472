package conformance_test

import (
	"os"
	"path/filepath"
	"regexp"
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
		name:      "what serve prints",
		lines:     []string{serveLine, "contract: `--dev` and `--models fake` list one model"},
		elsewhere: []string{"cmd/imagegend.TestBanner", "cmd/imagegend.TestReadyRecord"},
	},
	{name: "the flags of serve", lines: []string{serveLine, "contract: | time | 800 s cover"},
		elsewhere: []string{"cmd/imagegend/internal/cli.TestHelp",
			"cmd/imagegend/internal/config.TestEverySettingHasAVariable"}},
	{name: "the data directory that serve makes", lines: []string{serveLine}, daemon: checkDefaultDirectory},
	{
		name:      "a drain",
		lines:     []string{serveLine, healthLine, "contract: | overload or shutdown, or a database"},
		elsewhere: []string{"cmd/imagegend.TestDrain", "imagegen/httpapi.TestDraining"},
	},
	{name: "a drain at its limit", lines: []string{serveLine, "contract: | restart | queued work resumes;"},
		elsewhere: []string{"cmd/imagegend.TestDrainAtTheLimit", "imagegen/engine.TestDrainKeepsWhatIsComplete",
			"imagegen/engine.TestDrain"}},
	{name: "a second signal", lines: []string{serveLine},
		elsewhere: []string{"cmd/imagegend/survival.TestSecondSignal"}},
}

var devChecks = []check{
	{name: "serve --dev", lines: []string{devLine}, elsewhere: []string{"cmd/imagegend.TestDevLineYieldsAnImage"}},
	{name: "serve --dev is for this machine only", lines: []string{devLine},
		elsewhere: []string{"cmd/imagegend/internal/cli.TestSettingsThatCannotBeMeantTogether"}},
	{name: "a file that says that it is ready", lines: []string{"contract: | `serve --ready-file FILE` |"},
		elsewhere: []string{"cmd/imagegend.TestReadyFile", "cmd/imagegend.TestDocumentedReadyFile",
			"cmd/imagegend/internal/daemon.TestReadyFileThatCannotBeWritten"}},
}

var says = daemontest.Says

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

// devKey is the key that serve --dev has made.
func devKey(t *testing.T, d *daemontest.Daemon) string {
	t.Helper()
	key := regexp.MustCompile(`img_live_\w+`).FindString(d.Output())
	if !keyForm.MatchString(key) {
		t.Fatalf("no key in:\n%s", d.Output())
	}
	return key
}
