package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
)

// pattern is a piece of Go as a tree: an expression, statements that follow each other, or an element
// of a composite literal, or cases of a switch. Formatting and comments do not matter. $x stands for
// one node, whatever it is, and $*x for the rest of a list.
type pattern []ast.Node

// one and rest are how $ and $* are spelled in a tree.
const (
	one  = "wildcardForOne_"
	rest = "wildcardForTheRest_"
)

var spelled = strings.NewReplacer("$*", rest, "$", one)

func parsePattern(source string) (pattern, error) {
	text := spelled.Replace(source)
	if x, err := parser.ParseExpr(text); err == nil {
		return pattern{x}, nil
	}
	if x, err := parser.ParseExpr("_{" + text + "}"); err == nil {
		return nodes(x.(*ast.CompositeLit).Elts), nil
	}
	if x, err := parser.ParseExpr("func() {\n" + text + "\n}"); err == nil {
		return nodes(x.(*ast.FuncLit).Body.List), nil
	}
	if x, err := parser.ParseExpr("func() { switch {\n" + text + "\n} }"); err == nil {
		return nodes(x.(*ast.FuncLit).Body.List[0].(*ast.SwitchStmt).Body.List), nil
	}
	return nil, fmt.Errorf("%q is not an expression, element, statement or case", source)
}

func nodes[T ast.Node](of []T) (all pattern) {
	for _, n := range of {
		all = append(all, n)
	}
	return all
}

// found is a place that a pattern matches, and what its wildcards stand for there.
type found struct {
	pattern
	bound map[string]pattern
}

func (p pattern) Pos() token.Pos { return p[0].Pos() }
func (p pattern) End() token.Pos { return p[len(p)-1].End() }

// in lists the places below a node.
func (p pattern) in(root ast.Node) (all []found) {
	ast.Inspect(root, func(n ast.Node) bool {
		for _, run := range runs(n, len(p)) {
			f := found{run, map[string]pattern{}}
			if f.same(reflect.ValueOf(p), reflect.ValueOf(run)) {
				all = append(all, f)
			}
		}
		return true
	})
	return all
}

// runs lists what a pattern of so many nodes may match: the node itself, or statements in it.
func runs(n ast.Node, length int) (all []pattern) {
	if n != nil && length == 1 {
		return []pattern{{n}}
	}
	var list []ast.Stmt
	switch n := n.(type) {
	case *ast.BlockStmt:
		list = n.List
	case *ast.CaseClause:
		list = n.Body
	case *ast.CommClause:
		list = n.Body
	}
	for i := range max(0, len(list)-length+1) {
		all = append(all, nodes(list[i:i+length]))
	}
	return all
}

var position = reflect.TypeFor[token.Pos]()

// same compares trees. Of positions it counts only whether there are any: that of an ellipsis, say.
func (f found) same(p, n reflect.Value) bool {
	if isNil(p) || isNil(n) {
		return isNil(p) && isNil(n)
	}
	if name, ok := strings.CutPrefix(wildcard(p), one); ok {
		f.bound[name] = nodesOf(n)
		return true
	}
	if p.Type() != n.Type() {
		return false
	}
	switch p.Kind() {
	case reflect.Interface, reflect.Pointer:
		return f.same(p.Elem(), n.Elem())
	case reflect.Slice:
		return f.sameList(p, n)
	case reflect.Struct:
		for i := range p.NumField() {
			if !isRemark(p.Type().Field(i).Type) && !f.same(p.Field(i), n.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Int:
		if p.Type() == position {
			return (p.Int() == 0) == (n.Int() == 0)
		}
	}
	return p.Interface() == n.Interface()
}

func isNil(v reflect.Value) bool {
	return (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) && v.IsNil()
}

func (f found) sameList(p, n reflect.Value) bool {
	for i := range p.Len() {
		if name, ok := strings.CutPrefix(wildcard(p.Index(i)), rest); ok && i <= n.Len() {
			f.bound[name] = nodesOf(n.Slice(i, n.Len()))
			return true
		}
		if i >= n.Len() || !f.same(p.Index(i), n.Index(i)) {
			return false
		}
	}
	return p.Len() == n.Len()
}

// isRemark tells of fields that are about a tree, and no part of it.
func isRemark(t reflect.Type) bool {
	return t == reflect.TypeFor[*ast.CommentGroup]()
}

// wildcard is the name of the wildcard that a node is, or "".
func wildcard(v reflect.Value) string {
	switch n := v.Interface().(type) {
	case *ast.ExprStmt:
		return wildcard(reflect.ValueOf(n.X))
	case *ast.Ident:
		if strings.HasPrefix(n.Name, one) || strings.HasPrefix(n.Name, rest) {
			return n.Name
		}
	}
	return ""
}

// nodesOf is a node, or a list of them.
func nodesOf(v reflect.Value) (all pattern) {
	if v.Kind() != reflect.Slice {
		return pattern{v.Interface().(ast.Node)}
	}
	for i := range v.Len() {
		all = append(all, v.Index(i).Interface().(ast.Node))
	}
	return all
}
