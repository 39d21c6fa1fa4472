package main

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// Each link of a document in a package leads to a file of the package, or is absolute.
func TestLinksOfDocuments(t *testing.T) {
	is := is.New(t)
	files := unpacked(t)
	links := 0
	for name, text := range files {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, link := range relativeLink.FindAllStringSubmatch(text, -1) {
			links++
			to, found := path.Join(path.Dir(name), link[1]), false
			for other := range files {
				found = found || other == to || strings.HasPrefix(other, to+"/")
			}
			if !found {
				t.Errorf("%s: %s leads nowhere", name, link[0])
			}
		}
	}
	is.True(links > 50)
	is.True(strings.Contains(files["README.md"],
		"](https://github.com/imagegend/imagegend/raw/v0.9.0/docs/console-playground.png)"))
	is.True(strings.Contains(files["README.md"], "](docs/operating.md)"))
}

// A release has the manual page, the completions of three shells and the licences of what is linked in.
func TestBesideTheProgram(t *testing.T) {
	is := is.New(t)
	files := unpacked(t)
	page, err := gzip.NewReader(strings.NewReader(files[manual]))
	is.NoErr(err)
	text, err := io.ReadAll(page)
	is.NoErr(err)
	is.True(strings.Contains(string(text), ".SH IMAGEGEND SERVE"))
	for shell, name := range completions {
		is.True(strings.Contains(files[name], shell) && strings.Contains(files[name], "__complete"))
	}
	for _, module := range []string{"Go go1.", "go.etcd.io/bbolt v", "github.com/spf13/cobra v", "golang.org/x/sys v"} {
		is.True(strings.Contains(files[notices], "\n"+module))
	}
	for _, name := range []string{"deploy/nginx.conf", "deploy/grafana/imagegend.json", "docs/upgrading.md",
		"LICENSE"} {
		is.True(files[name] != "")
	}
}

// The packages have the same files as the archive, each where its system looks for it.
func TestInstalled(t *testing.T) {
	is := is.New(t)
	r := theRelease(t)
	for format, zsh := range map[string]string{"deb": "vendor-completions", "rpm": "site-functions",
		"apk": "site-functions"} {
		there := map[string]bool{}
		for _, f := range r.installed("/imagegend", format) {
			there[f.Destination] = true
		}
		for _, d := range r.documents {
			is.True(there["/usr/share/doc/imagegend/"+d.name])
		}
		is.True(there["/usr/share/man/man1/imagegend.1.gz"])
		is.True(there["/usr/share/doc/imagegend/"+notices])
		is.True(there["/usr/share/zsh/"+zsh+"/_imagegend"])
	}
}

// unpacked is the text of each file in the archive, without the directory's name.
func unpacked(t *testing.T) map[string]string {
	t.Helper()
	is := is.New(t)
	f, err := os.Open(theRelease(t).name(platform, ".tar.gz"))
	is.NoErr(err)
	defer f.Close()
	packed, err := gzip.NewReader(f)
	is.NoErr(err)
	files := map[string]string{}
	for r := tar.NewReader(packed); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		is.NoErr(err)
		_, name, _ := strings.Cut(h.Name, "/")
		if filepath.Base(name) == "imagegend" {
			continue
		}
		b, err := io.ReadAll(r)
		is.NoErr(err)
		files[name] = string(b)
	}
}
