package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/s3"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// partSize is the smallest that an object store takes.
const partSize = 5 << 20

func openFiles(t *testing.T, server *s3test.Server, endpoint string) *s3.Files {
	t.Helper()
	c := config(t, server, "files")
	c.Endpoint, c.PartSize, c.Dir = endpoint, partSize, ""
	f, err := s3.OpenFiles(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// file makes a file of so many bytes, each time others.
func file(t *testing.T, size int) (*os.File, []byte) {
	t.Helper()
	is := is.New(t)
	content := make([]byte, size)
	_, err := rand.NewChaCha8([32]byte{byte(size), byte(size >> 8)}).Read(content)
	is.NoErr(err)
	path := filepath.Join(t.TempDir(), "file")
	is.NoErr(os.WriteFile(path, content, 0o600))
	f, err := os.Open(path)
	is.NoErr(err)
	t.Cleanup(func() { _ = f.Close() })
	return f, content
}

// A file is read as it was put, in one part or several, under its name alone.
func TestFiles(t *testing.T) {
	is := is.New(t)
	server := s3test.Start(t)
	files, ctx := openFiles(t, server, server.URL), t.Context()
	sizes := map[string]int{"file-0": 0, "file-1": 1000, "file-2": partSize, "file-3": 2 * partSize,
		"file-4": 2*partSize + 1}
	for name, size := range sizes {
		f, content := file(t, size)
		is.NoErr(files.Put(ctx, name, f))
		is.True(bytes.Equal([]byte(read(t, func() (io.ReadCloser, error) { return files.Open(ctx, name) })), content))
	}
	f, _ := file(t, 1)
	is.NoErr(files.Put(ctx, "letter", f))
	all, err := files.List(ctx, "file-")
	is.NoErr(err)
	is.Equal(len(all), len(sizes))
	for _, f := range all {
		is.Equal(int(f.Size), sizes[f.Name])
	}
	is.NoErr(files.Remove(ctx, "letter"))
	is.NoErr(files.Remove(ctx, "letter")) // that there is none is success
	_, err = files.Open(ctx, "letter")
	is.True(errors.Is(err, imagegen.ErrNotFound))
	is.Equal(len(server.Unfinished(t)), 0)
}

// between lies between a client and an object store, and refuses some requests.
func between(t *testing.T, server *s3test.Server, refuses func(*http.Request) bool) string {
	t.Helper()
	to, err := url.Parse(server.URL)
	is.New(t).NoErr(err)
	forward := httputil.NewSingleHostReverseProxy(to) // with the name of the host that was signed
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses(r) {
			io.Copy(io.Discard, r.Body) // what a client still sends would meet a closed connection, and not the answer
			w.WriteHeader(http.StatusForbidden)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func isPart(r *http.Request, number string) bool { return r.URL.Query().Get("partNumber") == number }

func completes(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
}

func drops(r *http.Request) bool {
	return r.Method == http.MethodDelete && r.URL.Query().Has("uploadId")
}

// A file of which a part is missing has no name, and nothing stays of it; what was there before stays as it was.
func TestFileInParts(t *testing.T) {
	server := s3test.Start(t)
	files, ctx := openFiles(t, server, server.URL), t.Context()
	former, content := file(t, 10)
	is.New(t).NoErr(files.Put(ctx, "former", former))
	f, _ := file(t, 2*partSize+1)
	for name, refuses := range map[string]func(*http.Request) bool{
		"first": func(r *http.Request) bool { return isPart(r, "1") },
		"last":  func(r *http.Request) bool { return isPart(r, "3") },
		"end":   completes,
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			through := openFiles(t, server, between(t, server, refuses))
			for _, name := range []string{"former", "new"} {
				err := through.Put(ctx, name, f)
				if !errors.Is(err, imagegen.ErrNotApplied) {
					t.Errorf("%s: %v", name, err)
				}
			}
			all, err := files.List(ctx, "")
			is.NoErr(err)
			is.Equal(all, []s3.File{{Name: "former", Size: 10}})
			is.Equal(read(t, func() (io.ReadCloser, error) { return files.Open(ctx, "former") }), string(content))
			is.Equal(len(server.Unfinished(t)), 0)
		})
	}
}

// A Put whose caller goes away drops the parts that it has sent.
func TestFileInPartsIsBrokenOff(t *testing.T) {
	is := is.New(t)
	server := s3test.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	f, _ := file(t, 2*partSize)
	through := openFiles(t, server, between(t, server, func(r *http.Request) bool {
		if isPart(r, "2") {
			cancel()
		}
		return false
	}))
	is.True(errors.Is(through.Put(ctx, "new", f), context.Canceled))
	all, err := through.List(t.Context(), "")
	is.NoErr(err)
	is.Equal(len(all), 0)
	is.Equal(len(server.Unfinished(t)), 0)
}

// The parts that a killed process has sent are not a file. They are dropped for the name that is asked for.
func TestDropUnfinished(t *testing.T) {
	is := is.New(t)
	server := s3test.Start(t)
	files, ctx := openFiles(t, server, server.URL), t.Context()
	killed := openFiles(t, server, between(t, server, func(r *http.Request) bool { return isPart(r, "2") || drops(r) }))
	f, _ := file(t, 2*partSize)
	for _, name := range []string{"file-1", "letter"} {
		is.True(killed.Put(ctx, name, f) != nil)
	}
	is.Equal(len(server.Unfinished(t)), 2)
	all, err := files.List(ctx, "")
	is.NoErr(err)
	is.Equal(len(all), 0)
	is.NoErr(files.DropUnfinished(ctx, "file-"))
	is.Equal(server.Unfinished(t), []string{"files/letter"})
}

// A reader may take longer than the object store may: a restore flushes a large database to a slow disk in between.
func TestSlowReader(t *testing.T) {
	is, server, ctx := is.New(t), s3test.Start(t), t.Context()
	f, content := file(t, 32<<20) // more than any buffer holds
	is.NoErr(openFiles(t, server, server.URL).Put(ctx, "slow", f))
	c := config(t, server, "files")
	c.RequestTimeout = 2 * time.Second
	impatient, err := s3.OpenFiles(ctx, c)
	is.NoErr(err)
	r, err := impatient.Open(ctx, "slow")
	is.NoErr(err)
	defer r.Close()
	<-time.After(c.RequestTimeout + time.Second/2)
	read, err := io.ReadAll(r)
	is.NoErr(err)
	is.True(bytes.Equal(read, content))
}
