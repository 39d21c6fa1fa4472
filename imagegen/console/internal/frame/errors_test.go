package frame

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// The page of each code has a title of its own, and a status of an error.
func TestEveryCodeHasATitle(t *testing.T) {
	is := is.New(t)
	file, err := parser.ParseFile(token.NewFileSet(), "../../../errors.go", nil, parser.SkipObjectResolution)
	is.NoErr(err)
	codes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Code" {
			return true
		}
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		is.NoErr(err)
		v, ok := errorViews[imagegen.Code(code)]
		if codes++; !ok || v.Title == "" || v.Status < 400 {
			t.Errorf("the page of an error with the code %s: %+v", code, v)
		}
		return true
	})
	is.True(codes >= 15)
}
