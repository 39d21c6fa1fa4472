package httpapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen/engine"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
)

func TestImage(t *testing.T) {
	s := serve(t, httpapi.Options{})
	g := s.accepted(s.post(fox("")), http.StatusOK)
	path := s.path(g.Images[0].URL)
	s.is.Equal(path, "/images/"+g.Images[0].ID)
	a := s.do("GET", path+"?v=1", "", "Authorization", "-")
	s.is.Equal(a.StatusCode, http.StatusOK)
	etag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(a.body)))
	for name, want := range map[string]string{
		"Content-Type":            "image/png",
		"Content-Length":          fmt.Sprint(len(a.body)),
		"Content-Disposition":     `inline; filename="` + g.Images[0].ID + `.png"`,
		"ETag":                    etag,
		"Cache-Control":           "public, max-age=31536000, immutable",
		"Accept-Ranges":           "bytes",
		"X-Content-Type-Options":  "nosniff",
		"Content-Security-Policy": "default-src 'none'; sandbox",
		"Referrer-Policy":         "no-referrer",
	} {
		s.is.Equal(a.Header.Get(name), want)
	}
	s.is.True(strings.HasPrefix(a.body, "\x89PNG"))

	s.is.Equal(s.do("GET", path, "", "If-None-Match", etag).StatusCode, http.StatusNotModified)
	part := s.do("GET", path, "", "Range", "bytes=1-3")
	s.is.Equal(part.StatusCode, http.StatusPartialContent)
	s.is.Equal(part.body, "PNG")
	s.is.Equal(s.do("GET", path, "", "Range", "bytes=1-3", "If-Range", `"other"`).StatusCode, http.StatusOK)
	s.is.Equal(s.do("GET", path, "", "Range", "lines=1-3").body, a.body) // a unit that counts for nothing
	few, many := s.do("GET", path, "", "Range", "bytes=0-0"+strings.Repeat(",1-1", 15)), s.do("GET", path, "", "Range", "bytes=0-0"+strings.Repeat(",1-1", 16))
	s.is.Equal(few.StatusCode, http.StatusPartialContent)
	s.is.Equal(many.StatusCode, http.StatusOK) // as much work as the whole, and more
	s.is.Equal(many.body, a.body)
}

// What net/http refuses of an image is an error like any other, with nothing left of the image.
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
		{"Range", "bytes=999999-", http.StatusRequestedRangeNotSatisfiable, "rangeNotSatisfiable", fmt.Sprintf("bytes */%d", size)},
		{"Range", "bytes=3-1", http.StatusRequestedRangeNotSatisfiable, "rangeNotSatisfiable", ""},
		{"If-Match", `"other"`, http.StatusPreconditionFailed, "preconditionFailed", ""},
		{"If-Unmodified-Since", "Mon, 02 Jan 2006 15:04:05 GMT", http.StatusPreconditionFailed, "preconditionFailed", ""},
	} {
		a := s.do("GET", path, "", c.header, c.value)
		message := s.refused(a, c.status, c.code)
		s.is.True(strings.Contains(message, c.header))
		s.is.Equal(a.Header.Get("Content-Length"), fmt.Sprint(len(a.body)))
		s.is.Equal(a.Header.Get("Content-Range"), c.contentRange)
		for _, name := range []string{"ETag", "Last-Modified", "Accept-Ranges", "Content-Disposition", "Content-Security-Policy", "Referrer-Policy"} {
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

func TestUnknownImage(t *testing.T) {
	s := serve(t, httpapi.Options{})
	known := s.path(s.accepted(s.post(fox("")), http.StatusOK).Images[0].URL)
	queued := s.accepted(s.post(`{"model":"fake-1","prompt":"[fake:hang]","async":true}`), http.StatusAccepted).ID
	for _, path := range []string{"/images/x", known[:len(known)-1], known + "A", strings.ToLower(known), "/images/..", "/images/%2e%2e%2fetc",
		"/images/" + strings.Replace(queued, "gen_", "image_", 1) + strings.Repeat("A", 26)} {
		a := s.do("GET", path, "")
		s.refused(a, http.StatusNotFound, imagegen.CodeNotFound)
		s.is.Equal(a.Header.Get("Content-Security-Policy"), "") // of images only
	}
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
