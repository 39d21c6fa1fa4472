package imagegen_test

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// The product looks for no optional method by an anonymous interface, whose signature no implementation can assert, but
// for the methods of the standard library's own types.
func TestOptionalMethodsHaveInterfaces(t *testing.T) {
	standard := []string{"Unwrap", "Opaque", "Addr"} // of errors and http.ResponseWriter; images; faults of memory
	goTree(t, func(path string, file *ast.File, files *token.FileSet) {
		if isTestFile(path) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			var asked []ast.Expr
			switch n := n.(type) {
			case *ast.TypeAssertExpr:
				asked = []ast.Expr{n.Type}
			case *ast.CaseClause: // of a type switch, where it can be an interface
				asked = n.List
			}
			for _, e := range asked {
				i, ok := e.(*ast.InterfaceType)
				if ok && slices.ContainsFunc(i.Methods.List, func(f *ast.Field) bool {
					return len(f.Names) != 1 || !slices.Contains(standard, f.Names[0].Name)
				}) {
					t.Errorf("%s: give this interface a name, so that implementations can assert it",
						files.Position(e.Pos()))
				}
			}
			return true
		})
	})
}
