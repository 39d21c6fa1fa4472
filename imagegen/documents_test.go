package imagegen_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/matryer/is"
)

// testName finds the name of a test, without those of its parts.
var testName = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`)

// Each test that a document names is there to be run.
func TestDocumentsNameTests(t *testing.T) {
	is := is.New(t)
	functions := map[string]bool{}
	goTree(t, func(_ string, file *ast.File, _ *token.FileSet) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				functions[f.Name.Name] = true
			}
		}
	})
	named := 0
	inTree(t, func(path string) error {
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, name := range testName.FindAllString(string(text), -1) {
			named++
			if !functions[name] {
				t.Errorf("%s names %s, which does not exist", path, name)
			}
		}
		return err
	})
	is.True(named > 100) // they were found
}
