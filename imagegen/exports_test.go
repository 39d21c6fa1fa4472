package imagegen_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each export of a package is used by another package, an example or a test from outside, or its other exports name
// it.
func TestNothingIsExportedForNobody(t *testing.T) {
	// directory → what its package exports, of whose names one in use is enough
	exports := make(map[string][][]string)
	users := make(map[string]map[string]bool) // name → the packages that use it
	goTree(t, func(path string, file *ast.File, _ *token.FileSet) {
		dir, test := filepath.Dir(path), isTestFile(path)
		if test {
			dir += strings.TrimPrefix(file.Name.Name, filepath.Base(dir)) // one from outside is another package
		}
		for _, d := range file.Decls {
			if !test && file.Name.Name != "main" {
				exports[dir] = append(exports[dir], exported(d)...)
			}
			for _, name := range named(d) {
				if users[name] == nil {
					users[name] = make(map[string]bool)
				}
				users[name][dir] = true
			}
		}
	})
	for dir, things := range exports {
		for _, names := range things {
			if !slices.ContainsFunc(names, func(n string) bool {
				return users["own "+n][dir] || len(users[n]) > 1 || len(users[n]) == 1 && !users[n][dir]
			}) {
				t.Errorf("%s exports %v, which nobody else uses", dir, names)
			}
		}
	}
}

// exported are the names that a declaration exports: constants of one block are the values of one thing.
func exported(d ast.Decl) (things [][]string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			return [][]string{{d.Name.Name}}
		}
	case *ast.GenDecl:
		var values []string
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					things = append(things, []string{s.Name.Name})
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() {
						values = append(values, n.Name)
					}
				}
			}
		}
		if d.Tok == token.CONST && len(values) > 0 {
			return append(things, values)
		}
		for _, v := range values {
			things = append(things, []string{v})
		}
	}
	return things
}

// named are the names of other packages' things that a declaration uses and, marked, of its own package's things that
// it shows to others.
func named(d ast.Decl) (names []string) {
	ast.Inspect(d, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			names = append(names, s.Sel.Name)
		}
		return true
	})
	shows := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				names = append(names, "own "+id.Name)
			}
			return true
		})
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() {
			shows(d.Type)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					shows(s.Type)
				}
			case *ast.ValueSpec:
				if s.Type != nil && s.Names[0].IsExported() {
					shows(s.Type)
				}
			}
		}
	}
	return names
}
