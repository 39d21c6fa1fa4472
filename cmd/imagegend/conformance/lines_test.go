package conformance_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const root = "../../.." // of the module

// documents are the texts that have a test for each line.
var documents = []string{"spec", "contract"}

func TestEveryLineIsCovered(t *testing.T) {
	for _, document := range documents {
		t.Run(document, func(t *testing.T) {
			is := is.New(t)
			content, err := os.ReadFile(filepath.Join(root, "docs", document+".md"))
			is.NoErr(err)
			lines := statements(string(content))
			is.True(len(lines) > 50)
			covered := map[string]bool{}
			for _, c := range checks() {
				for _, piece := range pieces(c, document) {
					fits := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
						return !strings.Contains(line, piece)
					})
					if len(fits) != 1 {
						t.Errorf("check %q names %q, which stands in %d lines of docs/%s.md", c.name, piece, len(fits),
							document)
						continue
					}
					covered[fits[0]] = true
				}
			}
			for _, line := range lines {
				if !covered[line] {
					t.Errorf("no check names this line of docs/%s.md:\n%s", document, line)
				}
			}
		})
	}
}

// pieces are what a check names of a document.
func pieces(c check, document string) (pieces []string) {
	for _, line := range c.lines {
		if piece, ok := strings.CutPrefix(line, document+": "); ok {
			pieces = append(pieces, piece)
		}
	}
	return pieces
}

// statements are the lines that say something: all but blank ones, headings, and the rule and the
// head of a table.
func statements(content string) (says []string) {
	lines := strings.Split(content, "\n")
	for i, line := range lines {
		blank := strings.TrimSpace(line) == ""
		head := i+1 < len(lines) && isRule(lines[i+1])
		if !blank && !head && !strings.HasPrefix(line, "#") && !isRule(line) {
			says = append(says, line)
		}
	}
	return says
}

func isRule(line string) bool { return strings.HasPrefix(line, "|-") }

func TestStatements(t *testing.T) {
	is := is.New(t)
	is.Equal(statements("# Title\n\nA.\n- B\n\n| Head | Of |\n|---|---|\n| C | 1 |\n| D | 2 |\n\n```\nE\n"),
		[]string{"A.", "- B", "| C | 1 |", "| D | 2 |", "```", "E"})
}

// Every check does something, names what it checks, and has a name of its own.
func TestChecksAreWhole(t *testing.T) {
	names := map[string]bool{}
	for _, c := range checks() {
		if names[c.name] {
			t.Errorf("two checks have the name %q", c.name)
		}
		names[c.name] = true
		if c.run == nil && c.daemon == nil && len(c.elsewhere) == 0 {
			t.Errorf("check %q checks nothing", c.name)
		}
		for _, line := range c.lines {
			document, _, ok := strings.Cut(line, ": ")
			if !ok || !slices.Contains(documents, document) {
				t.Errorf("check %q names %q, which is in no document", c.name, line)
			}
		}
		if len(c.lines) == 0 {
			t.Errorf("check %q names no line", c.name)
		}
	}
}

// The tests that checks point to are there.
func TestElsewhere(t *testing.T) {
	known := map[string]map[string]bool{}
	for _, c := range checks() {
		for _, name := range c.elsewhere {
			dir, function, _ := strings.Cut(name, ".")
			if known[dir] == nil {
				known[dir] = testsIn(t, dir)
			}
			if !known[dir][function] {
				t.Errorf("check %q points to %s, which is not there; in %s are %v", c.name, name, dir,
					slices.Sorted(maps.Keys(known[dir])))
			}
		}
	}
}

// testsIn finds the test functions of a package.
func testsIn(t *testing.T, dir string) map[string]bool {
	is := is.New(t)
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	is.NoErr(err)
	functions := map[string]bool{}
	for _, file := range files {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		is.NoErr(err)
		for _, declared := range source.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				functions[f.Name.Name] = true
			}
		}
	}
	return functions
}
