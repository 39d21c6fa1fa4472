package daemon_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemon"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// run runs a server until it is ready, in a directory of its own unless change names one.
func run(t *testing.T, change func(*config.Settings)) (said string, err error) {
	t.Helper()
	s := config.Settings{Data: config.Data{DataDir: filepath.Join(t.TempDir(), "data")}}
	s.Addr, s.LogFormat, s.Console, s.OperatorName = "127.0.0.1:0", "text", true, "operator"
	s.DrainTimeout = time.Second
	change(&s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &daemontest.UntilReady{End: cancel}
	err = daemon.Run(ctx, daemon.Options{Settings: s, ModelsFile: func() (string, error) {
		return catalog.Fake, nil
	}, Output: out})
	return out.String(), err
}

var says = daemontest.Says

// A password that does not do leaves nothing behind: the store counts as empty at the next start.
func TestPasswordThatDoesNotDo(t *testing.T) {
	for name, text := range map[string]string{"too short": "hunter2\n", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			is, dir := is.New(t), t.TempDir()
			file, data := filepath.Join(dir, "password"), filepath.Join(dir, "data")
			is.NoErr(os.WriteFile(file, []byte(text), 0o600))
			_, err := run(t, func(s *config.Settings) { s.DataDir, s.OperatorPasswordFile = data, file })
			is.True(err != nil)
			says(t, err.Error(), file, `operator "operator"`, "at least 12 characters")
			is.True(!strings.Contains(err.Error(), "hunter2"))

			db, err := storage.Open(data, nil)
			is.NoErr(err)
			users, err := db.Users(t.Context())
			is.NoErr(err)
			is.Equal(len(users), 0)
			is.NoErr(db.Close())
		})
	}
}

func TestOperatorNameThatDoesNotDo(t *testing.T) {
	is, file := is.New(t), filepath.Join(t.TempDir(), "password")
	is.NoErr(os.WriteFile(file, []byte("correct horse battery\n"), 0o600))
	_, err := run(t, func(s *config.Settings) { s.OperatorPasswordFile, s.OperatorName = file, " " })
	is.True(err != nil)
	says(t, err.Error(), "printable")
	is.True(!strings.Contains(err.Error(), file)) // which is not to blame
}

// The banner tells where the service listens, not only how this machine reaches it.
func TestListeningOnEveryAddress(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0"} {
		t.Run(addr, func(t *testing.T) {
			is := is.New(t)
			said, err := run(t, func(s *config.Settings) { s.Addr = addr })
			is.NoErr(err)
			is.True(strings.Contains(said, "http://0.0.0.0:") || strings.Contains(said, "http://[::]:"))
			says(t, said, ", on this machine http://localhost:", "without TLS", "if a proxy speaks TLS in front of it")
		})
	}
	is := is.New(t)
	said, err := run(t, func(*config.Settings) {})
	is.NoErr(err)
	is.True(!strings.Contains(said, "on this machine"))
}

// The console is under /console/ of the host, wherever a proxy has the API.
func TestConsoleLinksBelowABaseURLWithAPath(t *testing.T) {
	is := is.New(t)
	said, err := run(t, func(s *config.Settings) { s.BaseURL = "https://x.example.com:8443/sub" })
	is.NoErr(err)
	says(t, said, "public    https://x.example.com:8443/sub\n", "open https://x.example.com:8443/console/setup/")
	is.True(!strings.Contains(said, "/sub/console"))
}

// A program that waits for the file must not wait for ever.
func TestReadyFileThatCannotBeWritten(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "missing", "ready.json")
	_, err := run(t, func(s *config.Settings) { s.ReadyFile = file })
	is.True(err != nil)
	says(t, err.Error(), "--ready-file", "missing", "no such file")
}
