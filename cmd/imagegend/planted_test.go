package main_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// In a directory with somebody else's configuration file, the key goes nowhere.
func TestPlantedConfiguration(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s came with %q", r.URL, r.Header.Get("Authorization"))
	}))
	defer s.Close()
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "imagegend.yaml"), []byte("url: "+s.URL+"\n"), 0o644))
	_, stderr, status := command(t, dir, []string{"IMAGEGEND_API_KEY=img_live_mine"}, "generate", "a fox")
	is.Equal(status, 1)
	says(t, stderr, "imagegend.yaml", "url counts only in a file that you name", "--config imagegend.yaml",
		"IMAGEGEND_URL")
}

func TestServeRefusesADirectoryThatEverybodyCanChange(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.Chmod(dir, 0o777))
	d := daemontest.Launch(t, daemontest.Options{DataDir: dir})
	is.Equal(d.Wait(drainLimit), 1)
	says(t, d.Output(), "everybody can change the data directory", "0777", "chmod 700")
	left, err := os.ReadDir(dir)
	is.NoErr(err)
	is.Equal(len(left), 0)
}
