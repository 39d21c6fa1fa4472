package storagetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Images tests an [imagegen.ImageStore]. open returns an empty one.
func Images(t *testing.T, open func(t *testing.T) imagegen.ImageStore) {
	for name, test := range map[string]func(*images){
		"Put":             testPutImage,
		"PutFails":        testPutImageFails,
		"Seek":            testSeekImage,
		"Remove":          testRemoveImages,
		"RemoveOpen":      testRemoveOpenImage,
		"Race":            testImageRace,
		"EndedContext":    testImageEndedContext,
		"OptionalMethods": func(s *images) { testOptionalMethods(s.t, s.ImageStore) },
	} {
		t.Run(name, func(t *testing.T) {
			promises.Expect(t, "Images/"+name)
			test(&images{open(t), t, is.New(t)})
		})
	}
}

// images is an ImageStore under test.
type images struct {
	imagegen.ImageStore
	t  *testing.T
	is *is.I
}

func imageKey(generation, attempt, n int) imagegen.ImageKey {
	r := imagegen.Record{Intent: imagegen.Intent{ID: generationNo(generation)},
		Progress: imagegen.Progress{Attempt: attempt}}
	return r.ImageKey(imagesOf(r, n+1).Images[n])
}

func (s *images) put(k imagegen.ImageKey, b []byte) {
	s.t.Helper()
	s.is.NoErr(s.PutImage(s.t.Context(), k, bytes.NewReader(b)))
}

func (s *images) has(k imagegen.ImageKey, want []byte) {
	s.t.Helper()
	f, err := s.OpenImage(s.t.Context(), k)
	s.is.NoErr(err)
	got, err := io.ReadAll(f)
	s.is.NoErr(err)
	s.is.True(bytes.Equal(want, got))
	s.is.NoErr(f.Close())
}

func (s *images) lacks(k imagegen.ImageKey) {
	s.t.Helper()
	_, err := s.OpenImage(s.t.Context(), k)
	s.is.True(errors.Is(err, imagegen.ErrNotFound))
}

func testPutImage(s *images) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 100_000)
	s.lacks(imageKey(1, 1, 0))
	s.put(imageKey(1, 1, 0), []byte("one"))
	s.put(imageKey(1, 1, 1), nil)
	s.put(imageKey(1, 2, 2), big)
	s.put(imageKey(2, 1, 0), []byte("another generation"))
	s.has(imageKey(1, 1, 0), []byte("one"))
	s.has(imageKey(1, 1, 1), nil)
	s.has(imageKey(1, 2, 2), big)
	s.has(imageKey(2, 1, 0), []byte("another generation"))
	for _, k := range []imagegen.ImageKey{{}, imageKey(1, 2, 0), imageKey(1, 1, 2), imageKey(3, 1, 0)} {
		s.lacks(k)
	}
}

// When the reader fails its error comes out and nothing stays.
func testPutImageFails(s *images) {
	broken := errors.New("upstream broke off")
	k := imageKey(1, 1, 0)
	for _, sent := range []string{"", "half an image", strings.Repeat("x", 1<<20)} {
		r := io.MultiReader(strings.NewReader(sent), iotest.ErrReader(broken))
		s.is.True(errors.Is(s.PutImage(s.t.Context(), k, r), broken))
		s.lacks(k)
	}
	s.put(k, []byte("whole")) // and the key is still free
	s.has(k, []byte("whole"))
}

func testSeekImage(s *images) {
	k := imageKey(1, 1, 0)
	s.put(k, []byte("0123456789"))
	f, err := s.OpenImage(s.t.Context(), k)
	s.is.NoErr(err)
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	s.is.NoErr(err)
	s.is.Equal(size, int64(10))
	for _, at := range []int64{7, 0, 3} {
		_, err = f.Seek(at, io.SeekStart)
		s.is.NoErr(err)
		rest, err := io.ReadAll(f)
		s.is.NoErr(err)
		s.is.Equal(string(rest), "0123456789"[at:])
	}
}

func testRemoveImages(s *images) {
	for n := range 3 {
		s.put(imageKey(1, 1, n), []byte("first"))
		s.put(imageKey(1, 11, n), []byte("eleventh")) // begins with the digits of the first
	}
	s.put(imageKey(2, 1, 0), []byte("another generation"))
	remove := func(attempt int, keep ...imagegen.ImageID) {
		s.t.Helper()
		s.is.NoErr(s.RemoveImages(s.t.Context(), generationNo(1), attempt, keep...))
	}
	remove(2) // there is none
	remove(1, imageKey(1, 1, 1).Image, "image_unknown")
	s.lacks(imageKey(1, 1, 0))
	s.lacks(imageKey(1, 1, 2))
	s.has(imageKey(1, 1, 1), []byte("first"))
	remove(1)
	remove(1)
	s.lacks(imageKey(1, 1, 1))
	for n := range 3 {
		s.has(imageKey(1, 11, n), []byte("eleventh"))
	}
	s.has(imageKey(2, 1, 0), []byte("another generation"))
}

// An open image is read to its end though it is removed meanwhile.
func testRemoveOpenImage(s *images) {
	k := imageKey(1, 1, 0)
	s.put(k, []byte("bytes"))
	f, err := s.OpenImage(s.t.Context(), k)
	s.is.NoErr(err)
	defer f.Close()
	s.is.NoErr(s.RemoveImages(s.t.Context(), k.Generation, k.Attempt))
	s.lacks(k)
	got, err := io.ReadAll(f)
	s.is.NoErr(err)
	s.is.Equal(string(got), "bytes")
}

func testImageRace(s *images) {
	const callers = 16
	var (
		wg   sync.WaitGroup
		errs [callers]error
	)
	for n := range callers {
		wg.Go(func() {
			k := imageKey(n/4+1, 1, n%4)
			errs[n] = errors.Join(
				s.PutImage(s.t.Context(), k, strings.NewReader("bytes")),
				s.RemoveImages(s.t.Context(), k.Generation, 2),
				readImage(s.t.Context(), s, k))
		})
	}
	wg.Wait()
	for n := range callers {
		s.is.NoErr(errs[n])
		s.has(imageKey(n/4+1, 1, n%4), []byte("bytes"))
	}
}

func readImage(ctx context.Context, s imagegen.ImageStore, k imagegen.ImageKey) error {
	f, err := s.OpenImage(ctx, k)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, f)
	return errors.Join(err, f.Close())
}

func testImageEndedContext(s *images) {
	ctx, cancel := context.WithCancel(s.t.Context())
	cancel()
	k := imageKey(1, 1, 0)
	s.is.True(s.PutImage(ctx, k, strings.NewReader("bytes")) != nil)
	s.lacks(k)
}
