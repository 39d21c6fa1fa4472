package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// declaration is a function or a method, or variables or constants that are declared together.
type declaration struct {
	src  []byte
	file *token.File
	node ast.Node
}

// declared finds a declaration by its name. That of a method is its type's, a dot and its own.
func declared(src []byte, name string) (declaration, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", src, parser.SkipObjectResolution)
	if err != nil {
		return declaration{}, err
	}
	d := declaration{src: src, file: set.File(f.Pos())}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if d.nameOf(decl) == name {
				d.node = decl
				return d, nil
			}
		case *ast.GenDecl:
			for _, s := range decl.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && slices.ContainsFunc(v.Names, func(n *ast.Ident) bool {
					return n.Name == name
				}) {
					d.node = v
					return d, nil
				}
			}
		}
	}
	return declaration{}, fmt.Errorf("%s is not declared", name)
}

func (d declaration) nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := strings.TrimPrefix(d.text(pattern{f.Recv.List[0].Type}), "*")
	of, _, _ = strings.Cut(of, "[") // without its type parameters
	return of + "." + f.Name.Name
}

// find is the one place that matches.
func (d declaration) find(text string) (found, error) {
	p, err := parsePattern(text)
	if err != nil {
		return found{}, err
	}
	all := p.in(d.node)
	if len(all) != 1 {
		return found{}, fmt.Errorf("%d places match %q", len(all), text)
	}
	return all[0], nil
}

func (d declaration) text(p pattern) string {
	if len(p) == 0 {
		return ""
	}
	return string(d.src[d.offset(p.Pos()):d.offset(p.End())])
}

func (d declaration) offset(p token.Pos) int { return d.file.Offset(p) }
