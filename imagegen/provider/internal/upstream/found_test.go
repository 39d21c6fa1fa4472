package upstream_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// An image that was paid is not lost for the form in which it came, as long as that can mean one thing only.
func TestFormsOfImages(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		io.WriteString(w, "fox")
	}))
	defer s.Close()
	for _, form := range []string{"Zm94", " \n\tZm94\n", "data:image/png;base64,Zm94", " DATA:image/png;base64,Zm94",
		s.URL + "/fox.png", " \n" + s.URL + "/fox.png\n", strings.Replace(s.URL, "http", "HTTP", 1) + "/fox.png",
		"/fox.png", " /fox.png"} {
		t.Run(form, func(t *testing.T) {
			is := is.New(t)
			got, err := imagesIn(t, s.URL, []string{"", form})
			is.NoErr(err)
			is.Equal(cmp.Diff(got, []string{"fox"}), "")
		})
	}
}

// Some send a word or a path where an image could stand, and the image beside it. The image counts, in either order.
func TestImageBesideWhatIsNone(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		io.WriteString(w, "fetched")
	}))
	defer s.Close()
	const png, jpeg, webP = "iVBORw==", "_9j_", "UklGRg=="
	for _, none := range []string{"None", "null", "images/a.png", "file:///tmp/a.png", "gs://bucket/a.png",
		strings.Repeat("x", 100_000)} {
		for _, c := range []struct{ form, want string }{
			{png, "\x89PNG"}, {jpeg, "\xff\xd8\xff"}, {webP, "RIFF"}, {"data:,Zm94", "fox"},
			{s.URL + "/a.png", "fetched"}, {"/a.png", "fetched"},
		} {
			for _, forms := range []struct{ A, B string }{{none, c.form}, {c.form, none}} {
				t.Run(fmt.Sprintf("%.20s %.20s", forms.A, forms.B), func(t *testing.T) {
					is := is.New(t)
					got, err := imagesIn(t, s.URL, []any{forms, forms})
					is.NoErr(err)
					is.Equal(cmp.Diff(got, []string{c.want, c.want}), "")
				})
			}
		}
	}
}

// What is neither an image nor an address fails by what it is.
func TestNeitherImageNorAddress(t *testing.T) {
	is := is.New(t)
	got, err := imagesIn(t, "http://127.0.0.1", []string{"R0lGODlh", "None"})
	is.NoErr(err)
	is.Equal(cmp.Diff(got, []string{"GIF89a", "6\x89\xde"}), "") // the decoder refuses them
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		_, err := imagesIn(t, "http://127.0.0.1", []string{"images/a.png"})
		is.True(err != nil && strings.Contains(err.Error(), "could not be fetched: the address has no host"))
	})
}

// imagesIn returns the images in an answer to a request for two.
func imagesIn(t *testing.T, upstreamURL string, answer any) (images []string, err error) {
	t.Helper()
	is := is.New(t)
	f := upstream.Found{N: 2, Yield: func(r io.Reader) bool {
		b, err := io.ReadAll(r)
		is.NoErr(err)
		images = append(images, string(b))
		return true
	}}
	raw, err := json.Marshal(answer)
	is.NoErr(err)
	for s, err := range upstream.Strings(strings.NewReader(string(raw))) {
		is.NoErr(err)
		_, err = f.Take(s)
		is.NoErr(err)
	}
	return images, f.Fetch(t.Context(), of(t, upstreamURL))
}
