package storage_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/storage"
)

// A file whose pages lead in a circle, or out of the file, is damaged. bbolt would follow them for ever.
func TestPagesThatLeadAstray(t *testing.T) {
	const rootAt, header, branch = 16 + 16, 16, 1 // in the first page; of each page; what a page can be
	for told, child := range map[string]func(root uint64) uint64{
		"is used twice":               func(root uint64) uint64 { return root },
		"page 1099511627776 is named": func(uint64) uint64 { return 1 << 40 },
		"page 1 is named":             func(uint64) uint64 { return 1 },
	} {
		t.Run(told, func(t *testing.T) {
			is := is.New(t)
			dir := t.TempDir()
			is.NoErr(openDir(t, dir, nil).Close())
			path, size := filepath.Join(dir, "imagegen.db"), os.Getpagesize()
			file, err := os.ReadFile(path)
			is.NoErr(err)
			for meta := range 2 { // whichever is the newer
				root := binary.NativeEndian.Uint64(file[meta*size+rootAt:])
				page := file[int(root)*size:]
				binary.NativeEndian.PutUint16(page[8:], branch)
				binary.NativeEndian.PutUint16(page[10:], 1)
				binary.NativeEndian.PutUint64(page[header+8:], child(root))
			}
			is.NoErr(os.WriteFile(path, file, 0o600))
			_, err = storage.Open(dir, nil)
			is.True(errors.Is(err, storage.ErrCorrupt))
			is.True(strings.Contains(err.Error(), told))
		})
	}
}
