package main

import (
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// documented lists what every archive and package has beside the program: the documents, and what they speak of.
var documented = []string{"*.md", "LICENSE", "docs/*.md", "docs/clients/*.md", "deploy/Caddyfile", "deploy/*.conf",
	"deploy/*.yaml", "deploy/grafana/*", "deploy/prometheus/*", "deploy/files/imagegend.service",
	"deploy/files/imagegend.yaml", "deploy/files/imagegend.openrc"}

// Names of what is made for a release, in archives; packages install manual and completions elsewhere.
const (
	notices = "THIRD-PARTY-LICENSES"
	manual  = "man/imagegend.1.gz"
)

// completions are the files of the shells' completions, by shell.
var completions = map[string]string{"bash": "completions/imagegend.bash", "zsh": "completions/_imagegend",
	"fish": "completions/imagegend.fish"}

// document makes what r.documents lists: the documents with links that lead somewhere from an installed package, the
// manual page and the completions, which the program prints. Notices are made for each target.
func (r *release) document() error {
	var err error
	if r.work, err = os.MkdirTemp("", "imagegend-documents-"); err != nil {
		return err
	}
	for _, pattern := range documented {
		files, err := filepath.Glob(filepath.Join(r.source, pattern))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("there is no document %s: %w", pattern, err)
		}
		for _, f := range files {
			name, err := filepath.Rel(r.source, f)
			if err != nil {
				return err
			}
			r.documents = append(r.documents, content{filepath.Join(r.work, name), filepath.ToSlash(name), 0o644})
		}
	}
	for _, d := range r.documents {
		text, err := os.ReadFile(filepath.Join(r.source, d.name))
		if err != nil {
			return err
		}
		if strings.HasSuffix(d.name, ".md") {
			text = r.linked(d.name, text)
		}
		if err := r.writeFile(d.name, text); err != nil {
			return err
		}
	}
	return r.printed()
}

// relativeLink matches a link of a Markdown document to another file.
var relativeLink = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)

// linked makes links absolute that lead to what is not in a package.
func (r *release) linked(name string, text []byte) []byte {
	return relativeLink.ReplaceAllFunc(text, func(link []byte) []byte {
		parts := relativeLink.FindSubmatch(link)
		to := path.Join(path.Dir(name), string(parts[1]))
		for _, d := range r.documents {
			if d.name == to || strings.HasPrefix(d.name, to+"/") {
				return link
			}
		}
		view := "blob"
		if path.Ext(to) == ".png" {
			view = "raw"
		}
		return fmt.Appendf(nil, "](https://github.com/imagegend/imagegend/%s/v%s/%s%s)", view, r.version, to, parts[2])
	})
}

// printed has the program print its manual page and its completions, whatever system the targets are.
func (r *release) printed() error {
	program, err := r.build(target{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(program))
	page, err := exec.Command(program, "man").Output()
	if err != nil {
		return fmt.Errorf("imagegend man: %w", err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(page) // into memory
	w.Close()
	if err := r.writeFile(manual, packed.Bytes()); err != nil {
		return err
	}
	for shell, name := range completions {
		script, err := exec.Command(program, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("imagegend completion %s: %w", shell, err)
		}
		if err := r.writeFile(name, script); err != nil {
			return err
		}
	}
	return nil
}

// notice writes the licences of what is linked into a program: Go's, and those of others' modules.
func (r *release) notice(program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	out, err := goOutput(r.source, "list", "-m", "-f", "{{.Path}} {{.Dir}}", "all")
	if err != nil {
		return err
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		dirs[name] = dir
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	add := func(name, dir string) error {
		found, _ := filepath.Glob(filepath.Join(dir, "[LCNP][IOA]*")) // licences, copyings, notices, patents
		some := false
		for _, f := range found {
			if !noticeName.MatchString(filepath.Base(f)) {
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			fmt.Fprintf(&text, "%s\n%s, %s\n\n%s\n", strings.Repeat("=", 80), name, filepath.Base(f), b)
			some = true
		}
		if !some {
			return fmt.Errorf("%s has no licence in %q", name, dir)
		}
		return nil
	}
	if err := add("Go "+info.GoVersion, strings.TrimSpace(string(root))); err != nil {
		return err
	}
	for _, m := range info.Deps {
		if ours(m.Path) {
			continue // under the licence of the program, which is a document
		}
		if err := add(m.Path+" "+m.Version, dirs[m.Path]); err != nil {
			return err
		}
	}
	return r.writeFile(notices, text.Bytes())
}

// noticeName matches the files in which a module says under which terms it may be used.
var noticeName = regexp.MustCompile(`^(LICEN[CS]E|COPYING|NOTICE|PATENTS)(-\w+)?(\.\w+)?$`)

// writeFile writes a file below r.work.
func (r *release) writeFile(name string, text []byte) error {
	at := filepath.Join(r.work, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(at, text, 0o644)
}
