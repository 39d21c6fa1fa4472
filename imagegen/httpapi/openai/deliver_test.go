package openai_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
)

// stub is a Session whose work is done: images of zeros.
type stub struct {
	imagegen.Service
	images   int
	size     int64 // of each image
	length   int64 // that it really has; 0: size
	missing  bool  // the images cannot be opened
	panics   bool  // after a while
	shows    bool  // all images before the end
	late     bool  // they can be opened at the end alone
	deaf     bool  // it answers callers who have gone, too
	asked    imagegen.GenerateRequest
	received []bool
}

func (s *stub) User() imagegen.UserID  { return "usr_1" }
func (s *stub) Payer() imagegen.UserID { return "usr_1" }
func (s *stub) KeyID() imagegen.KeyID  { return "key_1" }
func (s *stub) ReportDelivery(_ imagegen.GenerationID, received bool) {
	s.received = append(s.received, received)
}

func (s *stub) Offers(context.Context) ([]imagegen.ModelInfo, error) {
	return []imagegen.ModelInfo{{ID: "m"}}, nil
}

func (s *stub) StageReference(context.Context, io.Reader, string) (imagegen.Reference, error) {
	return nil, errors.New("nothing is staged")
}

func (s *stub) Generate(ctx context.Context, q imagegen.GenerateRequest) (imagegen.Result, error) {
	if s.asked = q; s.panics {
		time.Sleep(time.Minute)
		panic("a fault")
	}
	g := imagegen.Generation{ID: "gen_1", Status: imagegen.StatusSucceeded, N: s.images}
	for range s.images {
		g.Images = append(g.Images, imagegen.Image{ID: "image_1", Width: 4096, Height: 4096, MediaType: "image/png"})
	}
	if s.shows {
		s.missing = s.late
		q.OnProgress(g)
		s.missing = false
	}
	if s.deaf {
		return imagegen.Result{Generation: g}, nil
	}
	return imagegen.Result{Generation: g}, ctx.Err()
}

func (s *stub) OpenImage(context.Context, imagegen.ImageID) (*imagegen.ImageFile, error) {
	if s.missing {
		return nil, imagegen.ErrNotFound
	}
	length := s.size
	if s.length > 0 {
		length = s.length
	}
	return &imagegen.ImageFile{ReadSeekCloser: zeroFile{io.LimitReader(zeros{}, length)}, Size: s.size}, nil
}

type zeroFile struct{ io.Reader }

func (zeroFile) Seek(int64, int) (int64, error) { return 0, errors.ErrUnsupported }
func (zeroFile) Close() error                   { return nil }

// sink is a peer that takes so many bytes; fewer than none: all.
type sink struct {
	header http.Header
	status int
	most   int64
	bytes  int64
}

func (s *sink) Header() http.Header    { return s.header }
func (s *sink) WriteHeader(status int) { s.status = status }
func (s *sink) FlushError() error      { return nil }
func (s *sink) Write(p []byte) (int, error) {
	if s.most >= 0 && s.bytes+int64(len(p)) > s.most {
		return 0, errors.New("the peer has gone")
	}
	s.bytes += int64(len(p))
	return len(p), nil
}

// ask has a stub answer into a sink. cut: the answer ended early.
func ask(t *testing.T, s *stub, to *sink, more string) (cut bool) {
	t.Helper()
	to.header = http.Header{}
	h := openai.NewHandler(func(context.Context, string) (*stub, error) { return s, nil }, openai.Options{})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, generations,
		strings.NewReader(`{"prompt":"a fox"`+more+`}`))
	r.Header = http.Header{"Authorization": {"Bearer k"}, "Content-Type": {"application/json"}}
	defer func() {
		if p := recover(); p != nil {
			is.New(t).Equal(p, http.ErrAbortHandler)
			cut = true
		}
	}()
	h.ServeHTTP(to, r)
	return false
}

// Four of the largest images pass through little memory.
func TestMemoryIsFlat(t *testing.T) {
	for name, more := range map[string]string{"answer": "", "stream": `,"stream":true`,
		"stream before the end": `,"stream":true`} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			const size = 64 << 20 // a picture of 4096 x 4096 that cannot be compressed
			s, to := &stub{images: 4, size: size, shows: strings.Contains(name, "before")}, &sink{most: -1}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			is.True(!ask(t, s, to, more))
			runtime.ReadMemStats(&after)
			is.True(to.bytes > 4*int64(base64.StdEncoding.EncodedLen(size)))
			is.True(after.TotalAlloc-before.TotalAlloc < 4<<20) // in all, of 341 MiB that were sent
			is.Equal(s.received, []bool{true})
		})
	}
}

// An answer counts as received when its last byte was written, and not before.
func TestAnswersThatDoNotArrive(t *testing.T) {
	for name, c := range map[string]struct {
		stub     stub
		most     int64
		cut      bool
		status   int
		received bool
	}{
		"whole":                  {stub{images: 2, size: 100_000}, -1, false, 200, true},
		"the peer goes at once":  {stub{images: 2, size: 100_000}, 0, true, 200, false},
		"the peer goes midway":   {stub{images: 2, size: 100_000}, 200_000, true, 200, false},
		"the image is cut short": {stub{images: 2, size: 100_000, length: 99_999}, -1, true, 200, false},
		"the image is not there": {stub{images: 2, size: 100_000, missing: true}, -1, false, 404, false},
	} {
		for kind, more := range map[string]string{"answer": "", "stream": `,"stream":true`} {
			t.Run(name+", "+kind, func(t *testing.T) {
				is := is.New(t)
				s, to := c.stub, &sink{most: c.most}
				is.Equal(ask(t, &s, to, more), c.cut)
				is.Equal(to.status, c.status)
				is.Equal(s.received, []bool{c.received})
			})
		}
	}
}

// What is shown before the end and breaks off ends the call, as a caller who hangs up does; what cannot be opened yet
// is sent at the end.
func TestShownImagesThatDoNotArrive(t *testing.T) {
	for name, c := range map[string]struct {
		stub     stub
		most     int64
		cut      bool
		received []bool
	}{
		"whole":                  {stub{images: 2, size: 100_000}, -1, false, []bool{true}},
		"the peer goes midway":   {stub{images: 2, size: 100_000}, 200_000, true, nil},
		"the image is cut short": {stub{images: 2, size: 100_000, length: 99_999}, -1, true, nil},
		"it can be opened late":  {stub{images: 2, size: 100_000, late: true}, -1, false, []bool{true}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s, to := c.stub, &sink{most: c.most}
			s.shows = true
			is.Equal(ask(t, &s, to, `,"stream":true`), c.cut)
			is.Equal(s.received, c.received)
			if !c.cut {
				is.True(to.bytes > 2*133_000 && to.bytes < 3*133_000) // each image once
			}
		})
	}
}

// Equal calls of other users of a caller do not join, whatever the field that tells them apart.
func TestJoining(t *testing.T) {
	is := is.New(t)
	seen := map[string]bool{}
	for _, more := range []string{"", `,"user":"a"`, `,"safety_identifier":"a"`, `,"user":"a","safety_identifier":"a"`,
		`,"user":"b"`} {
		s := &stub{images: 1, size: 1}
		is.True(!ask(t, s, &sink{most: -1}, more))
		is.True(s.asked.Join != nil && !s.asked.Join.Retry)
		seen[s.asked.EndUser+"\x00"+strings.Join(s.asked.Join.MatchValues, "|")] = true
	}
	is.Equal(len(seen), 5)
}
