package storage_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/storage"
)

// From an archive that was damaged anywhere, either everything is restored or nothing.
func FuzzRestore(f *testing.F) {
	var whole []byte
	f.Fuzz(func(t *testing.T, at uint32, cut uint16, insert []byte) {
		if whole == nil {
			whole = archive(t)
		}
		at %= uint32(len(whole))
		end := min(int(at)+int(cut), len(whole))
		damaged := slices.Concat(whole[:at], insert, whole[end:])

		is, parent := is.New(t), t.TempDir()
		dir := filepath.Join(parent, "restored")
		if err := storage.Restore(t.Context(), bytes.NewReader(damaged), dir); err != nil {
			is.True(errors.Is(err, storage.ErrArchive))
			left, err := os.ReadDir(parent)
			is.NoErr(err)
			is.Equal(len(left), 0)
			return
		}
		w := work(t, openDir(t, dir, nil))
		is.Equal(w.clean().Images, 2)
		for _, n := range []int{1, 2} {
			r, err := w.Generation(t.Context(), newRecord(n).ID)
			is.NoErr(err)
			image, err := w.OpenImage(t.Context(), r.ImageKey(r.Images[0]))
			is.NoErr(err)
			got, err := io.ReadAll(image)
			is.NoErr(errors.Join(err, image.Close()))
			is.Equal(string(got), string(pixels(n)))
		}
	})
}
