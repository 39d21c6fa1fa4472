package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

// A change of the code must not silently take a mutant away: every one can still be planted, in one
// place. Whether it is caught is for the command to show.
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
		})
	}
}
