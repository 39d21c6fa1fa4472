package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// download is an image that comes whole, or breaks off with err.
type download struct{ io.Reader }

func newDownload(err error) *imagegen.ImageFile {
	r := io.Reader(strings.NewReader("new"))
	if err != nil {
		r = io.MultiReader(r, iotest.ErrReader(err))
	}
	return &imagegen.ImageFile{ReadSeekCloser: download{r}, MediaType: "image/png"}
}

func (download) Seek(int64, int) (int64, error) { panic("nobody seeks") }
func (download) Close() error                   { return nil }

// saveAs writes an image to a file that the operator named.
func saveAs(name string, err error) (said string, _ error) {
	var out bytes.Buffer
	ext := filepath.Ext(name)
	t := target{base: strings.TrimSuffix(name, ext), ext: ext, chosen: true}
	_, err = (&app{stdout: &out, stderr: io.Discard}).writeImage(newDownload(err), t, 1, 1)
	return out.String(), err
}

// Only a whole image replaces a file; the file keeps its mode, and a link stays a link.
func TestSaveOverWhatIsThere(t *testing.T) {
	broken := errors.New("the connection broke")
	tests := map[string]struct {
		link   string // what fox.png leads to
		before string // what is there; "": nothing
	}{
		"a file":            {"", "old"},
		"nothing":           {"", ""},
		"a link":            {"real.png", "old"},
		"a link to nothing": {filepath.Join("below", "real.png"), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			is.NoErr(os.Mkdir("below", 0o700))
			file := "fox.png"
			if test.link != "" {
				file = test.link
				is.NoErr(os.Symlink(test.link, "fox.png"))
			}
			if test.before != "" {
				is.NoErr(os.WriteFile(file, []byte(test.before), 0o640))
			}
			said, err := saveAs("fox.png", broken)
			is.True(errors.Is(err, broken))
			is.Equal(said, "")
			is.Equal(content(file), test.before)

			said, err = saveAs("fox.png", nil)
			is.NoErr(err)
			is.Equal(said, "fox.png\n")
			is.Equal(content(file), "new")
			if test.before != "" {
				info, err := os.Stat(file)
				is.NoErr(err)
				is.Equal(info.Mode().Perm(), os.FileMode(0o640))
			}
			_, err = os.Readlink("fox.png")
			is.Equal(err == nil, test.link != "")
			left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".imagegend-*"))
			is.NoErr(err)
			is.Equal(len(left), 0)
		})
	}
}

// An extension may be in capitals, and may be the long one.
func TestNoteOfWhatAFileHolds(t *testing.T) {
	for name, want := range map[string]string{"FOX.PNG": "", "fox.Png": "", "fox.png": "", "fox": "",
		"FOX.JPEG": "note: FOX.JPEG holds image/png\n"} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			var notes bytes.Buffer
			ext := filepath.Ext(name)
			to := target{base: strings.TrimSuffix(name, ext), ext: ext, chosen: true}
			_, err := (&app{stdout: io.Discard, stderr: &notes}).writeImage(newDownload(nil), to, 1, 1)
			is.NoErr(err)
			is.Equal(notes.String(), want)
		})
	}
}

// content is what a file holds; "" if there is none.
func content(name string) string {
	text, _ := os.ReadFile(name)
	return string(text)
}
