package imagegen_test

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	mostColumns   = 120
	tabColumns    = 4
	stringColumns = 60
)

// aligning are the spaces with which gofmt aligns what it finds on lines one below the other.
var aligning = regexp.MustCompile(`  +`)

// A line of Go has at most 120 columns, in which gofmt's alignment does not count. Of a string 60 columns count at
// most, so that a message can stay whole and be found by a search. gofmt does not break lines.
func TestLinesAreShort(t *testing.T) {
	inTree(t, func(path string) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if filepath.Ext(path) != ".go" || strings.Contains(name, "/testdata/") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		free := freeColumns(text)
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			line = aligning.ReplaceAllString(strings.TrimRight(line, "\r\n"), " ")
			columns := utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t") - free[n]
			if columns > mostColumns {
				t.Errorf("%s:%d: this line has %d columns, at most %d are allowed", name, n, columns, mostColumns)
			}
		}
		return nil
	})
}

// freeColumns returns how many columns of each line do not count: of strings, those with a field's tag among them, and
// of comments that show code, an address or the output of an example.
func freeColumns(text []byte) map[int]int {
	free := make(map[int]int)
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	output := false
	for {
		pos, tok, literal := s.Scan()
		output = tok == token.COMMENT && (output || literal == "// Output:")
		switch {
		case tok == token.EOF:
			return free
		case tok == token.STRING,
			tok == token.COMMENT && (output || strings.Contains(literal, "://") || strings.HasPrefix(literal, "//\t")):
			for i, part := range strings.Split(literal, "\n") {
				free[file.Line(pos)+i] += max(0, utf8.RuneCountInString(part)-stringColumns)
			}
		}
	}
}
