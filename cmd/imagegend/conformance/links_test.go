package conformance_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/matryer/is"
)

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	option  = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`)
)

// Each link from one document to another leads to a file, and to a heading in it.
func TestLinks(t *testing.T) {
	is := is.New(t)
	module := os.DirFS(root)
	count := 0
	is.NoErr(fs.WalkDir(module, ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "node_modules" {
			return fs.SkipDir // others' documents
		}
		if err != nil || d.IsDir() || path.Ext(file) != ".md" {
			return err
		}
		text, err := fs.ReadFile(module, file)
		for _, l := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			target, anchor, _ := strings.Cut(l[1], "#")
			if strings.Contains(target, ":") {
				continue // elsewhere
			}
			count++
			to := file
			if target != "" {
				to = path.Join(path.Dir(file), target)
			}
			if linked, err := fs.ReadFile(module, to); err != nil && !isDirectory(module, to) {
				t.Errorf("%s links to %s: %v", file, l[1], err)
			} else if anchor != "" && !hasAnchor(string(linked), anchor) {
				t.Errorf("%s links to %s, where no heading is of that name", file, l[1])
			}
		}
		return err
	}))
	is.True(count > 50)
}

func isDirectory(module fs.FS, name string) bool {
	info, err := fs.Stat(module, name)
	return err == nil && info.IsDir()
}

// hasAnchor reports whether one of the document's headings is addressed so, as GitHub does it.
func hasAnchor(document, anchor string) bool {
	for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(document, ""), -1) {
		address := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, h[1])
		if address == anchor {
			return true
		}
	}
	return false
}

// docs/operating.md tells of every flag of serve.
func TestDocumentedFlags(t *testing.T) {
	is := is.New(t)
	text, err := os.ReadFile(root + "/docs/operating.md")
	is.NoErr(err)
	flags := option.FindAllStringSubmatch(program{}.run(t, "serve", "--help").succeeds(t).stdout, -1)
	is.True(len(flags) > 15)
	for _, f := range flags {
		if !strings.Contains(string(text), "`"+f[1]+"`") && !strings.Contains(string(text), "--"+f[1]) {
			t.Errorf("docs/operating.md does not tell of --%s", f[1])
		}
	}
}
