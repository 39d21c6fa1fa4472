package imagegen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inTree calls visit for each file of the repository, of all modules.
func inTree(t *testing.T, visit func(path string) error) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules"):
			return filepath.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		return visit(path)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// goTree calls visit for each Go file of the repository.
func goTree(t *testing.T, visit func(path string, file *ast.File, files *token.FileSet)) {
	t.Helper()
	files := token.NewFileSet()
	inTree(t, func(path string) error {
		if filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err == nil {
			visit(path, file, files)
		}
		return err
	})
}

func isTestFile(path string) bool { return strings.HasSuffix(path, "_test.go") }

// support are the directories of tests' own packages and of programs that are not shipped, as docs/design.md counts
// them.
var support = regexp.MustCompile(`^\.\./(proof|bench|examples)/|test/[^/]*$|/(conformance|survival|hostile|upstreams|clients|browsertest)/`)

func isProduct(path string) bool {
	return !isTestFile(path) && !support.MatchString(filepath.ToSlash(path))
}
