package s3_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/s3"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// opens returns a way to open stores whose objects no other store sees.
func opens(t *testing.T, server *s3test.Server) func(t *testing.T) *s3.Store {
	return func(t *testing.T) *s3.Store {
		t.Helper()
		return open(t, config(t, server, strings.ToLower(rand.Text())))
	}
}

func config(t *testing.T, server *s3test.Server, prefix string) s3.Config {
	return s3.Config{Bucket: s3test.Bucket, Prefix: prefix, Endpoint: server.URL, PathStyle: true,
		Dir: filepath.Join(t.TempDir(), "way")}
}

func open(t *testing.T, c s3.Config) *s3.Store {
	t.Helper()
	s, err := s3.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestImages(t *testing.T) {
	open := opens(t, s3test.Start(t))
	storagetest.Images(t, func(t *testing.T) imagegen.ImageStore { return open(t) })
}

func TestSpool(t *testing.T) {
	open := opens(t, s3test.Start(t))
	storagetest.Spool(t, func(t *testing.T) imagegen.Spool { return open(t) })
}

var (
	generation = imagegen.NewIDs().Generation(time.Now())
	key        = imagegen.ImageKey{Generation: generation, Attempt: 1, Image: imagegen.NewImageID(generation)}
)

// Another node sees what was put and kept, and not what was only staged.
func TestNodesShare(t *testing.T) {
	is := is.New(t)
	server := s3test.Start(t)
	one, two := open(t, config(t, server, "shared")), open(t, config(t, server, "shared"))
	ctx := t.Context()
	is.NoErr(one.Check(ctx))
	is.NoErr(one.PutImage(ctx, key, strings.NewReader("an image")))
	is.Equal(read(t, func() (io.ReadCloser, error) { return two.OpenImage(ctx, key) }), "an image")

	is.NoErr(one.Stage(ctx, "ref_1", strings.NewReader("a reference")))
	_, err := two.Open(ctx, "ref_1")
	is.True(errors.Is(err, imagegen.ErrNotFound))
	is.NoErr(one.Keep(ctx, "ref_1"))
	is.NoErr(two.Keep(ctx, "ref_1"))
	is.Equal(read(t, func() (io.ReadCloser, error) { return two.Open(ctx, "ref_1") }), "a reference")
	is.NoErr(one.Close()) // its process ended
	restarted := open(t, config(t, server, "shared"))
	is.Equal(read(t, func() (io.ReadCloser, error) { return restarted.Open(ctx, "ref_1") }), "a reference")
	is.NoErr(two.Remove(ctx, "ref_1"))
	_, err = restarted.Open(ctx, "ref_1")
	is.True(errors.Is(err, imagegen.ErrNotFound))
}

func read(t *testing.T, open func() (io.ReadCloser, error)) string {
	t.Helper()
	r, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// While the object store is gone nothing is written, in so many words; afterwards all goes on.
func TestObjectStoreIsGone(t *testing.T) {
	is := is.New(t)
	server := s3test.Start(t)
	s := open(t, config(t, server, "gone"))
	is.NoErr(s.PutImage(t.Context(), key, strings.NewReader("before")))
	server.Stop()
	other := key
	other.Attempt = 2
	err := s.PutImage(t.Context(), other, strings.NewReader("meanwhile"))
	is.True(errors.Is(err, imagegen.ErrNotApplied))
	_, err = s.OpenImage(t.Context(), key)
	is.True(err != nil && !errors.Is(err, imagegen.ErrNotFound)) // it is not said to be missing
	server.Resume(t)
	is.Equal(read(t, func() (io.ReadCloser, error) { return s.OpenImage(t.Context(), key) }), "before")
	is.NoErr(s.PutImage(t.Context(), other, strings.NewReader("meanwhile")))
}

// An object store that fails, or says nothing, is away for a while: a reader is asked to try again.
func TestObjectStoreFails(t *testing.T) {
	server := s3test.Start(t)
	is := is.New(t)
	is.NoErr(open(t, config(t, server, "fails")).PutImage(t.Context(), key, strings.NewReader("image")))
	answered := make(chan struct{})
	defer close(answered)
	for name, serve := range map[string]http.HandlerFunc{
		"fails":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"silent": func(http.ResponseWriter, *http.Request) { <-answered },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			away := httptest.NewServer(serve)
			t.Cleanup(away.CloseClientConnections)
			c := config(t, server, "fails")
			c.Endpoint, c.RequestTimeout = away.URL, time.Second
			s := open(t, c)
			_, err := s.OpenImage(t.Context(), key)
			is.True(errors.Is(imagegen.ToUserError(err), imagegen.ErrOverloaded))
			err = s.RemoveImages(t.Context(), key.Generation, key.Attempt) // it lists them first
			is.True(errors.Is(imagegen.ToUserError(err), imagegen.ErrOverloaded))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = s.OpenImage(ctx, key)
			is.True(errors.Is(err, context.Canceled)) // the caller's own reason
		})
	}
}

// The check reports a wrong key and a missing bucket, and nothing is lost.
func TestRefused(t *testing.T) {
	is := is.New(t)
	server := s3test.Start(t)
	c := config(t, server, "")
	c.Bucket = "nobodys"
	err := open(t, c).Check(t.Context())
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "bucket nobodys"))
	_, err = open(t, c).OpenImage(t.Context(), key)
	is.True(err != nil && !errors.Is(err, imagegen.ErrNotFound)) // a missing bucket is not a missing image
}

// The check names each right that is missing: what cannot be listed, for example, is never erased.
func TestCheckTriesEveryRight(t *testing.T) {
	server := s3test.Start(t)
	for name, refuses := range map[string]func(*http.Request) bool{
		"put":    func(r *http.Request) bool { return r.Method == http.MethodPut },
		"get":    func(r *http.Request) bool { return r.Method == http.MethodGet && !r.URL.Query().Has("list-type") },
		"list":   func(r *http.Request) bool { return r.URL.Query().Has("list-type") },
		"delete": func(r *http.Request) bool { return r.Method == http.MethodDelete },
	} {
		c := config(t, server, "rights")
		c.Endpoint = between(t, server, refuses)
		if open(t, c).Check(t.Context()) == nil {
			t.Errorf("the check passes where the credentials may not %s", name)
		}
	}
}

// An image of 50 MB passes in flat memory, both ways.
func TestFlatMemory(t *testing.T) {
	is := is.New(t)
	s := open(t, config(t, s3test.Start(t), "flat"))
	const size = 50 << 20
	before := allocated()
	is.NoErr(s.PutImage(t.Context(), key, io.LimitReader(zeros{}, size)))
	r, err := s.OpenImage(t.Context(), key)
	is.NoErr(err)
	n, err := io.Copy(io.Discard, r)
	is.NoErr(err)
	is.NoErr(r.Close())
	is.Equal(n, int64(size))
	is.True(allocated()-before < 5<<20)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// allocated is how many bytes were ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// The two halves of an object that changes while it is read never come as one object.
func TestReadsOneObject(t *testing.T) {
	is := is.New(t)
	server := s3test.Start(t)
	s := open(t, config(t, server, "one"))
	is.NoErr(s.PutImage(t.Context(), key, strings.NewReader("0123456789")))
	r, err := s.OpenImage(t.Context(), key)
	is.NoErr(err)
	defer r.Close()
	is.NoErr(s.PutImage(t.Context(), key, strings.NewReader("abcdefghij")))
	_, err = r.Seek(5, io.SeekStart)
	is.NoErr(err)
	_, err = io.ReadAll(r)
	is.True(err != nil)
}

// A link reads one image, with the type that was signed in, and does nothing else.
func TestLink(t *testing.T) {
	is := is.New(t)
	s := open(t, config(t, s3test.Start(t), "link"))
	is.NoErr(s.PutImage(t.Context(), key, strings.NewReader("an image")))
	link, err := s.Link(t.Context(), key, "image/png", s3.MaxLinkAge)
	is.NoErr(err)
	answer := get(t, link)
	is.Equal(answer.StatusCode, http.StatusOK)
	is.Equal(answer.Header.Get("Content-Type"), "image/png")
	is.Equal(get(t, strings.Replace(link, "image%2Fpng", "text%2Fhtml", 1)).StatusCode, http.StatusForbidden)
	_, err = s.Link(t.Context(), key, "image/png", s3.MaxLinkAge+1)
	is.True(err != nil)
}

// A link ends when it was asked to: the object store counts the seconds that the address names.
func TestLinkEnds(t *testing.T) {
	is := is.New(t)
	s := open(t, config(t, s3test.Start(t), "link"))
	for _, age := range []time.Duration{time.Second, 90 * time.Second, s3.MaxLinkAge} {
		link, err := s.Link(t.Context(), key, "image/png", age)
		is.NoErr(err)
		u, err := url.Parse(link)
		is.NoErr(err)
		is.Equal(u.Query().Get("X-Amz-Expires"), fmt.Sprint(age.Seconds()))
	}
	for _, age := range []time.Duration{-time.Second, 0, s3.MaxLinkAge + time.Second} {
		_, err := s.Link(t.Context(), key, "image/png", age)
		is.True(err != nil)
	}
}

func get(t *testing.T, url string) *http.Response {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return answer
}

// known names objects.
type known struct {
	images     map[imagegen.ImageKey]bool
	references map[imagegen.ReferenceID]bool
}

func (k known) NamedImages(_ context.Context, keys []imagegen.ImageKey) (named []bool, err error) {
	for _, key := range keys {
		key.Image = key.Image.Original()
		named = append(named, k.images[key])
	}
	return named, nil
}

func (k known) NamedReferences(_ context.Context, ids []imagegen.ReferenceID) (named []bool, err error) {
	for _, id := range ids {
		named = append(named, k.references[id])
	}
	return named, nil
}

// A sweep removes what nobody names and is old, and nothing else.
func TestRemoveOrphans(t *testing.T) {
	is := is.New(t)
	ctx := t.Context()
	server := s3test.Start(t)
	s := open(t, config(t, server, "sweep"))
	names := known{map[imagegen.ImageKey]bool{}, map[imagegen.ReferenceID]bool{"ref_1": true}}
	var all []imagegen.ImageKey
	for i := range 6 {
		g := imagegen.NewIDs().Generation(time.Now())
		k := imagegen.ImageKey{Generation: g, Attempt: 1, Image: imagegen.NewImageID(g)}
		all, names.images[k] = append(all, k), i%2 == 0
		is.NoErr(s.PutImage(ctx, k, strings.NewReader("image")))
		k.Image = k.Image.Thumbnail()
		is.NoErr(s.PutImage(ctx, k, strings.NewReader("thumbnail")))
	}
	for _, id := range []imagegen.ReferenceID{"ref_1", "ref_2"} {
		is.NoErr(s.Stage(ctx, id, bytes.NewReader(nil)))
		is.NoErr(s.Keep(ctx, id))
	}
	removed, err := s.RemoveOrphans(ctx, s3.OrphanAge, names)
	is.NoErr(err)
	is.Equal(removed, 0) // all of it is young

	var last string
	removed, err = s.RemoveOrphansFrom(ctx, -time.Hour, names, "references/", func(place string) error {
		last = place
		return nil
	})
	is.NoErr(err)
	is.Equal(removed, 1) // one place further on
	is.True(strings.HasPrefix(last, "references/"))
	removed, err = s.RemoveOrphansFrom(ctx, -time.Hour, names, last, nil)
	is.NoErr(err)
	is.Equal(removed, 0)
	failed := errors.New("the place was not kept")
	removed, err = s.RemoveOrphansFrom(ctx, -time.Hour, names, "", func(string) error { return failed })
	is.True(errors.Is(err, failed))
	is.Equal(removed, 3*2)
	removed, err = s.RemoveOrphans(ctx, -time.Hour, names)
	is.NoErr(err)
	is.Equal(removed, 0)
	other := open(t, config(t, server, "sweep"))
	for i, k := range all {
		for _, id := range []imagegen.ImageID{k.Image, k.Image.Thumbnail()} {
			_, err := other.OpenImage(ctx, imagegen.ImageKey{Generation: k.Generation, Attempt: 1, Image: id})
			is.Equal(errors.Is(err, imagegen.ErrNotFound), i%2 == 1)
		}
	}
	_, err = other.Open(ctx, "ref_1")
	is.NoErr(err)
	_, err = other.Open(ctx, "ref_2")
	is.True(errors.Is(err, imagegen.ErrNotFound))
}

func TestParseURL(t *testing.T) {
	is := is.New(t)
	c, err := s3.ParseURL("s3://bucket/a/b/?endpoint=https://minio.example.com&region=eu-1")
	is.NoErr(err)
	is.Equal(c, s3.Config{Bucket: "bucket", Prefix: "a/b", Endpoint: "https://minio.example.com", PathStyle: true,
		Region: "eu-1"})
	c, err = s3.ParseURL("s3://bucket")
	is.NoErr(err)
	is.Equal(c, s3.Config{Bucket: "bucket"})
	c, err = s3.ParseURL("s3://bucket/../x?endpoint=http://s&path_style=false")
	is.NoErr(err)
	is.Equal(c, s3.Config{Bucket: "bucket", Prefix: "x", Endpoint: "http://s"})
	for bad, says := range map[string]string{
		"bucket":                      "s3://bucket/prefix",
		"s3:///prefix":                "does not name a bucket",
		"https://bucket":              "does not name a bucket",
		"s3://user:secret@bucket":     "AWS_SECRET_ACCESS_KEY",
		"https://user:secret@bucket":  "does not name a bucket",
		"s3://user:secret@bucket\n":   "is not a URL",
		"s3://bucket?endpoint=minio":  "endpoint=https://host",
		"s3://bucket?endpont=minio":   "there is no parameter endpont",
		"s3://bucket?path_style=what": "true or false",
	} {
		_, err := s3.ParseURL(bad)
		is.True(err != nil)
		is.True(strings.Contains(err.Error(), says)) // names what to do
		is.True(!strings.Contains(err.Error(), "secret@"))
	}
}

// Temporary files of a former process are gone, and nothing of a failed put stays.
func TestLocalDirectory(t *testing.T) {
	is := is.New(t)
	server := s3test.Start(t)
	c := config(t, server, "local")
	is.NoErr(os.MkdirAll(filepath.Join(c.Dir, "left", "below"), 0o700))
	s := open(t, c)
	is.NoErr(s.PutImage(t.Context(), key, strings.NewReader("image")))
	broken := errors.New("broken")
	is.True(errors.Is(s.PutImage(t.Context(), key, io.MultiReader(strings.NewReader("half"), failing{broken})), broken))
	is.NoErr(s.Stage(t.Context(), "ref_1", strings.NewReader("first")))
	is.NoErr(s.Stage(t.Context(), "ref_1", strings.NewReader("second")))
	is.NoErr(s.Remove(t.Context(), "ref_1"))
	files, err := os.ReadDir(c.Dir)
	is.NoErr(err)
	is.Equal(fmt.Sprint(files), "[]")
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
