package httpapi_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

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
	s.is.Equal(s.do("GET", path, "", "Range", "bytes=999999-").StatusCode, http.StatusRequestedRangeNotSatisfiable)
	s.is.Equal(s.do("GET", path, "", "Range", "bytes=1-3", "If-Range", `"other"`).StatusCode, http.StatusOK)
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
	large := picture(1024, 1024) + strings.Repeat("0123456789abcdef", 1<<16)
	var log journal
	s := serve(t, httpapi.Options{Log: log.logger()}, withProvider(&provider.Fake{Image: []byte(large)}))
	path := s.path(s.accepted(s.post(`{"model":"fake-1","prompt":"a fox"}`), http.StatusOK).Images[0].URL)
	s.is.True(s.do("GET", path, "").body == large)
	s.is.True(s.do("GET", path, "", "Range", "bytes=300000-900000").body == large[300000:900001])
	s.server.Close()
	s.is.True(strings.Contains(log.String(), fmt.Sprintf(`"bytes":%d,`, len(large))))
	s.is.True(strings.Contains(log.String(), `"bytes":600001,`))
}
