package httpapi_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// A refusal of net/http is an error like any other, with nothing of the image.
func TestImageRefused(t *testing.T) {
	var log journal
	s := serve(t, httpapi.Options{Log: log.logger()})
	g := s.accepted(s.post(fox("")), http.StatusOK)
	path := s.path(g.Images[0].URL)
	size := len(s.do("GET", path, "").body)
	for _, c := range []struct {
		header, value string
		status        int
		code          imagegen.Code
		contentRange  string
	}{
		{"Range", "bytes=999999-", http.StatusRequestedRangeNotSatisfiable, "rangeNotSatisfiable",
			fmt.Sprintf("bytes */%d", size)},
		{"Range", "bytes=3-1", http.StatusRequestedRangeNotSatisfiable, "rangeNotSatisfiable", ""},
		{"If-Match", `"other"`, http.StatusPreconditionFailed, "preconditionFailed", ""},
		{"If-Unmodified-Since", "Mon, 02 Jan 2006 15:04:05 GMT", http.StatusPreconditionFailed, "preconditionFailed",
			""},
	} {
		a := s.do("GET", path, "", c.header, c.value)
		message := s.refused(a, c.status, c.code)
		s.is.True(strings.Contains(message, c.header))
		s.is.Equal(a.Header.Get("Content-Length"), fmt.Sprint(len(a.body)))
		s.is.Equal(a.Header.Get("Content-Range"), c.contentRange)
		for _, name := range []string{"ETag", "Last-Modified", "Accept-Ranges", "Content-Disposition",
			"Content-Security-Policy", "Referrer-Policy"} {
			s.is.Equal(a.Header.Get(name), "")
		}
		head := s.do("HEAD", path, "", c.header, c.value)
		s.is.Equal(head.StatusCode, c.status)
		s.is.Equal(head.ContentLength, int64(len(a.body)))
	}
	s.server.Close()
	s.is.True(strings.Contains(log.String(), `"error":"rangeNotSatisfiable: `))
}

// unseekable is a storage whose images can be read, but not from anywhere.
type unseekable struct{ imagegen.ImageStore }

func (u unseekable) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	f, err := u.ImageStore.OpenImage(ctx, k)
	return fixed{f}, err
}

type fixed struct{ io.ReadSeekCloser }

func (fixed) Seek(int64, int) (int64, error) { return 0, errors.ErrUnsupported }

func TestImageThatCannotBeServed(t *testing.T) {
	s := serve(t, httpapi.Options{}, func(c *engine.Config) { c.Images = unseekable{c.Store.(imagegen.ImageStore)} })
	g := s.accepted(s.post(fox("")), http.StatusOK)
	s.refused(s.do("GET", s.path(g.Images[0].URL), ""), http.StatusInternalServerError, imagegen.CodeInternal)
}

// away is an image store that does not answer.
type away struct{ imagegen.ImageStore }

func (away) OpenImage(context.Context, imagegen.ImageKey) (io.ReadSeekCloser, error) {
	return nil, imagegen.ErrNotApplied
}

// While the image store is away, a caller who reads an image is asked to try again.
func TestImageStoreIsAway(t *testing.T) {
	s := serve(t, httpapi.Options{}, func(c *engine.Config) { c.Images = away{c.Store.(imagegen.ImageStore)} })
	g := s.accepted(s.post(fox("")), http.StatusOK)
	s.refused(s.do("GET", s.path(g.Images[0].URL), ""), http.StatusServiceUnavailable, imagegen.CodeOverloaded)
}

// Images larger than what is sent at a time arrive whole, as do parts of them.
func TestLargeImage(t *testing.T) {
	large := picture(1024, 1024)
	end := len(large) - len("\x00\x00\x00\x00IEND\xae\x42\x60\x82")
	for range 4 { // chunks that no reader has to know
		chunk := "teXt" + strings.Repeat("0123456789abcdef", 1<<14)
		large = large[:end] + string(binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4))) + chunk +
			string(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(chunk)))) + large[end:]
	}
	var log journal
	s := serve(t, httpapi.Options{Log: log.logger()}, withProvider(&provider.Fake{Image: []byte(large)}))
	path := s.path(s.accepted(s.post(`{"model":"fake-1","prompt":"a fox"}`), http.StatusOK).Images[0].URL)
	s.is.True(s.do("GET", path, "").body == large)
	s.is.True(s.do("GET", path, "", "Range", "bytes=300000-900000").body == large[300000:900001])
	s.server.Close()
	s.is.True(strings.Contains(log.String(), fmt.Sprintf(`"bytes":%d,`, len(large))))
	s.is.True(strings.Contains(log.String(), `"bytes":600001,`))
}
