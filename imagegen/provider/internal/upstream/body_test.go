package upstream_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

// file is a reference image that counts what is open.
type file struct {
	bytes  []byte
	err    error // of reading, at the end
	opened atomic.Int64
	closed atomic.Int64
}

func (f *file) Open(context.Context) (io.ReadCloser, error) {
	f.opened.Add(1)
	var end io.Reader = strings.NewReader("")
	if f.err != nil {
		end = broken{f.err}
	}
	return &opened{io.MultiReader(bytes.NewReader(f.bytes), end), f}, nil
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

type opened struct {
	io.Reader
	of *file
}

func (o *opened) Close() error {
	o.of.closed.Add(1)
	return nil
}

func reference(f *file) imagegen.ProviderReference {
	return imagegen.ProviderReference{Reference: f, MediaType: "image/png", Size: int64(len(f.bytes))}
}

func fileOf(n int) *file {
	f := &file{bytes: make([]byte, n)}
	for i := range f.bytes {
		f.bytes[i] = byte(i * i)
	}
	return f
}

// serve starts an upstream of one's own.
func serve(t *testing.T, handler http.HandlerFunc, change func(*upstream.Options)) *upstream.Client {
	t.Helper()
	return upstreamtest.Serve(t, handler, func(address string) upstream.Options {
		return upstream.Options{BaseURL: address, Key: "secret-key", Private: true}
	}, change, upstream.New)
}

func TestDocument(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 12287, 12288, 12289, 100_000} {
		is := is.New(t)
		a, b := fileOf(n), fileOf(n+1)
		var got map[string]string
		var length int64
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			length = r.ContentLength
			raw, _ := io.ReadAll(r.Body)
			if int64(len(raw)) == length {
				json.Unmarshal(raw, &got)
			}
		}, nil)
		var d upstream.Document
		body, err := d.Body(map[string]string{"prompt": `<a> "b"`, "image": d.DataURL(reference(a)),
			"mask": d.Base64(reference(b))})
		is.NoErr(err)
		response, err := c.Do(t.Context(), http.MethodPost, "/x", body)
		is.NoErr(err)
		is.NoErr(response.Body.Close())
		want := map[string]string{"prompt": `<a> "b"`, "image": "data:image/png;base64," +
			base64.StdEncoding.EncodeToString(a.bytes),
			"mask": base64.StdEncoding.EncodeToString(b.bytes)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		is.True(length > 0) // it was known before
		is.Equal(a.opened.Load(), a.closed.Load())
	}
}

func TestForm(t *testing.T) {
	is := is.New(t)
	a, b := fileOf(70_000), fileOf(10)
	var got *multipart.Form
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 0 && r.ParseMultipartForm(1<<20) == nil {
			got = r.MultipartForm
		}
	}, nil)
	f := upstream.NewForm()
	f.Field("prompt", "a\r\n--b")
	f.File("image[]", reference(a))
	f.File("image[]", reference(b))
	f.Field("n", "2")
	response, err := c.Do(t.Context(), http.MethodPost, "/x", f.Body())
	is.NoErr(err)
	is.NoErr(response.Body.Close())
	is.Equal(got.Value, map[string][]string{"prompt": {"a\r\n--b"}, "n": {"2"}})
	for i, want := range []*file{a, b} {
		header := got.File["image[]"][i]
		is.Equal(header.Header.Get("Content-Type"), "image/png")
		part, err := header.Open()
		is.NoErr(err)
		raw, err := io.ReadAll(part)
		is.NoErr(err)
		is.True(bytes.Equal(raw, want.bytes))
	}
}

// A reference that cannot be read leaves the upstream with less than was announced: nothing was made.
func TestUnreadableReference(t *testing.T) {
	is := is.New(t)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			t.Error("the upstream took half a request for a whole one")
		}
	}, nil)
	f := fileOf(100)
	f.err = errors.New("the disk is on fire")
	r := reference(f)
	r.Size = 200
	form := upstream.NewForm()
	form.File("image", r)
	_, err := c.Do(t.Context(), http.MethodPost, "/x", form.Body())
	e, ok := errors.AsType[*imagegen.ProviderError](err)
	is.True(ok)
	is.Equal(e.Class, imagegen.ClassUnavailable)
	is.True(errors.Is(err, f.err))
	is.Equal(f.opened.Load(), f.closed.Load())
}

// An upstream that answers without having read everything does not leave files open.
func TestEarlyAnswer(t *testing.T) {
	is := is.New(t)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) }, nil)
	f := fileOf(8 << 20)
	form := upstream.NewForm()
	form.File("image", reference(f))
	_, err := c.Do(t.Context(), http.MethodPost, "/x", form.Body())
	is.True(err != nil)
	is.Equal(f.opened.Load(), f.closed.Load())
}

// endless is a reference image that is made while it is read.
type endless struct{ size int64 }

func (e endless) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(io.LimitReader(letters{}, e.size)), nil
}

// Large references go out without being held.
func TestReferencesAreNotHeld(t *testing.T) {
	const size, count = 8 << 20, 4
	is := is.New(t)
	var got atomic.Int64
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		got.Add(n)
	}, nil)
	r := imagegen.ProviderReference{Reference: endless{size}, MediaType: "image/png", Size: size}
	f := upstream.NewForm()
	var d upstream.Document
	var urls []string
	for range count {
		f.File("image[]", r)
		urls = append(urls, d.DataURL(r))
	}
	document, err := d.Body(urls)
	is.NoErr(err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, body := range []*upstream.Body{f.Body(), document} {
		response, err := c.Do(t.Context(), http.MethodPost, "/x", body)
		is.NoErr(err)
		is.NoErr(response.Body.Close())
	}
	runtime.ReadMemStats(&after)
	is.True(got.Load() > count*size*7/3)
	is.True(after.TotalAlloc-before.TotalAlloc < 2<<20)
}
