package imagegen_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// mostOfOneName is how many functions and methods may share an unexported name. A search for a name that more have
// finds too much to read, and the name says of none of them what it does.
const mostOfOneName = 10

// Few functions and methods of the product share an unexported name. main and init do not count, since the language
// demands them, nor does run where it is what main calls and reports the error of, nor does a method that an interface
// demands of its type.
func TestNamesAreNotShared(t *testing.T) {
	type typeName struct{ dir, name string }
	methods := make(map[typeName]map[string]token.Position)
	found := make(map[string][]token.Position)
	var interfaces [][]string // the methods of each
	goTree(t, func(path string, file *ast.File, files *token.FileSet) {
		if !isProduct(path) {
			return
		}
		exempt := []string{"main", "init"}
		if file.Name.Name == "main" {
			exempt = append(exempt, "run")
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if i, ok := n.(*ast.InterfaceType); ok {
				interfaces = append(interfaces, methodNames(i))
			}
			return true
		})
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || slices.Contains(exempt, f.Name.Name) {
				continue
			}
			if f.Recv == nil {
				found[f.Name.Name] = append(found[f.Name.Name], files.Position(f.Pos()))
				continue
			}
			of := typeName{filepath.Dir(path), receiverName(f)}
			if methods[of] == nil {
				methods[of] = make(map[string]token.Position)
			}
			methods[of][f.Name.Name] = files.Position(f.Pos())
		}
	})
	for _, has := range methods {
		for name, at := range has {
			if !slices.ContainsFunc(interfaces, func(demanded []string) bool {
				return slices.Contains(demanded, name) && hasAll(has, demanded)
			}) {
				found[name] = append(found[name], at)
			}
		}
	}
	for name, at := range found {
		if !ast.IsExported(name) && len(at) > mostOfOneName {
			t.Errorf("%d functions are called %s, at most %d may be: say in the name what each does to what: %v",
				len(at), name, mostOfOneName, at)
		}
	}
}

func methodNames(i *ast.InterfaceType) (names []string) {
	for _, f := range i.Methods.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	return names
}

// receiverName returns the name of the type that a method belongs to.
func receiverName(f *ast.FuncDecl) (name string) {
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

func hasAll(methods map[string]token.Position, demanded []string) bool {
	return !slices.ContainsFunc(demanded, func(name string) bool { _, ok := methods[name]; return !ok })
}
