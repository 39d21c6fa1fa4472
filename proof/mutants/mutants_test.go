package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// A change of the code must not silently take a mutant away: every one can still be planted, in one
// place, and the tests that are to catch it are there. Whether they do is for the command to show.
func TestMutantsCanBePlanted(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			is := is.New(t)
			is.True(!names[m.name])
			names[m.name] = true
			is.True(m.breaks != "")
			file, err := os.ReadFile(filepath.Join("..", "..", m.file))
			is.NoErr(err)
			changed, err := m.plant(file)
			is.NoErr(err)
			is.True(!bytes.Equal(changed, file))
			tests, _, _ := strings.Cut(m.run, "/")
			for test := range strings.SplitSeq(tests, "|") {
				is.True(slices.ContainsFunc(testsOf(t, m.pkg), regexp.MustCompile(test).MatchString)) // the test exists
			}
		})
	}
}

// testsOf lists the tests and fuzz targets of a package.
func testsOf(t *testing.T, pkg string) (names []string) {
	is := is.New(t)
	files, err := filepath.Glob(filepath.Join("..", "..", pkg, "*_test.go"))
	is.NoErr(err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		is.NoErr(err)
		for _, found := range testFunc.FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	return names
}

var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
