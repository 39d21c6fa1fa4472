package upstream_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

func TestHold(t *testing.T) {
	for _, size := range []int{0, 1, 4 << 20, 4<<20 + 1, 9 << 20} {
		is := is.New(t)
		want := bytes.Repeat([]byte("fox"), size/3+1)[:size]
		t.Setenv("TMPDIR", t.TempDir())
		h, err := upstream.Hold(bytes.NewReader(want))
		is.NoErr(err)
		got, err := io.ReadAll(h)
		is.NoErr(err)
		is.True(bytes.Equal(got, want))
		h.Close()
	}
}

// What the temporary directory does not take is kept in memory, within bounds: it may have been paid for.
func TestHoldWithoutATemporaryDirectory(t *testing.T) {
	is := is.New(t)
	t.Setenv("TMPDIR", "/nonexistent")
	want := bytes.Repeat([]byte("fox"), 3<<20)
	for range 20 { // what is closed is free again
		h, err := upstream.Hold(bytes.NewReader(want))
		is.NoErr(err)
		got, err := io.ReadAll(h)
		is.NoErr(err)
		is.True(bytes.Equal(got, want))
		h.Close()
	}
	_, err := upstream.Hold(io.LimitReader(zeros{}, 80<<20))
	is.True(err != nil)
}

// zeros yields zeros without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestHoldOfWhatBreaks(t *testing.T) {
	broken := errors.New("cut")
	for _, size := range []int{10, 5 << 20} {
		_, err := upstream.Hold(io.MultiReader(bytes.NewReader(make([]byte, size)), iotest.ErrReader(broken)))
		is.New(t).True(errors.Is(err, broken))
	}
}
