package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// taggedClone makes the tags of a version in a clone of the repository.
func taggedClone(t *testing.T, version string) (clone string, tags []string) {
	t.Helper()
	is := is.New(t)
	clone = filepath.Join(t.TempDir(), "source")
	must(t, "git", "clone", "--quiet", "../..", clone)
	must(t, "git", "-C", clone, "config", "user.name", "A tester")
	must(t, "git", "-C", clone, "config", "user.email", "tester@example.com")
	t.Chdir(filepath.Join(clone, "deploy", "release"))
	tags, err := tag(version)
	is.NoErr(err)
	return clone, tags
}

// Each module has a tag of its own, all on one commit that lies on no branch, and the checkout stays as it was.
func TestTags(t *testing.T) {
	is := is.New(t)
	clone, tags := taggedClone(t, "0.9.0")
	is.Equal(tags[0], "v0.9.0")
	is.True(len(tags) > 1)
	commit := must(t, "git", "-C", clone, "rev-parse", tags[0])
	for _, name := range tags {
		is.Equal(must(t, "git", "-C", clone, "rev-parse", name), commit)
	}
	is.Equal(must(t, "git", "-C", clone, "rev-parse", tags[0]+"^"), must(t, "git", "-C", clone, "rev-parse", "HEAD"))
	is.Equal(must(t, "git", "-C", clone, "status", "--porcelain"), "")
	is.Equal(strings.Count(must(t, "git", "-C", clone, "worktree", "list"), "\n"), 1)

	_, err := tag("0.9.0")
	is.True(err != nil) // the version is taken
	is.NoErr(os.WriteFile(filepath.Join(clone, "README.md"), nil, 0o644))
	_, err = tag("0.9.1")
	is.True(err != nil) // a change is not committed
	is.Equal(must(t, "git", "-C", clone, "tag", "--list", "*v0.9.1"), "")
}

// A module that is released must not require one that is not: nobody could download it.
func TestRequiredModuleMustBeReleased(t *testing.T) {
	is := is.New(t)
	source := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(source, name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(source, name), []byte(text), 0o644))
	}
	write("go.work", "go 1.26.0\n\nuse (\n\t.\n\t./bench\n\t./tool\n)\n")
	write("go.mod", "module "+project+"\n\ngo 1.26.0\n")
	write("bench/go.mod", "module "+project+"/bench\n\ngo 1.26.0\n")
	write("tool/go.mod", "module "+project+"/tool\n\ngo 1.26.0\n\nrequire "+project+" v0.0.0\n\nreplace "+project+
		" => ..\n")
	modules, err := releasedModules(source)
	is.NoErr(err)
	is.Equal(modules, []string{".", "tool"})
	is.NoErr(requireVersion(source, "tool", modules, "0.9.0"))
	text, err := os.ReadFile(filepath.Join(source, "tool/go.mod"))
	is.NoErr(err)
	is.Equal(string(text), "module "+project+"/tool\n\ngo 1.26.0\n\nrequire "+project+" v0.9.0\n")

	write("tool/go.mod", "module "+project+"/tool\n\ngo 1.26.0\n\nrequire "+project+"/bench v0.0.0\n")
	err = requireVersion(source, "tool", modules, "0.9.0")
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "/tool requires "+project+"/bench, which is not released"))
}

// The tagged modules are whole: the commit builds in the workspace without a network, the go command installs the
// program by its path, and programs outside of the repository get the library and the other modules.
func TestTaggedModulesAreWhole(t *testing.T) {
	is := is.New(t)
	clone, tags := taggedClone(t, "0.9.0")
	cache := strings.TrimSpace(must(t, "go", "env", "GOMODCACHE"))
	environment := append(os.Environ(), "GOFLAGS=-modcacherw", "GOMODCACHE="+t.TempDir(), "GOBIN="+t.TempDir(),
		"GOSUMDB=off", "GOWORK=", "GOPROXY=file://"+cache+"/cache/download,https://proxy.golang.org,direct",
		// The go command takes the modules of the project from the clone, by their tags.
		"GOPRIVATE="+project, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+clone+".insteadOf",
		"GIT_CONFIG_VALUE_0=https://"+project)
	run := func(dir string, extra []string, args ...string) string {
		t.Helper()
		c := exec.Command("go", args...)
		c.Dir, c.Env = dir, append(environment[:len(environment):len(environment)], extra...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	must(t, "git", "-C", clone, "checkout", "--quiet", "v0.9.0")
	run(clone, []string{"GOPROXY=off", "GOMODCACHE=" + cache}, "list", "-deps", "work")

	outside := t.TempDir()
	run(outside, nil, "install", "-n", project+"/cmd/imagegend@v0.9.0") // finds all packages, and builds none

	run(outside, nil, "mod", "init", "example.com/program")
	var text strings.Builder
	text.WriteString("package main\n\nimport (\n")
	for _, imported := range []string{"imagegen/engine", "imagegen/storage", "imagegen/console",
		"imagegen/storage/postgres"} {
		text.WriteString("\t_ \"" + project + "/" + imported + "\"\n")
	}
	text.WriteString(")\n\nfunc main() {}\n")
	is.NoErr(os.WriteFile(filepath.Join(outside, "main.go"), []byte(text.String()), 0o644))
	for _, name := range tags {
		if dir, _, nested := strings.Cut(name, "/v0.9.0"); nested {
			run(outside, nil, "get", project+"/"+dir+"@v0.9.0")
		}
	}
	run(outside, nil, "mod", "tidy")
	run(outside, nil, "list", "-deps", ".")
	required := run(outside, nil, "list", "-m", "-f", "{{.Path}} {{.Version}}", "all")
	is.True(strings.Contains(required, project+" v0.9.0\n"))
	is.True(strings.Contains(required, project+"/imagegen/console v0.9.0\n"))
}
