package storage_test

import (
	"archive/tar"
	"bytes"
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/storage"
)

// archiveOf is an archive of one part, of which there are as many bytes as body yields.
func archiveOf(t *testing.T, h *tar.Header, body io.Reader) io.Reader {
	t.Helper()
	r, w := io.Pipe()
	go func() {
		out := tar.NewWriter(w)
		_ = out.WriteHeader(h)
		_, err := io.Copy(out, body)
		w.CloseWithError(err)
	}()
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// sparse is an archive of a few KiB with a part that is all hole, in two forms.
func sparse(t *testing.T, name string, size int64) map[string]io.Reader {
	t.Helper()
	long := strconv.FormatInt(size, 10)
	pax := func(records map[string]string, body string) io.Reader {
		var b bytes.Buffer
		out := tar.NewWriter(&b)
		if err := out.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(body)), Mode: 0o600,
			PAXRecords: records}); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(out, body)
		_ = out.Close()
		// which the writer leaves out
		return bytes.NewReader(bytes.ReplaceAll(b.Bytes(), []byte("XNU.sparse."), []byte("GNU.sparse.")))
	}
	return map[string]io.Reader{
		"1.0": pax(map[string]string{"XNU.sparse.major": "1", "XNU.sparse.minor": "0", "XNU.sparse.name": name,
			"XNU.sparse.realsize": long},
			"0\n"+strings.Repeat("\x00", 510)),
		"0.1": pax(map[string]string{"XNU.sparse.size": long, "XNU.sparse.numblocks": "1", "XNU.sparse.map": "0,0"},
			""),
	}
}

// A few KiB fill no disk.
func TestASparseArchiveIsRefused(t *testing.T) {
	for form, archive := range sparse(t, "imagegen.db", 1<<40) {
		t.Run(form, func(t *testing.T) {
			b, err := io.ReadAll(archive)
			is.New(t).NoErr(err)
			h, err := tar.NewReader(bytes.NewReader(b)).Next()
			is.New(t).NoErr(err)
			is.New(t).Equal(h.Size, int64(1<<40)) // else nothing is shown
			refusedArchive(t, b)
		})
	}
}

// A member that is longer than any of its kind is refused before it is written, and takes no memory.
func TestPartsAreBounded(t *testing.T) {
	for name, size := range map[string]int64{
		"spool/ref_1":                      50<<20 + 1,
		"images/000/gen_1.1.image_1":       1<<30 + 1,
		"manifest.json":                    150 << 20,
		"imagegen.db":                      1 << 60,
		strings.Repeat("x", 100) + "/else": 1,
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			is, read := is.New(t), &counted{}
			header := &tar.Header{Name: name, Typeflag: tar.TypeReg, Size: size, Mode: 0o600}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := storage.Restore(t.Context(), archiveOf(t, header, read), filepath.Join(t.TempDir(), "restored"))
			runtime.ReadMemStats(&after)
			is.True(err != nil)
			is.True(read.n.Load() < 1<<20)
			is.True(after.TotalAlloc-before.TotalAlloc < 8<<20)
		})
	}
}

// counted is blanks without end, and how many were read.
type counted struct{ n atomic.Int64 }

func (c *counted) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	c.n.Add(int64(len(p)))
	return len(p), nil
}
