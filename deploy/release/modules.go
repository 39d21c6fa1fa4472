package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// project is the path of the module in the root of the repository. Every other module has the path of its directory.
const project = "github.com/imagegend/imagegend"

// unreleased are the modules of go.work that nobody requires: they get no tag, and keep their replace directives.
var unreleased = []string{"bench", "examples", "imagegen/provider/openai/sdktest", "imagegen/storage/transfer/movetest",
	"proof"}

// tag makes the commit that a release consists of, after HEAD and on no branch, and a tag for each module of it, all
// with the same version: v1.2.3 of the library, cmd/imagegend/v1.2.3 of the command. In this commit the modules require
// each other at that version, and nothing is replaced, since go install refuses a program whose go.mod replaces
// anything. Either all tags are made or none. It returns their names.
func tag(version string) ([]string, error) {
	source, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	if changed, err := git("-C", source, "status", "--porcelain"); err != nil || changed != "" {
		return nil, errors.Join(err, fmt.Errorf("a release is made of commits; commit these changes, or undo them:\n%s",
			changed))
	}
	tree, err := os.MkdirTemp("", "release-tag-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tree)
	if _, err := git("-C", source, "worktree", "add", "--detach", "--quiet", tree); err != nil {
		return nil, err
	}
	defer func() { _, _ = git("-C", source, "worktree", "remove", "--force", tree) }()

	modules, err := releasedModules(tree)
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		if err := requireVersion(tree, m, modules, version); err != nil {
			return nil, err
		}
	}
	if _, err := git("-C", tree, "commit", "--quiet", "--all", "--message", "release: require the modules at v"+
		version); err != nil {
		return nil, err
	}
	commit, err := git("-C", tree, "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	var tags []string
	var create strings.Builder
	for _, m := range modules {
		tags = append(tags, path.Join(m, "v"+version))
		fmt.Fprintf(&create, "create refs/tags/%s %s\n", tags[len(tags)-1], commit)
	}
	update := exec.Command("git", "-C", source, "update-ref", "--stdin")
	update.Stdin = strings.NewReader(create.String())
	if said, err := update.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the tags of version %s cannot be made; they may be there: %w\n%s", version, err, said)
	}
	return tags, nil
}

// releasedModules returns the directories of the modules that a release tags, such as "." and "cmd/imagegend".
func releasedModules(source string) ([]string, error) {
	var workspace struct{ Use []struct{ DiskPath string } }
	if err := goJSON(source, &workspace, "work", "edit", "-json"); err != nil {
		return nil, err
	}
	var modules []string
	for _, use := range workspace.Use {
		if dir := path.Clean(filepath.ToSlash(use.DiskPath)); !slices.Contains(unreleased, dir) {
			modules = append(modules, dir)
		}
	}
	return modules, nil
}

// requireVersion has a module require the others of the release at its version, and replace nothing. It fails if the
// module requires one of the project that is not released: nobody could download that.
func requireVersion(source, module string, released []string, version string) error {
	dir := filepath.Join(source, module)
	var mod struct {
		Require []struct{ Path string }
		Replace []struct{ Old struct{ Path string } }
	}
	if err := goJSON(dir, &mod, "mod", "edit", "-json"); err != nil {
		return err
	}
	edit := []string{"mod", "edit"}
	for _, r := range mod.Require {
		if !ours(r.Path) {
			continue
		}
		if !slices.ContainsFunc(released, func(m string) bool { return path.Join(project, m) == r.Path }) {
			return fmt.Errorf("%s requires %s, which is not released", path.Join(project, module), r.Path)
		}
		edit = append(edit, "-require="+r.Path+"@v"+version)
	}
	for _, r := range mod.Replace {
		edit = append(edit, "-dropreplace="+r.Old.Path)
	}
	if len(edit) == 2 {
		return nil
	}
	_, err := goOutput(dir, edit...)
	return err
}

// ours reports whether a module is of this project.
func ours(module string) bool { return module == project || strings.HasPrefix(module, project+"/") }

// goJSON decodes what a go command prints in a directory.
func goJSON(dir string, into any, args ...string) error {
	out, err := goOutput(dir, args...)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

func goOutput(dir string, args ...string) ([]byte, error) {
	c := goCommand(dir, args...)
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}

// goCommand is a go command in a directory of the source, whose workspace counts there: this program itself is not in
// it, and so runs with GOWORK=off.
func goCommand(dir string, args ...string) *exec.Cmd {
	c := exec.Command("go", args...)
	c.Dir, c.Stderr = dir, os.Stderr
	c.Env = append(os.Environ(), "GOWORK=")
	return c
}
